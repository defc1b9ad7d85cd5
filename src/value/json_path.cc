#include "value/json_path.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "value/json.h"

namespace keelson::value {

// An item passes when what `left` leads to in it compares with `right` as said.
struct JsonPath::Test {
  enum class Kind : uint8_t { kExists, kEqual, kUnequal, kLess, kLessEqual, kMore, kMoreEqual };
  Kind kind = Kind::kExists;
  std::vector<Step> left;
  // A path below the item, or a constant.
  std::optional<std::vector<Step>> right;
  std::string text;
  std::optional<double> number;
  std::optional<bool> truth;
};

struct JsonPath::Step {
  enum class Kind : uint8_t { kMember, kItems, kAll, kDescend, kFilter };
  Kind kind = Kind::kMember;
  std::vector<std::string> names;  // kMember, kDescend
  // kItems: from first to before last, counted from the end when negative.
  int64_t first = 0;
  std::optional<int64_t> last;
  std::unique_ptr<Test> test;  // kFilter
};

JsonPath::JsonPath() = default;
JsonPath::~JsonPath() = default;
JsonPath::JsonPath(JsonPath&&) noexcept = default;
JsonPath& JsonPath::operator=(JsonPath&&) noexcept = default;

class JsonPath::Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  // Up to what cannot continue a path.
  Result<std::vector<Step>> Steps() {
    std::vector<Step> steps;
    while (!rest_.empty() && (rest_[0] == '.' || rest_[0] == '[')) {
      if (steps.size() == kMaxSteps) return Fail(ErrorCode::kTooLarge, "too many steps");
      if (rest_[0] == '[') {
        TRY(auto step, Bracket());
        steps.push_back(std::move(step));
        continue;
      }
      rest_.remove_prefix(1);
      Step step;
      if (Accept(".")) step.kind = Step::Kind::kDescend;
      if (step.kind == Step::Kind::kMember && Accept("*")) {
        step.kind = Step::Kind::kAll;
      } else if (!rest_.empty() && rest_[0] == '[' && step.kind == Step::Kind::kMember) {
        continue;  // ".[0]" is "[0]"
      } else {
        TRY(auto name, Name());
        step.names.push_back(std::move(name));
      }
      steps.push_back(std::move(step));
    }
    return steps;
  }

  bool done() const { return rest_.empty(); }

 private:
  static constexpr size_t kMaxSteps = 64;
  static constexpr int kMaxDepth = 8;  // of tests in tests

