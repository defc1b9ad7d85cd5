#include "selector/label_selector.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <tuple>

#include "base/names.h"
#include "base/quote.h"

namespace keelson::selector {
namespace {

enum class Token : uint8_t {
  kEnd,
  kIdentifier,
  kIn,
  kNotIn,
  kNot,
  kEquals,
  kDoubleEquals,
  kNotEquals,
  kGreater,
  kLess,
  kOpen,
  kClose,
  kComma,
};

struct Lexeme {
  Token token = Token::kEnd;
  std::string_view text;
};

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool IsSymbol(char c) { return std::string_view("=!(),><").find(c) != std::string_view::npos; }

struct Spelling {
  std::string_view text;
  Token token;
};
constexpr Spelling kSymbols[] = {
    {"==", Token::kDoubleEquals}, {"!=", Token::kNotEquals}, {"=", Token::kEquals},
    {"!", Token::kNot},           {"(", Token::kOpen},       {")", Token::kClose},
    {",", Token::kComma},         {">", Token::kGreater},    {"<", Token::kLess},
};

// A NUL byte ends the text, as it does for upstream.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : rest_(text.substr(0, text.find('\0'))) {}

  Lexeme Next() {
    while (!rest_.empty() && IsBlank(rest_.front())) rest_.remove_prefix(1);
    if (rest_.empty()) return {};
    for (const auto& symbol : kSymbols) {
      if (rest_.starts_with(symbol.text)) return Take(symbol.token, symbol.text.size());
    }
    size_t length = 0;
    while (length < rest_.size() && !IsSymbol(rest_[length]) && !IsBlank(rest_[length])) ++length;
    auto word = rest_.substr(0, length);
    return Take(word == "in"      ? Token::kIn
                : word == "notin" ? Token::kNotIn
                                  : Token::kIdentifier,
                length);
  }

 private:
  Lexeme Take(Token token, size_t length) {
    Lexeme lexeme{token, rest_.substr(0, length)};
    rest_.remove_prefix(length);
    return lexeme;
  }

  std::string_view rest_;
};

Result<int64_t> ParseInteger(std::string_view text) {
  int64_t value = 0;
  auto digits = text.starts_with('+') && text.size() > 1 && text[1] != '-' ? text.substr(1) : text;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    return Fail(ErrorCode::kInvalid, "not an integer");
  }
  return value;
}

