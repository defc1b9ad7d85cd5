#include "profile/testing/pprof_reader.h"

#include <libdeflate.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include "base/gate.h"

namespace keelson::profile {
namespace {

struct Field {
  uint64_t number;
  uint64_t value = 0;
  std::string_view bytes;
};

uint64_t Varint(std::string_view& in) {
  uint64_t value = 0;
  for (int shift = 0;; shift += 7) {
    KEELSON_CHECK(!in.empty() && shift < 64);
    auto byte = static_cast<uint8_t>(in.front());
    in.remove_prefix(1);
    value |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return value;
  }
}

std::vector<Field> Fields(std::string_view in) {
  std::vector<Field> fields;
  while (!in.empty()) {
    uint64_t tag = Varint(in);
    Field field{tag >> 3};
    if ((tag & 7) == 0) {
      field.value = Varint(in);
    } else {
      KEELSON_CHECK((tag & 7) == 2);
      uint64_t size = Varint(in);
      KEELSON_CHECK(size <= in.size());
      field.bytes = in.substr(0, size);
      in.remove_prefix(size);
    }
    fields.push_back(field);
  }
  return fields;
}

std::vector<uint64_t> Packed(std::string_view in) {
  std::vector<uint64_t> out;
  while (!in.empty()) out.push_back(Varint(in));
  return out;
}

uint64_t Get(std::string_view message, uint64_t number) {
  for (const auto& field : Fields(message)) {
    if (field.number == number) return field.value;
  }
  return 0;
}

std::string Gunzip(std::string_view gzipped) {
  std::unique_ptr<libdeflate_decompressor, decltype(&libdeflate_free_decompressor)> inflater(
      libdeflate_alloc_decompressor(), libdeflate_free_decompressor);
  std::string out(64 << 20, '\0');
  size_t size = 0;
  KEELSON_CHECK(libdeflate_gzip_decompress(inflater.get(), gzipped.data(), gzipped.size(),
                                           out.data(), out.size(), &size) == LIBDEFLATE_SUCCESS);
  out.resize(size);
  return out;
}

}  // namespace

int64_t ReadProfile::Total(size_t index, std::string_view name) const {
  int64_t total = 0;
  for (const auto& sample : samples) {
    bool matches = std::ranges::any_of(
        sample.stack, [&](const auto& f) { return f.find(name) != std::string::npos; });
    if (matches || name.empty()) total += sample.values.at(index);
  }
  return total;
}

ReadProfile ReadPprof(std::string_view gzipped) {
  const std::string text = Gunzip(gzipped);
  const auto fields = Fields(text);
  std::vector<std::string> strings;
  for (const auto& field : fields) {
    if (field.number == 6) strings.emplace_back(field.bytes);
  }
  auto type = [&](std::string_view message) {
    return strings.at(Get(message, 1)) + "/" + strings.at(Get(message, 2));
  };
  std::map<uint64_t, std::string> functions, locations;
  ReadProfile out;
  for (const auto& field : fields) {
    if (field.number == 5) functions[Get(field.bytes, 1)] = strings.at(Get(field.bytes, 2));
    if (field.number == 1) out.sample_types.push_back(type(field.bytes));
    if (field.number == 11) out.period_type = type(field.bytes);
    if (field.number == 12) out.period = static_cast<int64_t>(field.value);
    if (field.number == 9) out.time_nanos = static_cast<int64_t>(field.value);
    if (field.number == 10) out.duration_nanos = static_cast<int64_t>(field.value);
    if (field.number == 14) out.default_sample_type = strings.at(field.value);
    if (field.number == 3) {
      out.mappings.push_back({strings.at(Get(field.bytes, 5)), strings.at(Get(field.bytes, 6))});
    }
  }
  for (const auto& field : fields) {
    if (field.number != 4) continue;
    for (const auto& part : Fields(field.bytes)) {
      if (part.number == 4) locations[Get(field.bytes, 1)] = functions.at(Get(part.bytes, 1));
    }
  }
  for (const auto& field : fields) {
    if (field.number != 2) continue;
    ReadSample sample;
    for (const auto& part : Fields(field.bytes)) {
      if (part.number == 3) sample.bytes_label = static_cast<int64_t>(Get(part.bytes, 3));
      for (uint64_t value : part.number < 3 ? Packed(part.bytes) : std::vector<uint64_t>{}) {
        if (part.number == 1) sample.stack.push_back(locations.at(value));
        if (part.number == 2) sample.values.push_back(static_cast<int64_t>(value));
      }
    }
    out.samples.push_back(std::move(sample));
  }
  return out;
}

namespace {
Task<void> Keep(Task<Result<std::string>> task, std::optional<Result<std::string>>& out) {
  out = co_await std::move(task);
}
}  // namespace

Result<std::string> Await(Task<Result<std::string>> task) {
  std::optional<Result<std::string>> out;
  Gate gate;
  gate.Spawn(nullptr, Keep(std::move(task), out));
  gate.CloseAndWait();
  return *std::move(out);
}

}  // namespace keelson::profile