  bool Accept(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  void SkipSpace() {
    while (!rest_.empty() && rest_[0] == ' ') rest_.remove_prefix(1);
  }

  Result<std::string> Name() {
    std::string name;
    while (!rest_.empty() && std::string_view(" .[]()=!<>").find(rest_[0]) == rest_.npos) {
      if (rest_[0] == '\\' && rest_.size() > 1) rest_.remove_prefix(1);
      name += rest_[0];
      rest_.remove_prefix(1);
    }
    if (name.empty()) return Fail(ErrorCode::kInvalid, "a name is missing");
    return name;
  }

  // Text in either kind of quotes.
  Result<std::string> Quoted() {
    const char quote = rest_[0];
    std::string text;
    for (size_t i = 1; i < rest_.size(); ++i) {
      if (rest_[i] == quote) {
        rest_.remove_prefix(i + 1);
        return text;
      }
      if (rest_[i] == '\\' && i + 1 < rest_.size()) ++i;
      text += rest_[i];
    }
    return Fail(ErrorCode::kInvalid, "unterminated text");
  }

  std::optional<int64_t> Integer() {
    int64_t number = 0;
    const auto [end, failed] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
    if (failed != std::errc()) return std::nullopt;
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    return number;
  }

  Result<Step> Bracket() {
    rest_.remove_prefix(1);
    SkipSpace();
    Step step;
    if (Accept("*")) {
      step.kind = Step::Kind::kAll;
    } else if (Accept("?(")) {
      step.kind = Step::Kind::kFilter;
      if (++depth_ > kMaxDepth) return Fail(ErrorCode::kTooLarge, "tests nest too deeply");
      TRY(auto test, ReadTest());
      --depth_;
      step.test = std::make_unique<Test>(std::move(test));
      if (!Accept(")")) return Fail(ErrorCode::kInvalid, "unterminated test");
    } else if (!rest_.empty() && (rest_[0] == '\'' || rest_[0] == '"')) {
      do {
        SkipSpace();
        if (rest_.empty() || (rest_[0] != '\'' && rest_[0] != '"')) {
          return Fail(ErrorCode::kInvalid, "a name is missing");
        }
        TRY(auto name, Quoted());
        step.names.push_back(std::move(name));
        SkipSpace();
      } while (Accept(","));
    } else {
      TRY_VOID(Places(step));
    }
    SkipSpace();
    if (!Accept("]")) return Fail(ErrorCode::kInvalid, "unterminated bracket");
    return step;
  }

  Result<void> Places(Step& step) {
    step.kind = Step::Kind::kItems;
    const auto first = Integer();
    step.first = first.value_or(0);
    if (Accept(":")) {
      step.last = Integer();
      return {};
    }
    if (!first) return Fail(ErrorCode::kInvalid, "unknown kind of step");
    // One item: up to the next, unless it is the last one.
    if (*first != -1) step.last = *first + 1;
    return {};
  }

  Result<Test> ReadTest() {
    static constexpr std::pair<std::string_view, Test::Kind> kComparisons[] = {
        {"==", Test::Kind::kEqual},     {"!=", Test::Kind::kUnequal},
        {"<=", Test::Kind::kLessEqual}, {">=", Test::Kind::kMoreEqual},
        {"<", Test::Kind::kLess},       {">", Test::Kind::kMore}};
    Test test;
    SkipSpace();
    if (!Accept("@")) return Fail(ErrorCode::kInvalid, "a test begins with @");
    TRY(test.left, Steps());
    SkipSpace();
    for (const auto& [text, kind] : kComparisons) {
      if (!Accept(text)) continue;
      test.kind = kind;
      SkipSpace();
      TRY_VOID(Operand(test));
      SkipSpace();
      break;
    }
    return test;
  }

  Result<void> Operand(Test& test) {
    if (Accept("@")) {
      TRY(test.right, Steps());
      return {};
    }
    if (!rest_.empty() && (rest_[0] == '\'' || rest_[0] == '"')) {
      TRY(test.text, Quoted());
      return {};
    }
    const auto end = std::min(rest_.find_first_of(" )"), rest_.size());
    const auto word = rest_.substr(0, end);
    rest_.remove_prefix(end);
    if (word == "true" || word == "false") {
      test.truth = word == "true";
      return {};
    }
    double number = 0;
    const auto [stop, failed] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (failed != std::errc() || stop != word.data() + word.size() || word.empty()) {
      return Fail(ErrorCode::kInvalid, "unknown constant");
    }
    test.number = number;
    return {};
  }

  std::string_view rest_;
  int depth_ = 0;
};

Result<JsonPath> JsonPath::Parse(std::string_view text) {
  Parser parser(text);
  JsonPath path;
  TRY(path.steps_, parser.Steps());
  if (!parser.done()) return Fail(ErrorCode::kInvalid, "unrecognized character");
  return path;
}

namespace {

// Less, equal or more; nothing when the two cannot be compared.
std::optional<int> Order(const Value& value, const Value& other) {
  if (value.is_number() && other.is_number()) {
    const double a = value.AsDouble();
    const double b = other.AsDouble();
    return a < b ? -1 : a > b ? 1 : 0;
  }
  if (value.kind() != other.kind()) return std::nullopt;
  if (value.is_string()) return value.AsString().compare(other.AsString());
  if (value == other) return 0;
  return std::nullopt;
}

// At most so many results: ".." over a large object must not multiply.
constexpr size_t kMaxResults = 10'000;

void Descend(const Value& from, const std::string& name, std::vector<Value>& out) {
  if (out.size() >= kMaxResults) return;
  if (const Value* found = from.Find(name)) out.push_back(found->Shared());
  for (const auto& member : from.members()) Descend(member.value, name, out);
  for (const auto& item : from.items()) Descend(item, name, out);
}

}  // namespace

bool JsonPath::Passes(const Test& test, const Value& item) {
  const auto follow = [&](const std::vector<Step>& steps) {
    std::vector<Value> found{item.Shared()};
    for (const auto& step : steps) {
      std::vector<Value> next;
      for (const auto& value : found) Take(step, value, next);
      found = std::move(next);
    }
    return found;
  };
  const auto left = follow(test.left);
  if (left.empty()) return false;
  if (test.kind == Test::Kind::kExists) return true;
  Value right = Value::String(test.text);
  if (test.number) right = Value::Double(*test.number);
  if (test.truth) right = Value::Bool(*test.truth);
  if (test.right) {
    const auto found = follow(*test.right);
    if (found.empty()) return false;
    right = found[0];
  }
  const auto order = Order(left[0], right);
  switch (test.kind) {
    case Test::Kind::kEqual:
      return order == 0;
    case Test::Kind::kUnequal:
      return order != 0;
    case Test::Kind::kLess:
      return order && *order < 0;
    case Test::Kind::kLessEqual:
      return order && *order <= 0;
    case Test::Kind::kMore:
      return order && *order > 0;
    default:
      return order && *order >= 0;
  }
}

void JsonPath::Take(const Step& step, const Value& from, std::vector<Value>& out) {
  switch (step.kind) {
    case Step::Kind::kMember:
      for (const auto& name : step.names) {
        if (const Value* found = from.Find(name)) out.push_back(found->Shared());
      }
      return;
    case Step::Kind::kDescend:
      return Descend(from, step.names[0], out);
    case Step::Kind::kAll:
      for (const auto& item : from.items()) out.push_back(item.Shared());
      for (const auto& member : from.members()) out.push_back(member.value.Shared());
      return;
    case Step::Kind::kItems: {
      const auto size = static_cast<int64_t>(from.items().size());
      const auto place = [size](int64_t at) { return at < 0 ? at + size : at; };
      const int64_t end = std::min(size, place(step.last.value_or(size)));
      for (int64_t i = std::max<int64_t>(0, place(step.first)); i < end; ++i) {
        out.push_back(from.items()[static_cast<size_t>(i)].Shared());
      }
      return;
    }
    case Step::Kind::kFilter:
      for (const auto& item : from.items()) {
        if (Passes(*step.test, item)) out.push_back(item.Shared());
      }
  }
}

std::vector<Value> JsonPath::Find(const Value& root) const {
  std::vector<Value> found{root.Shared()};
  for (const auto& step : steps_) {
    std::vector<Value> next;
    for (const auto& value : found) {
      if (next.size() < kMaxResults) Take(step, value, next);
    }
    found = std::move(next);
  }
  return found;
}

std::string JsonPath::Prefix() const {
  std::string prefix;
  for (const auto& step : steps_) {
    if (step.kind != Step::Kind::kMember || step.names.size() != 1 ||
        step.names[0].find_first_of(". ") != std::string::npos) {
      break;
    }
    if (!prefix.empty()) prefix += '.';
    prefix += step.names[0];
  }
  return prefix;
}

}  // namespace keelson::value
