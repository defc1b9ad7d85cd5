#include "base/metrics.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "base/result.h"

namespace keelson::metrics {
namespace {

std::string_view StabilityPrefix(Stability stability) {
  switch (stability) {
    case Stability::kNone:
      return "";
    case Stability::kInternal:
      return "[INTERNAL] ";
    case Stability::kAlpha:
      return "[ALPHA] ";
    case Stability::kBeta:
      return "[BETA] ";
    case Stability::kStable:
      return "[STABLE] ";
  }
  return "";
}

void AppendEscaped(std::string& out, std::string_view text, bool quotes) {
  for (char c : text) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '"' && quotes) {
      out += "\\\"";
    } else {
      out += c;
    }
  }
}

void AppendHeader(std::string& out, const Description& description, std::string_view type) {
  out += "# HELP ";
  out += description.name;
  out += ' ';
  out += StabilityPrefix(description.stability);
  AppendEscaped(out, description.help, false);
  out += "\n# TYPE ";
  out += description.name;
  out += ' ';
  out += type;
  out += '\n';
}

// `{a="1",b="2"}` sorted by label name as the format's writers do; `extra` is appended last.
std::string LabelText(const std::vector<std::string>& names, const std::vector<std::string>& values,
                      std::string_view extra) {
  std::map<std::string_view, std::string_view> sorted;
  for (size_t i = 0; i < names.size(); ++i) sorted.emplace(names[i], values[i]);
  std::string out;
  for (const auto& [name, value] : sorted) {
    out += out.empty() ? '{' : ',';
    out += name;
    out += "=\"";
    AppendEscaped(out, value, true);
    out += '"';
  }
  if (!extra.empty()) {
    out += out.empty() ? '{' : ',';
    out += extra;
  }
  if (!out.empty()) out += '}';
  return out;
}

void AppendSample(std::string& out, std::string_view name, std::string_view suffix,
                  std::string_view labels, std::string_view value) {
  out += name;
  out += suffix;
  out += labels;
  out += ' ';
  out += value;
  out += '\n';
}

std::string_view TypeName(const Counter*) { return "counter"; }
std::string_view TypeName(const Gauge*) { return "gauge"; }
std::string_view TypeName(const Histogram*) { return "histogram"; }

void AppendChild(std::string& out, const Description& description,
                 const std::vector<std::string>& values, const Counter& counter) {
  AppendSample(out, description.name, "", LabelText(description.labels, values, ""),
               FormatValue(static_cast<double>(counter.Value())));
}

void AppendChild(std::string& out, const Description& description,
                 const std::vector<std::string>& values, const Gauge& gauge) {
  AppendSample(out, description.name, "", LabelText(description.labels, values, ""),
               FormatValue(gauge.Value()));
}

void AppendChild(std::string& out, const Description& description,
                 const std::vector<std::string>& values, const Histogram& histogram) {
  auto cumulative = histogram.Cumulative();
  auto bounds = histogram.bounds();
  for (size_t i = 0; i < cumulative.size(); ++i) {
    std::string le = "le=\"";
    le += i < bounds.size() ? FormatValue(bounds[i]) : "+Inf";
    le += '"';
    AppendSample(out, description.name, "_bucket", LabelText(description.labels, values, le),
                 FormatValue(static_cast<double>(cumulative[i])));
  }
  auto labels = LabelText(description.labels, values, "");
  AppendSample(out, description.name, "_sum", labels, FormatValue(histogram.Sum()));
  AppendSample(out, description.name, "_count", labels,
               FormatValue(static_cast<double>(cumulative.back())));
}

class Callback final : public Family {
 public:
  Callback(Description description, std::string_view type, Registry::Samples callback)
      : Family(std::move(description)), type_(type), callback_(std::move(callback)) {}
  void AppendText(std::string& out) const override {
    auto samples = callback_();
    if (samples.empty()) return;
    AppendHeader(out, description_, type_);
    for (const auto& sample : samples) {
      AppendSample(out, description_.name, "", LabelText(description_.labels, sample.labels, ""),
                   FormatValue(sample.value));
    }
  }
  void Reset() override {}

 private:
  std::string_view type_;
  Registry::Samples callback_;
};

Registry::Samples OneSample(std::function<double()> callback) {
  return [callback = std::move(callback)] {
    return std::vector<Registry::Sample>{{.labels = {}, .value = callback()}};
  };
}

}  // namespace

namespace internal {

size_t ThreadShard() {
  static std::atomic<size_t> next{0};
  thread_local const size_t shard = next.fetch_add(1, std::memory_order_relaxed) % kShards;
  return shard;
}

}  // namespace internal

uint64_t Counter::Value() const {
  uint64_t total = 0;
  for (const auto& cell : cells_) total += cell.value.load(std::memory_order_relaxed);
  return total;
}

void Counter::Reset() {
  for (auto& cell : cells_) cell.value.store(0, std::memory_order_relaxed);
}

struct alignas(64) Histogram::Shard {
  explicit Shard(size_t size) : buckets(size) {}
  std::atomic<double> sum{0};
  std::vector<std::atomic<uint64_t>> buckets;
};

Histogram::Histogram(const Options& bounds) : bounds_(bounds) {}

Histogram::~Histogram() {
  for (auto& shard : shards_) delete shard.load();
}

Histogram::Shard& Histogram::OwnShard() {
  auto& slot = shards_[internal::ThreadShard()];
  Shard* shard = slot.load(std::memory_order_acquire);
  if (shard != nullptr) [[likely]]
    return *shard;
  auto fresh = std::make_unique<Shard>(bounds_.size() + 1);
  if (slot.compare_exchange_strong(shard, fresh.get(), std::memory_order_acq_rel)) {
    return *fresh.release();
  }
  return *shard;  // another thread of the same number was faster
}

