#include "kube/workload/cron_schedule.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/quote.h"
#include "value/timestamp.h"

namespace keelson::kube::workload {
namespace {

constexpr std::string_view kMonths[] = {"jan", "feb", "mar", "apr", "may", "jun",
                                        "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::string_view kDays[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};
constexpr std::string_view kDescriptors[] = {"@yearly", "@annually", "@monthly", "@weekly",
                                             "@daily",  "@midnight", "@hourly"};

struct FieldBounds {
  uint64_t min;
  uint64_t max;
  std::span<const std::string_view> names;  // of min, min + 1, ...
};
constexpr FieldBounds kFields[] = {
    {0, 59, {}}, {0, 23, {}}, {1, 31, {}}, {1, 12, kMonths}, {0, 6, kDays}};

bool EqualIgnoringCase(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if ((c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c) != lower[i]) return false;
  }
  return true;
}

// Reads as Go's Atoi does: an optional sign, then digits.
Result<uint64_t> ParseNumber(std::string_view text) {
  const bool plus = text.starts_with('+');
  const auto digits = text.substr(plus ? 1 : 0);
  int64_t number = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error == std::errc::result_out_of_range) {
    return Fail(ErrorCode::kInvalid,
                "failed to parse int from {}: strconv.Atoi: parsing {}: value out of range", text,
                Quote(text));
  }
  if (error != std::errc() || end != digits.data() + digits.size() ||
      (plus && digits.starts_with('-'))) {
    return Fail(ErrorCode::kInvalid,
                "failed to parse int from {}: strconv.Atoi: parsing {}: invalid syntax", text,
                Quote(text));
  }
  if (number < 0) {
    return Fail(ErrorCode::kInvalid, "negative number ({}) not allowed: {}", number, text);
  }
  return static_cast<uint64_t>(number);
}

Result<uint64_t> ParseNumberOrName(std::string_view text, const FieldBounds& bounds) {
  for (size_t i = 0; i < bounds.names.size(); ++i) {
    if (EqualIgnoringCase(text, bounds.names[i])) return bounds.min + i;
  }
  return ParseNumber(text);
}

// The pieces of `text` between separators; more than three are not told apart.
struct Pieces {
  std::string_view first;
  std::string_view second;
  int count = 1;
};
Pieces SplitAt(std::string_view text, char separator) {
  const auto at = text.find(separator);
  if (at == std::string_view::npos) return {text, {}, 1};
  const auto rest = text.substr(at + 1);
  const auto next = rest.find(separator);
  if (next == std::string_view::npos) return {text.substr(0, at), rest, 2};
  return {text.substr(0, at), rest.substr(0, next), 3};
}

// One of  *  N  N-M  with an optional  /STEP.
Result<void> CheckRange(std::string_view range, const FieldBounds& bounds) {
  const Pieces step_of = SplitAt(range, '/');
  const Pieces ends = SplitAt(step_of.first, '-');
  uint64_t start = bounds.min;
  uint64_t end = bounds.max;
  if (ends.first != "*" && ends.first != "?") {
    TRY(start, ParseNumberOrName(ends.first, bounds));
    end = start;
    if (ends.count == 2) {
      TRY(end, ParseNumberOrName(ends.second, bounds));
    } else if (ends.count > 2) {
      return Fail(ErrorCode::kInvalid, "too many hyphens: {}", range);
    }
  }
  uint64_t step = 1;
  if (step_of.count == 2) {
    TRY(step, ParseNumber(step_of.second));
    if (ends.count == 1) end = bounds.max;
  } else if (step_of.count > 2) {
    return Fail(ErrorCode::kInvalid, "too many slashes: {}", range);
  }
  if (start < bounds.min) {
    return Fail(ErrorCode::kInvalid, "beginning of range ({}) below minimum ({}): {}", start,
                bounds.min, range);
  }
  if (end > bounds.max) {
    return Fail(ErrorCode::kInvalid, "end of range ({}) above maximum ({}): {}", end, bounds.max,
                range);
  }
  if (start > end) {
    return Fail(ErrorCode::kInvalid, "beginning of range ({}) beyond end of range ({}): {}", start,
                end, range);
  }
  if (step == 0) {
    return Fail(ErrorCode::kInvalid, "step of range should be a positive number: {}", range);
  }
  return {};
}

Result<void> CheckField(std::string_view field, const FieldBounds& bounds) {
  while (!field.empty()) {
    const auto comma = std::min(field.find(','), field.size());
    if (comma > 0) TRY_VOID(CheckRange(field.substr(0, comma), bounds));
    field.remove_prefix(std::min(comma + 1, field.size()));
  }
  return {};
}

bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// The next run of characters that are no blanks; empty at the end.
std::string_view NextField(std::string_view& text) {
  while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
  size_t size = 0;
  while (size < text.size() && !IsSpace(text[size])) ++size;
  const auto field = text.substr(0, size);
  text.remove_prefix(size);
  return field;
}

Result<void> CheckFieldCount(std::string_view schedule) {
  size_t count = 0;
  for (auto rest = schedule; !NextField(rest).empty();) ++count;
  if (count == std::size(kFields)) return {};
  std::vector<std::string_view> fields;
  for (auto rest = schedule; fields.size() < count;) fields.push_back(NextField(rest));
  return Fail(ErrorCode::kInvalid, "expected exactly {} fields, found {}: [{}]", std::size(kFields),
              count, fmt::join(fields, " "));
}

Result<void> CheckDescriptor(std::string_view schedule) {
  for (auto known : kDescriptors) {
    if (schedule == known) return {};
  }
  constexpr std::string_view kEvery = "@every ";
  if (!schedule.starts_with(kEvery)) {
    return Fail(ErrorCode::kInvalid, "unrecognized descriptor: {}", schedule);
  }
  auto duration = value::ParseDuration(schedule.substr(kEvery.size()));
  if (duration) return {};
  return Fail(ErrorCode::kInvalid, "failed to parse duration {}: {}", schedule,
              duration.error().message);
}

// Whether the time zone database of the machine has it. A machine without one believes the client.
bool IsKnownZone(std::string_view name) {
  if (name == "UTC" || name == "Local") return true;
  bool found_database = false;
  std::error_code error;
  for (std::string_view root : {"/usr/share/zoneinfo", "/usr/lib/zoneinfo", "/etc/zoneinfo"}) {
    const std::filesystem::path database(root);
    found_database |= std::filesystem::is_directory(database, error);
    if (std::filesystem::is_regular_file(database / name, error)) return true;
  }
  return !found_database;
}

// Nothing in a name may lead out of the database.
bool IsZoneName(std::string_view name) {
  return !name.empty() && name.front() != '/' && name.find('\\') == std::string_view::npos &&
         name.find("..") == std::string_view::npos;
}

}  // namespace