// Descends without recursion; one lexeme of lookahead. "in" and "notin" are operators only after a
// key, anywhere else they are ordinary words.
class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text), next_(lexer_.Next()) {}

  Result<std::vector<LabelRequirement>> Run() {
    std::vector<LabelRequirement> requirements;
    if (next_.token == Token::kEnd) return requirements;
    if (!AtRequirement()) {
      return Fail(ErrorCode::kInvalid, "found '{}', expected: !, identifier, or 'end of string'",
                  next_.text);
    }
    for (;;) {
      auto requirement = ParseRequirement();
      if (!requirement) return Annotate(requirement.error(), "unable to parse requirement");
      requirements.push_back(*std::move(requirement));
      Lexeme separator = Take();
      if (separator.token == Token::kEnd) return requirements;
      if (separator.token != Token::kComma) {
        return Fail(ErrorCode::kInvalid, "found '{}', expected: ',' or 'end of string'",
                    separator.text);
      }
      if (!AtRequirement()) {
        return Fail(ErrorCode::kInvalid, "found '{}', expected: identifier after ','", next_.text);
      }
    }
  }

 private:
  static bool IsWord(Token token) {
    return token == Token::kIdentifier || token == Token::kIn || token == Token::kNotIn;
  }
  bool AtRequirement() const { return IsWord(next_.token) || next_.token == Token::kNot; }
  bool AtEndOfRequirement() const {
    return next_.token == Token::kEnd || next_.token == Token::kComma;
  }
  Lexeme Take() {
    Lexeme taken = next_;
    if (taken.token != Token::kEnd) next_ = lexer_.Next();
    return taken;
  }

  Result<LabelRequirement> ParseRequirement() {
    Lexeme key = Take();
    bool negated = key.token == Token::kNot;
    if (negated) key = Take();
    if (!IsWord(key.token)) {
      return Fail(ErrorCode::kInvalid, "found '{}', expected: identifier", key.text);
    }
    if (auto faults = names::CheckQualifiedName(key.text); !faults.empty()) {
      return Fail(ErrorCode::kInvalid, "<nil>: Invalid value: {}: {}", Quote(key.text),
                  fmt::join(faults, "; "));
    }
    LabelRequirement requirement{.key = std::string(key.text)};
    if (negated || AtEndOfRequirement()) {
      requirement.op = negated ? LabelOperator::kNotExists : LabelOperator::kExists;
      return requirement;
    }
    TRY(requirement.op, ParseOperator());
    bool is_set = requirement.op == LabelOperator::kIn || requirement.op == LabelOperator::kNotIn;
    TRY_VOID(is_set ? ParseValues(requirement.values) : ParseValue(requirement.values));
    std::ranges::sort(requirement.values);
    auto repeated = std::ranges::unique(requirement.values);
    requirement.values.erase(repeated.begin(), repeated.end());
    TRY_VOID(CheckValues(requirement));
    return requirement;
  }

  Result<LabelOperator> ParseOperator() {
    Lexeme lexeme = Take();
    switch (lexeme.token) {
      case Token::kIn:
        return LabelOperator::kIn;
      case Token::kNotIn:
        return LabelOperator::kNotIn;
      case Token::kEquals:
        return LabelOperator::kEquals;
      case Token::kDoubleEquals:
        return LabelOperator::kDoubleEquals;
      case Token::kNotEquals:
        return LabelOperator::kNotEquals;
      case Token::kGreater:
        return LabelOperator::kGreater;
      case Token::kLess:
        return LabelOperator::kLess;
      default:
        return Fail(ErrorCode::kInvalid, "found '{}', expected: in, notin, =, ==, !=, gt, lt",
                    lexeme.text);
    }
  }

  Result<void> ParseValue(std::vector<std::string>& values) {
    if (AtEndOfRequirement()) {
      values.emplace_back();
      return {};
    }
    Lexeme value = Take();
    if (!IsWord(value.token)) {
      return Fail(ErrorCode::kInvalid, "found '{}', expected: identifier", value.text);
    }
    values.emplace_back(value.text);
    return {};
  }

  // After the opening parenthesis an empty place between two commas, or beside a parenthesis, is
  // the empty value.
  Result<void> ParseValues(std::vector<std::string>& values) {
    Lexeme open = Take();
    if (open.token != Token::kOpen) {
      return Fail(ErrorCode::kInvalid, "found '{}' expected: '('", open.text);
    }
    if (next_.token == Token::kClose) {
      Take();
      values.emplace_back();
      return {};
    }
    if (!IsWord(next_.token) && next_.token != Token::kComma) {
      return Fail(ErrorCode::kInvalid, "found '{}', expected: ',', ')' or identifier", next_.text);
    }
    for (;;) {
      Lexeme lexeme = Take();
      if (IsWord(lexeme.token)) {
        values.emplace_back(lexeme.text);
        if (next_.token == Token::kComma) continue;
        if (next_.token != Token::kClose) {
          return Fail(ErrorCode::kInvalid, "found '{}', expected: ',' or ')'", next_.text);
        }
      } else if (lexeme.token == Token::kComma) {
        bool empty_place =
            values.empty() || next_.token == Token::kClose || next_.token == Token::kComma;
        if (empty_place) values.emplace_back();
        if (next_.token != Token::kClose) continue;
      } else {
        return Fail(ErrorCode::kInvalid, "found '{}', expected: ',', or identifier", lexeme.text);
      }
      Take();
      return {};
    }
  }

  static Result<void> CheckValues(LabelRequirement& requirement) {
    std::vector<std::string> faults;
    if (requirement.op == LabelOperator::kGreater || requirement.op == LabelOperator::kLess) {
      if (auto number = ParseInteger(requirement.values.front())) {
        requirement.number = *number;
      } else {
        faults.push_back(fmt::format(
            "values[0]: Invalid value: {}: for 'Gt', 'Lt' operators, the value must be an integer",
            Quote(requirement.values.front())));
      }
    }
    for (size_t i = 0; i < requirement.values.size(); ++i) {
      const auto& value = requirement.values[i];
      if (auto why = names::CheckLabelValue(value); !why.empty()) {
        faults.push_back(fmt::format("values[{}][{}]: Invalid value: {}: {}", i, requirement.key,
                                     Quote(value), fmt::join(why, "; ")));
      }
    }
    if (faults.empty()) return {};
    if (faults.size() == 1) return Fail(ErrorCode::kInvalid, "{}", faults.front());
    return Fail(ErrorCode::kInvalid, "[{}]", fmt::join(faults, ", "));
  }

  Lexer lexer_;
  Lexeme next_;
};