void Histogram::Observe(double value) {
  auto& shard = OwnShard();
  // Most values fall into the first buckets: a forward scan beats a binary search.
  size_t index = 0;
  while (index < bounds_.size() && !(value <= bounds_[index])) ++index;
  shard.buckets[index].fetch_add(1, std::memory_order_relaxed);
  shard.sum.fetch_add(value, std::memory_order_relaxed);
}

std::vector<uint64_t> Histogram::Cumulative() const {
  std::vector<uint64_t> counts(bounds_.size() + 1);
  for (const auto& slot : shards_) {
    const Shard* shard = slot.load(std::memory_order_acquire);
    if (shard == nullptr) continue;
    for (size_t i = 0; i < counts.size(); ++i) {
      counts[i] += shard->buckets[i].load(std::memory_order_relaxed);
    }
  }
  for (size_t i = 1; i < counts.size(); ++i) counts[i] += counts[i - 1];
  return counts;
}

uint64_t Histogram::Count() const { return Cumulative().back(); }

double Histogram::Sum() const {
  double sum = 0;
  for (const auto& slot : shards_) {
    if (const Shard* shard = slot.load(std::memory_order_acquire)) {
      sum += shard->sum.load(std::memory_order_relaxed);
    }
  }
  return sum;
}

void Histogram::Reset() {
  for (auto& slot : shards_) {
    Shard* shard = slot.load(std::memory_order_acquire);
    if (shard == nullptr) continue;
    for (auto& bucket : shard->buckets) bucket.store(0, std::memory_order_relaxed);
    shard->sum.store(0, std::memory_order_relaxed);
  }
}

std::vector<double> ExponentialBuckets(double start, double factor, int count) {
  std::vector<double> bounds;
  for (int i = 0; i < count; ++i, start *= factor) bounds.push_back(start);
  return bounds;
}

template <typename T>
T& Vector<T>::With(std::span<const std::string_view> values) {
  KEELSON_CHECK(values.size() == description_.labels.size());
  std::vector<std::string> key(values.begin(), values.end());
  {
    std::shared_lock lock(mutex_);
    if (auto found = children_.find(key); found != children_.end()) return *found->second;
  }
  std::unique_lock lock(mutex_);
  auto& child = children_[std::move(key)];
  if (!child) child = std::make_unique<T>(options_);
  return *child;
}

template <typename T>
void Vector<T>::AppendText(std::string& out) const {
  std::shared_lock lock(mutex_);
  if (children_.empty()) return;
  AppendHeader(out, description_, TypeName(static_cast<const T*>(nullptr)));
  for (const auto& [values, child] : children_) AppendChild(out, description_, values, *child);
}

template <typename T>
void Vector<T>::Reset() {
  std::shared_lock lock(mutex_);
  for (auto& [values, child] : children_) child->Reset();
}

template class Vector<Counter>;
template class Vector<Gauge>;
template class Vector<Histogram>;

template <typename F, typename... Args>
F& Registry::FindOrAdd(Description description, Args&&... args) {
  std::lock_guard lock(mutex_);
  auto& family = families_[description.name];
  if (!family) {
    family = std::make_unique<F>(std::move(description), std::forward<Args>(args)...);
  } else {
    KEELSON_CHECK(dynamic_cast<F*>(family.get()) != nullptr);
    KEELSON_CHECK(family->description().labels == description.labels);
  }
  return static_cast<F&>(*family);
}

Vector<Counter>& Registry::CounterVector(Description description) {
  return FindOrAdd<Vector<Counter>>(std::move(description), Counter::Options{});
}

Vector<Gauge>& Registry::GaugeVector(Description description) {
  return FindOrAdd<Vector<Gauge>>(std::move(description), Gauge::Options{});
}

Vector<Histogram>& Registry::HistogramVector(Description description, std::vector<double> bounds) {
  return FindOrAdd<Vector<Histogram>>(std::move(description), std::move(bounds));
}

void Registry::CallbackGauge(Description description, std::function<double()> callback) {
  FindOrAdd<Callback>(std::move(description), "gauge", OneSample(std::move(callback)));
}

void Registry::CallbackCounter(Description description, std::function<double()> callback) {
  FindOrAdd<Callback>(std::move(description), "counter", OneSample(std::move(callback)));
}

void Registry::CallbackGauges(Description description, Samples callback) {
  FindOrAdd<Callback>(std::move(description), "gauge", std::move(callback));
}

void Registry::CallbackCounters(Description description, Samples callback) {
  FindOrAdd<Callback>(std::move(description), "counter", std::move(callback));
}

std::string Registry::Text() const {
  std::string out;
  std::lock_guard lock(mutex_);
  for (const auto& [name, family] : families_) family->AppendText(out);
  return out;
}

void Registry::Reset() {
  std::lock_guard lock(mutex_);
  for (auto& [name, family] : families_) family->Reset();
}

std::string FormatValue(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  if (value == 0) return std::signbit(value) ? "-0" : "0";
  // Go's shortest %g: the exponent form below 1e-4 and from 1e6 up.
  char buffer[64];
  auto* end =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
  std::string_view text(buffer, static_cast<size_t>(end - buffer));
  auto exponent_text = text.substr(text.find('e') + 1);
  if (exponent_text[0] == '+') exponent_text.remove_prefix(1);
  int exponent = 0;
  std::from_chars(exponent_text.data(), exponent_text.data() + exponent_text.size(), exponent);
  if (exponent >= -4 && exponent < 6) {
    end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed).ptr;
    return std::string(buffer, end);
  }
  return std::string(text);
}

}  // namespace keelson::metrics