Result<void> CheckTimeZone(std::string_view name) {
  if (!IsZoneName(name)) {
    return Fail(ErrorCode::kInvalid, "time: invalid location name");
  }
  if (IsKnownZone(name)) return {};
  return Fail(ErrorCode::kInvalid, "unknown time zone {}", name);
}

Result<void> CheckCronSchedule(std::string_view schedule) {
  if (schedule.empty()) return Fail(ErrorCode::kInvalid, "empty spec string");
  if (schedule.starts_with("TZ=") || schedule.starts_with("CRON_TZ=")) {
    const auto blank = schedule.find(' ');
    const auto zone = schedule.find('=') + 1;
    if (blank == std::string_view::npos) {
      // Upstream's parser runs out of the text here and reports its own panic.
      return Fail(ErrorCode::kInvalid,
                  "invalid schedule format: runtime error: slice bounds out of range [:-1]");
    }
    const auto name = schedule.substr(zone, blank - zone);
    if (auto known = CheckTimeZone(name); !known && !name.empty()) {
      return Fail(ErrorCode::kInvalid, "provided bad location {}: {}", name, known.error().message);
    }
    schedule.remove_prefix(blank);
    while (!schedule.empty() && IsSpace(schedule.front())) schedule.remove_prefix(1);
  }
  if (schedule.starts_with('@')) return CheckDescriptor(schedule);
  TRY_VOID(CheckFieldCount(schedule));
  for (const auto& bounds : kFields) TRY_VOID(CheckField(NextField(schedule), bounds));
  return {};
}

}  // namespace keelson::kube::workload
