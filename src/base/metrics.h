#pragma once

// Counters, gauges and histograms, and their text exposition (Prometheus text format 0.0.4 as
// Kubernetes components print it: HELP opens with the stability level).
//
// A Registry is owned by whoever composes the program and passed down; there is no global one.
// Recording is lock-free: each thread adds to its own shard with relaxed atomics. Looking up a
// label set takes a lock, so callers resolve handles once and keep the reference, which stays
// valid as long as the registry. Thread-safe throughout.

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace keelson::metrics {

enum class Stability : uint8_t { kNone, kInternal, kAlpha, kBeta, kStable };

namespace internal {
inline constexpr size_t kShards = 16;
// A small number that differs between the first kShards threads.
size_t ThreadShard();
}  // namespace internal

class Counter {
 public:
  using Options = std::monostate;
  explicit Counter(const Options& = {}) {}
  void Add(uint64_t by = 1) {
    cells_[internal::ThreadShard() % kCells].value.fetch_add(by, std::memory_order_relaxed);
  }
  uint64_t Value() const;
  void Reset();

 private:
  static constexpr size_t kCells = 4;
  struct alignas(64) Cell {
    std::atomic<uint64_t> value{0};
  };
  std::array<Cell, kCells> cells_;
};

class Gauge {
 public:
  using Options = std::monostate;
  explicit Gauge(const Options& = {}) {}
  void Set(double value) { value_.store(value, std::memory_order_relaxed); }
  void Add(double by) { value_.fetch_add(by, std::memory_order_relaxed); }
  double Value() const { return value_.load(std::memory_order_relaxed); }
  void Reset() { Set(0); }

 private:
  std::atomic<double> value_{0};
};

class Histogram {
 public:
  using Options = std::vector<double>;  // upper bounds, ascending, without +Inf
  explicit Histogram(const Options& bounds);
  ~Histogram();
  void Observe(double value);
  uint64_t Count() const;
  double Sum() const;
  // Observations at or below each bound, then all of them.
  std::vector<uint64_t> Cumulative() const;
  std::span<const double> bounds() const { return bounds_; }
  void Reset();

 private:
  struct Shard;
  Shard& OwnShard();

  const std::vector<double> bounds_;
  // Made when a thread first observes, so an idle label set costs no buckets.
  std::array<std::atomic<Shard*>, internal::kShards> shards_{};
};

std::vector<double> ExponentialBuckets(double start, double factor, int count);

struct Description {
  std::string name;
  std::string help;
  Stability stability = Stability::kAlpha;
  std::vector<std::string> labels;
};

// One named metric with all its label sets.
class Family {
 public:
  explicit Family(Description description) : description_(std::move(description)) {}
  virtual ~Family() = default;
  const Description& description() const { return description_; }
  virtual void AppendText(std::string& out) const = 0;
  virtual void Reset() = 0;

 protected:
  const Description description_;
};

template <typename T>
class Vector final : public Family {
 public:
  Vector(Description description, typename T::Options options)
      : Family(std::move(description)), options_(std::move(options)) {}

  // The metric for these label values, made at first use. One value per declared label, in order.
  T& With(std::span<const std::string_view> values);
  T& With(std::initializer_list<std::string_view> values) {
    return With(std::span(values.begin(), values.size()));
  }

  void AppendText(std::string& out) const override;
  // Zeroes every label set; handles stay valid.
  void Reset() override;

 private:
  const typename T::Options options_;
  mutable std::shared_mutex mutex_;
  std::map<std::vector<std::string>, std::unique_ptr<T>, std::less<>> children_;
};

class Registry {
 public:
  Registry() = default;
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  // A name registered before gives the same metric; its kind and labels must match.
  Vector<Counter>& CounterVector(Description description);
  Vector<Gauge>& GaugeVector(Description description);
  Vector<Histogram>& HistogramVector(Description description, std::vector<double> bounds);
  Counter& NewCounter(Description description) {
    return CounterVector(std::move(description)).With({});
  }
  Gauge& NewGauge(Description description) { return GaugeVector(std::move(description)).With({}); }
  Histogram& NewHistogram(Description description, std::vector<double> bounds) {
    return HistogramVector(std::move(description), std::move(bounds)).With({});
  }
  // A value computed when it is asked for. `callback` is called from any thread.
  void CallbackGauge(Description description, std::function<double()> callback);
  void CallbackCounter(Description description, std::function<double()> callback);
  // The same for a set of label values that is known only then.
  struct Sample {
    std::vector<std::string> labels;
    double value = 0;
  };
  using Samples = std::function<std::vector<Sample>()>;
  void CallbackGauges(Description description, Samples callback);
  void CallbackCounters(Description description, Samples callback);

  // Every metric in order of name.
  std::string Text() const;
  void Reset();

 private:
  template <typename F, typename... Args>
  F& FindOrAdd(Description description, Args&&... args);

  mutable std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Family>, std::less<>> families_;
};

// The usual process_* metrics (CPU, memory, descriptors, start time).
void RegisterProcessMetrics(Registry& registry);

// A number as Go's %g with the shortest digits: 1e+06, 0.005, +Inf.
std::string FormatValue(double value);

}  // namespace keelson::metrics
