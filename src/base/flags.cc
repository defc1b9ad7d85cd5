#include "base/flags.h"

#include <algorithm>

#include "base/quote.h"

namespace keelson::flags {

void FlagSet::BeginSection(std::string title) { sections_.push_back({std::move(title), {}}); }

void FlagSet::Add(std::string name, char shorthand, std::unique_ptr<Value> value,
                  std::string usage) {
  KEELSON_CHECK(!flags_.contains(name));
  if (sections_.empty()) BeginSection("Misc");
  sections_.back().names.push_back(name);
  auto& flag = flags_[name];
  flag.name = std::move(name);
  flag.shorthand = shorthand;
  flag.usage = std::move(usage);
  flag.default_text = value->Text();
  flag.value = std::move(value);
}

FlagSet::Flag* FlagSet::Find(std::string_view name) {
  std::string normal(name);
  std::replace(normal.begin(), normal.end(), '_', '-');
  auto found = flags_.find(normal);
  return found == flags_.end() ? nullptr : &found->second;
}

Result<void> FlagSet::Assign(Flag& flag, std::string_view text) {
  if (auto set = flag.value->Set(text); !set) {
    std::string shown = flag.shorthand != 0 ? fmt::format("-{}, --{}", flag.shorthand, flag.name)
                                            : fmt::format("--{}", flag.name);
    return Fail(ErrorCode::kInvalid, "invalid argument {} for {} flag: {}", Quote(text),
                Quote(shown), set.error().message);
  }
  flag.changed = true;
  return {};
}

Result<void> FlagSet::ParseLong(std::string_view argument,
                                std::span<const std::string_view>& rest) {
  auto name = argument.substr(2);
  if (name[0] == '-' || name[0] == '=') {
    return Fail(ErrorCode::kInvalid, "bad flag syntax: {}", argument);
  }
  auto equals = name.find('=');
  auto value = equals == std::string_view::npos ? std::string_view() : name.substr(equals + 1);
  name = name.substr(0, equals);
  Flag* flag = Find(name);
  if (flag == nullptr) {
    if (name == "help") {
      help_requested_ = true;
      return {};
    }
    return Fail(ErrorCode::kInvalid, "unknown flag: --{}", name);
  }
  if (equals != std::string_view::npos) return Assign(*flag, value);
  if (!flag->value->implied().empty()) return Assign(*flag, flag->value->implied());
  if (rest.empty()) return Fail(ErrorCode::kInvalid, "flag needs an argument: --{}", name);
  value = rest.front();
  rest = rest.subspan(1);
  return Assign(*flag, value);
}

Result<void> FlagSet::ParseShort(std::string_view argument,
                                 std::span<const std::string_view>& rest) {
  auto letters = argument.substr(1);
  const auto all = letters;
  while (!letters.empty()) {
    char letter = letters[0];
    auto found = std::find_if(flags_.begin(), flags_.end(),
                              [&](const auto& entry) { return entry.second.shorthand == letter; });
    if (found == flags_.end()) {
      if (letter == 'h') {
        help_requested_ = true;
        return {};
      }
      auto quoted = Quote(std::string_view(&letter, 1));
      return Fail(ErrorCode::kInvalid, "unknown shorthand flag: '{}' in -{}",
                  quoted.substr(1, quoted.size() - 2), all);
    }
    Flag& flag = found->second;
    letters.remove_prefix(1);
    if (letters.size() > 1 && letters[0] == '=') return Assign(flag, letters.substr(1));
    if (!flag.value->implied().empty()) {
      TRY_VOID(Assign(flag, flag.value->implied()));
      continue;
    }
    if (!letters.empty()) return Assign(flag, letters);
    if (rest.empty()) {
      return Fail(ErrorCode::kInvalid, "flag needs an argument: '{}' in -{}", letter, all);
    }
    auto value = rest.front();
    rest = rest.subspan(1);
    return Assign(flag, value);
  }
  return {};
}

Result<std::vector<std::string>> FlagSet::Parse(std::span<const std::string_view> arguments) {
  std::vector<std::string> positional;
  while (!arguments.empty() && !help_requested_) {
    auto argument = arguments.front();
    arguments = arguments.subspan(1);
    if (argument.size() < 2 || argument[0] != '-') {
      positional.emplace_back(argument);
    } else if (argument == "--") {
      positional.insert(positional.end(), arguments.begin(), arguments.end());
      break;
    } else if (argument[1] == '-') {
      TRY_VOID(ParseLong(argument, arguments));
    } else {
      TRY_VOID(ParseShort(argument, arguments));
    }
  }
  return positional;
}

bool FlagSet::Changed(std::string_view name) const {
  auto found = flags_.find(name);
  return found != flags_.end() && found->second.changed;
}

std::vector<std::pair<std::string, std::string>> FlagSet::Values() const {
  std::vector<std::pair<std::string, std::string>> values;
  for (const auto& [name, flag] : flags_) values.emplace_back(name, flag.value->Text());
  return values;
}

namespace {

// The word help shows for a value's kind.
std::string_view ShownType(std::string_view type) {
  if (type == "bool") return "";
  if (type == "float64") return "float";
  if (type == "stringSlice") return "strings";
  return type;
}

// Continuation lines of a usage text line up under its first.
std::string Indented(std::string_view text, size_t column) {
  std::string out;
  for (char c : text) {
    out += c;
    if (c == '\n') out.append(column, ' ');
  }
  return out;
}

}  // namespace

std::string FlagSet::Help(std::string_view introduction) const {
  std::string out = fmt::format("{}\n\nUsage:\n  {} [flags]\n", introduction, program_);
  for (const auto& section : sections_) {
    if (section.names.empty()) continue;
    auto names = section.names;
    std::sort(names.begin(), names.end());
    std::vector<std::pair<std::string, std::string>> rows;
    size_t width = 0;
    for (const auto& name : names) {
      const Flag& flag = flags_.find(name)->second;
      auto left = flag.shorthand != 0 ? fmt::format("  -{}, --{}", flag.shorthand, name)
                                      : fmt::format("      --{}", name);
      auto type = flag.value->type();
      if (auto shown = ShownType(type); !shown.empty()) left += fmt::format(" {}", shown);
      if (auto implied = flag.value->implied(); !implied.empty() && type != "bool") {
        left += fmt::format("[={}]", implied);
      }
      auto right = flag.usage;
      if (!flag.value->IsZero(flag.default_text)) {
        right += type == "string" ? fmt::format(" (default {})", Quote(flag.default_text))
                                  : fmt::format(" (default {})", flag.default_text);
      }
      width = std::max(width, left.size());
      rows.emplace_back(std::move(left), std::move(right));
    }
    out += fmt::format("\n{} flags:\n\n", section.title);
    for (const auto& [left, right] : rows) {
      out += fmt::format("{:<{}}   {}\n", left, width, Indented(right, width + 3));
    }
  }
  return out;
}

}  // namespace keelson::flags
