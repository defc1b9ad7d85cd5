#include "base/names.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>

namespace keelson::names {
namespace {

// Character classes as bits of one table, so that a matcher is a loop over a lookup.
enum Class : uint8_t {
  kLower = 1 << 0,
  kUpper = 1 << 1,
  kDigit = 1 << 2,
  kDash = 1 << 3,
  kDot = 1 << 4,
  kUnderscore = 1 << 5,
};

constexpr std::array<uint8_t, 256> kClasses = [] {
  std::array<uint8_t, 256> classes{};
  for (int c = 'a'; c <= 'z'; ++c) classes[c] = kLower;
  for (int c = 'A'; c <= 'Z'; ++c) classes[c] = kUpper;
  for (int c = '0'; c <= '9'; ++c) classes[c] = kDigit;
  classes['-'] = kDash;
  classes['.'] = kDot;
  classes['_'] = kUnderscore;
  return classes;
}();

bool Is(char c, uint8_t classes) {
  return (kClasses[static_cast<unsigned char>(c)] & classes) != 0;
}

bool AllAre(std::string_view text, uint8_t classes) {
  for (char c : text) {
    if (!Is(c, classes)) return false;
  }
  return true;
}

// One or more characters: `first`, any of `inner`, `last`; a single one must be a first.
bool Shape(std::string_view text, uint8_t first, uint8_t inner, uint8_t last) {
  return !text.empty() && Is(text.front(), first) && (text.size() == 1 || Is(text.back(), last)) &&
         AllAre(text, inner | first | last);
}

template <typename LabelMatcher>
bool EachLabel(std::string_view text, LabelMatcher matches) {
  for (;;) {
    auto dot = text.find('.');
    if (!matches(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

constexpr uint8_t kLowerDigit = kLower | kDigit;
constexpr uint8_t kAlnum = kLower | kUpper | kDigit;

bool MatchDnsLabel(std::string_view text) {
  return Shape(text, kLowerDigit, kLowerDigit | kDash, kLowerDigit);
}
bool MatchDnsSubdomain(std::string_view text) { return EachLabel(text, MatchDnsLabel); }
bool MatchUnderscoreLabel(std::string_view text) {
  if (text.starts_with('_')) text.remove_prefix(1);
  return Shape(text, kLowerDigit, kLowerDigit | kDash | kUnderscore, kLowerDigit);
}
bool MatchUnderscoreSubdomain(std::string_view text) {
  return EachLabel(text, MatchUnderscoreLabel);
}
bool MatchDns1035Label(std::string_view text) {
  return Shape(text, kLower, kLowerDigit | kDash, kLowerDigit);
}
bool MatchWildcard(std::string_view text) {
  return text.starts_with("*.") && MatchDnsSubdomain(text.substr(2));
}
bool MatchLabelName(std::string_view text) {
  return Shape(text, kAlnum, kAlnum | kDash | kDot | kUnderscore, kAlnum);
}
bool MatchLabelValue(std::string_view text) { return text.empty() || MatchLabelName(text); }
bool MatchCIdentifier(std::string_view text) {
  return Shape(text, kLower | kUpper | kUnderscore, kAlnum | kUnderscore, kAlnum | kUnderscore);
}
bool MatchPercent(std::string_view text) {
  return text.size() > 1 && text.back() == '%' && AllAre(text.substr(0, text.size() - 1), kDigit);
}
bool MatchHttpHeaderName(std::string_view text) {
  return !text.empty() && AllAre(text, kAlnum | kDash);
}
bool MatchEnvVarName(std::string_view text) {
  constexpr uint8_t kInner = kAlnum | kDash | kDot | kUnderscore;
  return Shape(text, kInner & ~kDigit, kInner, kInner);
}
bool MatchConfigMapKey(std::string_view text) {
  return !text.empty() && AllAre(text, kAlnum | kDash | kDot | kUnderscore);
}

#define KEELSON_LABEL "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
#define KEELSON_UNDERSCORE_LABEL "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
#define KEELSON_SUBDOMAIN KEELSON_LABEL "(\\." KEELSON_LABEL ")*"
#define KEELSON_QUALIFIED "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"

struct Rule {
  bool (*matches)(std::string_view text);
  size_t max_length;          // 0: no limit of its own
  std::string_view unit;      // what the limit counts, as upstream says it: characters or bytes
  std::string_view text;      // what a matching name looks like
  std::string_view pattern;   // the expression quoted to the user
  std::string_view examples;  // joined in upstream's odd way
};

constexpr Rule kDnsLabelRule{MatchDnsLabel,
                             63,
                             "characters",
                             "a lowercase RFC 1123 label must consist of lower case alphanumeric "
                             "characters or '-', and must "
                             "start and end with an alphanumeric character",
                             KEELSON_LABEL,
                             "'my-name',  or '123-abc'"};
constexpr Rule kSubdomainRule{MatchDnsSubdomain,
                              253,
                              "characters",
                              "a lowercase RFC 1123 subdomain must consist of lower case "
                              "alphanumeric characters, '-' or '.', "
                              "and must start and end with an alphanumeric character",
                              KEELSON_SUBDOMAIN,
                              "'example.com'"};
constexpr Rule kUnderscoreSubdomainRule{
    MatchUnderscoreSubdomain,
    253,
    "characters",
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' "
    "or "
    "'.', and must start and end with an alphanumeric character",
    KEELSON_UNDERSCORE_LABEL "(\\." KEELSON_UNDERSCORE_LABEL ")*",
    "'example.com'"};
constexpr Rule kDns1035Rule{
    MatchDns1035Label,
    63,
    "characters",
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
    "alphabetic character, and end with an alphanumeric character",
    "[a-z]([-a-z0-9]*[a-z0-9])?",
    "'my-name',  or 'abc-123'"};
constexpr Rule kWildcardRule{
    MatchWildcard,
    253,
    "characters",
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which "
    "must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric "
    "character",
    "\\*\\." KEELSON_SUBDOMAIN,
    "'*.example.com'"};
constexpr Rule kQualifiedRule{
    MatchLabelName,
    63,
    "bytes",
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character",
    KEELSON_QUALIFIED,
    "'MyName',  or 'my.name',  or '123-abc'"};
constexpr Rule kLabelValueRule{
    MatchLabelValue,
    63,
    "bytes",
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character",
    "(" KEELSON_QUALIFIED ")?",
    "'MyValue',  or 'my_value',  or '12345'"};
constexpr Rule kCIdentifierRule{
    MatchCIdentifier,
    0,
    "",
    "a valid C identifier must start with alphabetic character or '_', followed by a string of "
    "alphanumeric characters or '_'",
    "[A-Za-z_][A-Za-z0-9_]*",
    "'my_name',  or 'MY_NAME',  or 'MyName'"};
constexpr Rule kPercentRule{
    MatchPercent, 0,
    "",           "a valid percent string must be a numeric string followed by an ending '%'",
    "[0-9]+%",    "'1%',  or '93%'"};
constexpr Rule kHeaderRule{MatchHttpHeaderName,
                           0,
                           "",
                           "a valid HTTP header must consist of alphanumeric characters or '-'",
                           "[-A-Za-z0-9]+",
                           "'X-Header-Name'"};
constexpr Rule kEnvVarRule{
    MatchEnvVarName,
    0,
    "",
    "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or "
    "'.', and must not start with a digit",
    "[-._a-zA-Z][-._a-zA-Z0-9]*",
    "'my.env-name',  or 'MY_ENV.NAME',  or 'MyEnvName1'"};
constexpr Rule kConfigMapKeyRule{
    MatchConfigMapKey,
    253,
    "characters",
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
    "[-._a-zA-Z0-9]+",
    "'key.name',  or 'KEY_NAME',  or 'key-name'"};

std::string ShapeText(const Rule& rule) {
  return fmt::format("{} (e.g. {}, regex used for validation is '{}')", rule.text, rule.examples,
                     rule.pattern);
}

Complaints Check(const Rule& rule, std::string_view text) {
  Complaints complaints;
  if (rule.max_length != 0 && text.size() > rule.max_length) {
    complaints.push_back(TooLongText(rule.max_length, rule.unit));
  }
  if (!rule.matches(text)) complaints.push_back(ShapeText(rule));
  return complaints;
}

void AddChangeDirectoryComplaint(std::string_view text, Complaints& complaints) {
  if (text == ".") {
    complaints.emplace_back("must not be '.'");
  } else if (text == "..") {
    complaints.emplace_back("must not be '..'");
  } else if (text.starts_with("..")) {
    complaints.emplace_back("must not start with '..'");
  }
}

// Upstream checks a generateName as if a name had been made of it.
std::string MaskTrailingDash(std::string_view name) {
  if (name.size() > 1 && name.ends_with('-')) {
    return std::string(name.substr(0, name.size() - 2)) + "a";
  }
  return std::string(name);
}

Complaints CheckName(Complaints (*check)(std::string_view), std::string_view name, bool prefix) {
  return prefix ? check(MaskTrailingDash(name)) : check(name);
}

}  // namespace

bool IsDns1123Label(std::string_view text) { return text.size() <= 63 && MatchDnsLabel(text); }
bool IsDns1123Subdomain(std::string_view text) {
  return text.size() <= 253 && MatchDnsSubdomain(text);
}
bool IsLabelValue(std::string_view text) { return text.size() <= 63 && MatchLabelValue(text); }

Complaints CheckDns1123Label(std::string_view text) {
  auto complaints = Check(kDnsLabelRule, text);
  // A subdomain where a label is wanted: the dots are what is wrong.
  if (!complaints.empty() && !MatchDnsLabel(text) && MatchDnsSubdomain(text)) {
    complaints.back() = "must not contain dots";
  }
  return complaints;
}

Complaints CheckDns1123Subdomain(std::string_view text) { return Check(kSubdomainRule, text); }
Complaints CheckDns1123SubdomainWithUnderscore(std::string_view text) {
  return Check(kUnderscoreSubdomainRule, text);
}
Complaints CheckDns1035Label(std::string_view text) { return Check(kDns1035Rule, text); }
Complaints CheckWildcardDns1123Subdomain(std::string_view text) {
  return Check(kWildcardRule, text);
}
Complaints CheckLabelValue(std::string_view text) { return Check(kLabelValueRule, text); }
Complaints CheckCIdentifier(std::string_view text) { return Check(kCIdentifierRule, text); }
Complaints CheckPercent(std::string_view text) { return Check(kPercentRule, text); }
Complaints CheckHttpHeaderName(std::string_view text) { return Check(kHeaderRule, text); }

Complaints CheckQualifiedName(std::string_view text) {
  Complaints complaints;
  auto slash = text.find('/');
  auto name = text;
  if (slash != std::string_view::npos) {
    auto prefix = text.substr(0, slash);
    name = text.substr(slash + 1);
    if (name.find('/') != std::string_view::npos) {
      return {
          fmt::format("a valid label key {} with an optional DNS subdomain prefix and '/' (e.g. "
                      "'example.com/MyName')",
                      ShapeText(kQualifiedRule))};
    }
    if (prefix.empty()) {
      complaints.emplace_back("prefix part must be non-empty");
    } else {
      if (prefix.size() > 253) complaints.push_back("prefix part " + TooLongText(253, "bytes"));
      if (!MatchDnsSubdomain(prefix)) {
        complaints.push_back("prefix part " + ShapeText(kSubdomainRule));
      }
    }
  }
  if (name.empty()) {
    complaints.emplace_back("name part must be non-empty");
  } else if (name.size() > 63) {
    complaints.push_back("name part " + TooLongText(63, "bytes"));
  }
  if (!MatchLabelName(name)) complaints.push_back("name part " + ShapeText(kQualifiedRule));
  return complaints;
}

Complaints CheckPortName(std::string_view text) {
  Complaints complaints;
  if (text.size() > 15) complaints.push_back(TooLongText(15));
  if (text.empty() || !AllAre(text, kLowerDigit | kDash)) {
    complaints.emplace_back(
        "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  }
  bool has_letter = false;
  for (char c : text) has_letter |= Is(c, kLower);
  if (!has_letter) complaints.emplace_back("must contain at least one letter (a-z)");
  if (text.find("--") != std::string_view::npos) {
    complaints.emplace_back("must not contain consecutive hyphens");
  }
  if (!text.empty() && (text.front() == '-' || text.back() == '-')) {
    complaints.emplace_back("must not begin or end with a hyphen");
  }
  return complaints;
}

Complaints CheckInRange(int64_t value, int64_t low, int64_t high) {
  if (value >= low && value <= high) return {};
  return {fmt::format("must be between {} and {}, inclusive", low, high)};
}

Complaints CheckPortNumber(int64_t port) { return CheckInRange(port, 1, 65535); }

Complaints CheckEnvVarName(std::string_view text) {
  auto complaints = Check(kEnvVarRule, text);
  AddChangeDirectoryComplaint(text, complaints);
  return complaints;
}

Complaints CheckRelaxedEnvVarName(std::string_view text) {
  if (text.empty()) return {"environment variable name must be non-empty"};
  for (char c : text) {
    if (c < ' ' || c > '~' || c == '=') {
      return {
          "a valid environment variable name must consist only of printable ASCII characters other "
          "than '='"};
    }
  }
  return {};
}

Complaints CheckConfigMapKey(std::string_view text) {
  auto complaints = Check(kConfigMapKeyRule, text);
  AddChangeDirectoryComplaint(text, complaints);
  return complaints;
}

Complaints CheckPathSegmentPrefix(std::string_view text) {
  Complaints complaints;
  for (char c : {'/', '%'}) {
    if (text.find(c) != std::string_view::npos) {
      complaints.push_back(fmt::format("may not contain '{}'", c));
    }
  }
  return complaints;
}

Complaints CheckPathSegment(std::string_view text) {
  if (text == "." || text == "..") return {fmt::format("may not be '{}'", text)};
  return CheckPathSegmentPrefix(text);
}

Complaints NameIsDnsSubdomain(std::string_view name, bool prefix) {
  return CheckName(CheckDns1123Subdomain, name, prefix);
}
Complaints NameIsDnsLabel(std::string_view name, bool prefix) {
  return CheckName(CheckDns1123Label, name, prefix);
}
Complaints NameIsDns1035Label(std::string_view name, bool prefix) {
  return CheckName(CheckDns1035Label, name, prefix);
}
Complaints NameIsPathSegment(std::string_view name, bool prefix) {
  return prefix ? CheckPathSegmentPrefix(name) : CheckPathSegment(name);
}

std::string TooLongText(size_t limit, std::string_view unit) {
  return fmt::format("must be no more than {} {}", limit, unit);
}

}  // namespace keelson::names
