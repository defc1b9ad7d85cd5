#include "value/projection.h"

#include <algorithm>
#include <charconv>

namespace keelson::value {
namespace {

// Depth up to which a projected tree is read; what is deeper reads as null.
constexpr int kMaxDepth = 64;

// Gathers the entries of one container on the stack, then moves them to the arena at once.
template <typename T>
class Gathered {
 public:
  void Add(T entry) {
    if (size_ < kInline) {
      first_[size_++] = entry;
    } else {
      if (more_.empty()) more_.assign(first_, first_ + kInline);
      more_.push_back(entry);
    }
  }
  std::span<const T> MoveTo(Arena& arena) const {
    std::span<const T> all =
        more_.empty() ? std::span<const T>(first_, size_) : std::span<const T>(more_);
    auto* copy = arena.AllocateArray<T>(all.size());
    std::ranges::copy(all, copy);
    return {copy, all.size()};
  }

 private:
  static constexpr size_t kInline = 8;
  T first_[kInline];
  size_t size_ = 0;
  std::vector<T> more_;
};

Value ReadScalar(JsonCursor& cursor, Arena& arena) {
  if (cursor.Peek() == '"') return Value::String(Decoded(cursor.TakeString(), arena));
  const auto text = cursor.TakeScalar();
  if (text == "true" || text == "false") return Value::Bool(text == "true");
  int64_t integer = 0;
  const char* end = text.data() + text.size();
  if (auto [at, error] = std::from_chars(text.data(), end, integer);
      error == std::errc() && at == end) {
    return Value::Int(integer);
  }
  double real = 0;
  if (auto [at, error] = std::from_chars(text.data(), end, real);
      error == std::errc() && at == end) {
    return Value::Double(real);
  }
  return Value::Null();
}

Value ReadWhole(JsonCursor& cursor, Arena& arena, int depth) {
  if (depth > kMaxDepth) {
    cursor.Skip();
    return Value::Null();
  }
  if (cursor.Peek() == '{') {
    Gathered<Member> members;
    for (bool more = cursor.Enter('{'); more; more = cursor.Next('}')) {
      const auto key = Decoded(cursor.TakeKey(), arena);
      const auto* name = new (arena.Allocate(sizeof(Name))) Name(Name::Plain(key));
      members.Add({name, ReadWhole(cursor, arena, depth + 1)});
    }
    return Value::Object(members.MoveTo(arena));
  }
  if (cursor.Peek() == '[') {
    Gathered<Value> items;
    for (bool more = cursor.Enter('['); more; more = cursor.Next(']')) {
      items.Add(ReadWhole(cursor, arena, depth + 1));
    }
    return Value::List(items.MoveTo(arena));
  }
  return ReadScalar(cursor, arena);
}

}  // namespace

struct Projection::Part {
  explicit Part(std::string_view text)
      : quoted('"' + std::string(text) + "\":"), name(Name::Quoted(quoted)) {}

  Part& Child(std::string_view text) {
    for (auto& part : parts) {
      if (part->name == text) return *part;
    }
    return *parts.emplace_back(std::make_unique<Part>(text));
  }

  const std::string quoted;
  const Name name;
  bool whole = false;
  std::vector<std::unique_ptr<Part>> parts;
};

Projection::Projection(std::span<const std::string_view> paths)
    : root_(std::make_unique<Part>("")) {
  for (auto path : paths) {
    Part* part = root_.get();
    for (;;) {
      const auto dot = path.find('.');
      part = &part->Child(path.substr(0, dot));
      if (dot == std::string_view::npos) break;
      path.remove_prefix(dot + 1);
    }
    part->whole = true;
  }
}

Projection::~Projection() = default;
Projection::Projection(Projection&&) noexcept = default;

Value Projection::Read(std::string_view json, Arena& arena, std::string_view* metadata) const {
  JsonCursor cursor(json);
  return ReadObject(*root_, cursor, arena, metadata);
}

Value Projection::ReadObject(const Part& part, JsonCursor& cursor, Arena& arena,
                             std::string_view* metadata) {
  if (cursor.Peek() != '{') {
    cursor.Skip();
    return Value::Null();
  }
  Gathered<Member> members;
  for (bool more = cursor.Enter('{'); more; more = cursor.Next('}')) {
    const auto key = cursor.TakeKey().raw;
    const char* start = cursor.position();
    const auto wanted = std::ranges::find_if(
        part.parts, [&](const auto& candidate) { return candidate->name == key; });
    if (wanted != part.parts.end()) {
      members.Add({&(*wanted)->name, ReadPart(**wanted, cursor, arena)});
    } else {
      cursor.Skip();
    }
    if (metadata != nullptr && key == "metadata") {
      *metadata = {start, static_cast<size_t>(cursor.position() - start)};
    }
  }
  return Value::Object(members.MoveTo(arena));
}

Value Projection::ReadPart(const Part& part, JsonCursor& cursor, Arena& arena) {
  if (part.whole) return ReadWhole(cursor, arena, 0);
  if (cursor.Peek() != '[') return ReadObject(part, cursor, arena, nullptr);
  Gathered<Value> items;
  for (bool more = cursor.Enter('['); more; more = cursor.Next(']')) {
    items.Add(ReadObject(part, cursor, arena, nullptr));
  }
  return Value::List(items.MoveTo(arena));
}

}  // namespace keelson::value
