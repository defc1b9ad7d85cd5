#include <algorithm>

#include "base/quote.h"
#include "value/json.h"

namespace keelson::value {
namespace {

constexpr size_t kMaxStrictErrors = 100;
// Up to here duplicates are found by comparing tags; above by sorting.
constexpr size_t kFewMembers = 16;

// Where the parser is, for the path of a duplicate field.
struct Place {
  const Place* parent = nullptr;
  std::string_view key;
  size_t index = 0;
  bool is_index = false;

  void AppendTo(std::string& out) const {
    if (parent) parent->AppendTo(out);
    if (is_index) {
      out += '[' + std::to_string(index) + ']';
    } else if (!key.empty() || parent) {
      if (!out.empty()) out += '.';
      out += key;
    }
  }
};

class Parser {
 public:
  Parser(JsonReader& reader, const JsonOptions& options, std::string& error)
      : reader_(reader), options_(options), error_(error) {
    members_.reserve(64);
  }

  Value Parse(const Place* place) {
    switch (reader_.Peek()) {
      case '{':
        return Object(place);
      case '[':
        return List(place);
      case '"': {
        auto string = reader_.ReadString();
        return Value::String(string.text, string.plain);
      }
      case 't':
      case 'f':
      case 'n':
        return reader_.ReadLiteral();
      default: {
        auto number = reader_.ReadNumber();
        if (!number.finite) TooLarge(number.text);
        return number.value;
      }
    }
  }

 private:
  // Kept out of Parse, which recurses once per level: its frame must stay small.
  [[gnu::noinline]] void TooLarge(std::string_view number) {
    if (!error_.empty()) return;
    error_ = fmt::format("json: cannot unmarshal number {} into Go value of type float64", number);
  }

  [[gnu::noinline]] Value List(const Place* parent) {
    reader_.Advance();
    if (!reader_.Enter()) return {};
    if (reader_.Peek() == ']') {
      reader_.Advance();
      reader_.Leave();
      return Value::EmptyList();
    }
    size_t base = values_.size();
    Place place{parent, {}, 0, true};
    do {
      Value item = Parse(&place);
      values_.push_back(item);
      ++place.index;
    } while (reader_.TakeComma(']'));
    reader_.Leave();
    size_t count = values_.size() - base;
    auto* items = reader_.arena().AllocateArray<Value>(count);
    std::copy(values_.begin() + static_cast<ptrdiff_t>(base), values_.end(), items);
    values_.resize(base);
    return Value::List({items, count});
  }

  [[gnu::noinline]] Value Object(const Place* parent) {
    reader_.Advance();
    if (!reader_.Enter()) return {};
    if (reader_.Peek() == '}') {
      reader_.Advance();
      reader_.Leave();
      return Value::EmptyObject();
    }
    size_t base = members_.size();
    Place place{parent, {}, 0, false};
    do {
      reader_.Peek();
      auto key = reader_.ReadKey();
      const Name* name = reader_.MakeName(key);
      place.key = key.text;
      Value value = Parse(&place);
      members_.emplace_back(name, value);
    } while (reader_.TakeComma('}'));
    reader_.Leave();
    if (reader_.failed()) {
      members_.resize(base);
      return {};
    }
    Deduplicate(base, parent);
    size_t count = members_.size() - base;
    auto* members = reader_.arena().AllocateArray<Member>(count);
    std::copy(members_.begin() + static_cast<ptrdiff_t>(base), members_.end(), members);
    members_.resize(base);
    if (options_.sort_members) {
      std::sort(members, members + count,
                [](const Member& a, const Member& b) { return a.key() < b.key(); });
    }
    return Value::Object({members, count});
  }

  [[gnu::noinline]] bool HasDuplicates(size_t base) const {
    size_t count = members_.size() - base;
    const Member* members = members_.data() + base;
    if (count <= kFewMembers) {
      for (size_t i = 1; i < count; ++i) {
        for (size_t j = 0; j < i; ++j) {
          if (members[i].tag() == members[j].tag() && *members[i].name == *members[j].name) {
            return true;
          }
        }
      }
      return false;
    }
    std::vector<std::string_view> keys;
    keys.reserve(count);
    for (size_t i = 0; i < count; ++i) keys.push_back(members[i].key());
    std::sort(keys.begin(), keys.end());
    return std::adjacent_find(keys.begin(), keys.end()) != keys.end();
  }

  // Keeps the last value of each name, at the place of the first, and reports the others.
  [[gnu::noinline]] void Deduplicate(size_t base, const Place* parent) {
    if (!HasDuplicates(base)) return;
    std::vector<size_t> order(members_.size() - base);
    for (size_t i = 0; i < order.size(); ++i) order[i] = base + i;
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      int c = members_[a].key().compare(members_[b].key());
      return c != 0 ? c < 0 : a < b;
    });
    std::vector<bool> drop(order.size());
    std::vector<size_t> repeated;
    for (size_t i = 1, first = 0; i < order.size(); ++i) {
      if (members_[order[i]].key() != members_[order[first]].key()) {
        first = i;
        continue;
      }
      members_[order[first]] = Member(members_[order[first]].name, members_[order[i]].value);
      drop[order[i] - base] = true;
      repeated.push_back(order[i]);
    }
    std::sort(repeated.begin(), repeated.end());
    for (size_t at : repeated) ReportDuplicate(parent, members_[at].key());
    size_t kept = base;
    for (size_t i = 0; i < drop.size(); ++i) {
      if (!drop[i]) members_[kept++] = members_[base + i];
    }
    members_.resize(kept);
  }

  void ReportDuplicate(const Place* parent, std::string_view key) {
    if (!options_.strict_errors || options_.strict_errors->size() >= kMaxStrictErrors) return;
    std::string path;
    if (parent) parent->AppendTo(path);
    if (!path.empty()) path += '.';
    path += key;
    std::string message = "duplicate field " + Quote(path);
    auto& errors = *options_.strict_errors;
    if (std::find(errors.begin(), errors.end(), message) == errors.end()) {
      errors.push_back(std::move(message));
    }
  }

  JsonReader& reader_;
  const JsonOptions& options_;
  std::string& error_;
  std::vector<Value> values_;
  std::vector<Member> members_;
};

}  // namespace

Value ReadJsonValue(JsonReader& reader, const JsonOptions& options, std::string& error) {
  return Parser(reader, options, error).Parse(nullptr);
}

Result<Document> ParseJson(std::string_view text, const JsonOptions& options) {
  ArenaRef arena = Arena::Make(text.size() * 4 + 256);
  JsonReader reader(*arena, text);
  std::string error;
  Value root = ReadJsonValue(reader, options, error);
  if (!reader.failed() && reader.Peek() != '\0') reader.Fail();
  if (reader.failed() || reader.position() != reader.end()) {
    return std::unexpected(Error{ErrorCode::kInvalid, JsonSyntaxError(text)});
  }
  if (!error.empty()) return std::unexpected(Error{ErrorCode::kInvalid, std::move(error)});
  return Document(root, std::move(arena));
}

}  // namespace keelson::value