std::string_view OperatorText(LabelOperator op) {
  switch (op) {
    case LabelOperator::kIn:
      return " in ";
    case LabelOperator::kNotIn:
      return " notin ";
    case LabelOperator::kEquals:
      return "=";
    case LabelOperator::kDoubleEquals:
      return "==";
    case LabelOperator::kNotEquals:
      return "!=";
    case LabelOperator::kGreater:
      return ">";
    case LabelOperator::kLess:
      return "<";
    case LabelOperator::kExists:
    case LabelOperator::kNotExists:
      return "";
  }
  return "";
}

}  // namespace

bool LabelRequirement::Accepts(std::optional<std::string_view> value) const {
  auto listed = [&] { return std::ranges::find(values, *value) != values.end(); };
  switch (op) {
    case LabelOperator::kIn:
    case LabelOperator::kEquals:
    case LabelOperator::kDoubleEquals:
      return value && listed();
    case LabelOperator::kNotIn:
    case LabelOperator::kNotEquals:
      return !value || !listed();
    case LabelOperator::kExists:
      return value.has_value();
    case LabelOperator::kNotExists:
      return !value.has_value();
    case LabelOperator::kGreater:
    case LabelOperator::kLess: {
      if (!value) return false;
      auto actual = ParseInteger(*value);
      return actual && (op == LabelOperator::kGreater ? *actual > number : *actual < number);
    }
  }
  return false;
}

std::string LabelRequirement::ToString() const {
  if (op == LabelOperator::kExists) return key;
  if (op == LabelOperator::kNotExists) return "!" + key;
  bool is_set = op == LabelOperator::kIn || op == LabelOperator::kNotIn;
  return fmt::format("{}{}{}{}{}", key, OperatorText(op), is_set ? "(" : "", fmt::join(values, ","),
                     is_set ? ")" : "");
}

LabelSelector::LabelSelector(std::vector<LabelRequirement> requirements)
    : requirements_(std::move(requirements)) {
  std::ranges::sort(requirements_, {}, [](const LabelRequirement& requirement) {
    return std::tie(requirement.key, requirement.op, requirement.values);
  });
}

Result<LabelSelector> LabelSelector::Parse(std::string_view text) {
  if (text.size() > kMaxSelectorBytes) {
    return Fail(ErrorCode::kTooLarge, "label selector is longer than {} bytes", kMaxSelectorBytes);
  }
  TRY(auto requirements, Parser(text).Run());
  return LabelSelector(std::move(requirements));
}

std::optional<std::string_view> LabelSelector::RequiredValue(std::string_view key) const {
  for (const auto& requirement : requirements_) {
    if (requirement.key != key) continue;
    bool names_values = requirement.op == LabelOperator::kEquals ||
                        requirement.op == LabelOperator::kDoubleEquals ||
                        requirement.op == LabelOperator::kIn;
    if (names_values && requirement.values.size() == 1) return requirement.values.front();
    return std::nullopt;
  }
  return std::nullopt;
}

std::string LabelSelector::ToString() const {
  std::string text;
  for (const auto& requirement : requirements_) {
    if (!text.empty()) text += ',';
    text += requirement.ToString();
  }
  return text;
}

}  // namespace keelson::selector
