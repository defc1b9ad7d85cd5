#include "profile/encode.h"

#include <libdeflate.h>

#include <algorithm>
#include <memory>

#include "base/result.h"

namespace keelson::profile {
namespace {

// Field numbers of profile.proto.
enum ProfileField { kSampleType = 1, kSample, kMapping, kLocation, kFunction, kStringTable };
enum { kTimeNanos = 9, kDurationNanos, kPeriodType, kPeriod, kDefaultSampleType = 14 };

void AppendVarint(std::string& out, uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

void AppendNumber(std::string& out, int field, uint64_t value) {
  if (value == 0) return;  // the default
  AppendVarint(out, static_cast<uint64_t>(field) << 3);
  AppendVarint(out, value);
}

void AppendBytes(std::string& out, int field, std::string_view bytes) {
  AppendVarint(out, static_cast<uint64_t>(field) << 3 | 2);
  AppendVarint(out, bytes.size());
  out.append(bytes);
}

std::string Gzip(std::string_view bytes) {
  constexpr int kLevel = 6;
  std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)> compressor(
      libdeflate_alloc_compressor(kLevel), libdeflate_free_compressor);
  KEELSON_CHECK(compressor != nullptr);
  std::string out(libdeflate_gzip_compress_bound(compressor.get(), bytes.size()), '\0');
  out.resize(libdeflate_gzip_compress(compressor.get(), bytes.data(), bytes.size(), out.data(),
                                      out.size()));
  return out;
}

}  // namespace

Encoder::Encoder(std::vector<ValueType> sample_types) {
  String("");  // index 0 is the empty string by definition
  for (const auto& type : sample_types) AppendBytes(out_, kSampleType, Type(type));
}

uint64_t Encoder::String(std::string_view text) {
  auto found = strings_.find(text);
  if (found != strings_.end()) return found->second;
  uint64_t index = string_order_.size();
  strings_.emplace(text, index);
  string_order_.emplace_back(text);
  return index;
}

uint64_t Encoder::Location(uintptr_t address) {
  return locations_.try_emplace(address, locations_.size() + 1).first->second;
}

std::string Encoder::Type(ValueType type) {
  std::string out;
  AppendNumber(out, 1, String(type.type));
  AppendNumber(out, 2, String(type.unit));
  return out;
}

void Encoder::AddSample(std::span<const uintptr_t> stack, bool leaf_is_exact,
                        std::span<const int64_t> values, int64_t block_bytes) {
  std::string locations, numbers, sample;
  for (size_t i = 0; i < stack.size(); ++i) {
    // A return address is one past the call; the call is what the line belongs to.
    AppendVarint(locations, Location(i == 0 && leaf_is_exact ? stack[i] : stack[i] - 1));
  }
  for (int64_t value : values) AppendVarint(numbers, static_cast<uint64_t>(value));
  AppendBytes(sample, 1, locations);
  AppendBytes(sample, 2, numbers);
  if (block_bytes > 0) {
    std::string label;
    AppendNumber(label, 1, String("bytes"));
    AppendNumber(label, 3, static_cast<uint64_t>(block_bytes));
    AppendBytes(sample, 3, label);
  }
  AppendBytes(out_, kSample, sample);
}

void Encoder::SetPeriod(ValueType type, int64_t period) {
  AppendBytes(out_, kPeriodType, Type(type));
  AppendNumber(out_, kPeriod, static_cast<uint64_t>(period));
}

void Encoder::SetTimes(int64_t start_nanoseconds, int64_t duration_nanoseconds) {
  AppendNumber(out_, kTimeNanos, static_cast<uint64_t>(start_nanoseconds));
  AppendNumber(out_, kDurationNanos, static_cast<uint64_t>(duration_nanoseconds));
}

void Encoder::SetDefaultSampleType(std::string_view type) {
  AppendNumber(out_, kDefaultSampleType, String(type));
}

void Encoder::WriteLocations(const AddressSpace& space) {
  std::map<std::string, uint64_t> functions;
  std::vector<bool> used(space.mappings().size());
  for (auto [address, id] : locations_) {
    std::string location;
    AppendNumber(location, 1, id);
    if (auto mapping = space.MappingOf(address)) {
      used[*mapping] = true;
      AppendNumber(location, 2, *mapping + 1);
    }
    AppendNumber(location, 3, address);
    auto name = space.FunctionAt(address);
    auto [function, fresh] = functions.try_emplace(name.mangled, functions.size() + 1);
    std::string line;
    AppendNumber(line, 1, function->second);
    AppendBytes(location, 4, line);
    AppendBytes(out_, kLocation, location);
    if (!fresh) continue;
    std::string entry;
    AppendNumber(entry, 1, function->second);
    AppendNumber(entry, 2, String(name.readable));
    AppendNumber(entry, 3, String(name.mangled));
    AppendBytes(out_, kFunction, entry);
  }
  for (size_t i = 0; i < used.size(); ++i) {
    if (!used[i] && i != 0) continue;  // the first is the program itself
    const auto& mapping = space.mappings()[i];
    std::string entry;
    AppendNumber(entry, 1, i + 1);
    AppendNumber(entry, 2, mapping.start);
    AppendNumber(entry, 3, mapping.limit);
    AppendNumber(entry, 4, mapping.offset);
    AppendNumber(entry, 5, String(mapping.file));
    AppendNumber(entry, 6, String(mapping.build_id));
    AppendNumber(entry, 7, 1);  // has_functions: nothing left to look up
    AppendBytes(out_, kMapping, entry);
  }
}

std::string Encoder::Finish(const AddressSpace& space) {
  WriteLocations(space);
  for (const auto& text : string_order_) AppendBytes(out_, kStringTable, text);
  return Gzip(out_);
}

}  // namespace keelson::profile
