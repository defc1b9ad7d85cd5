#include "value/document.h"

#include <algorithm>
#include <bit>

#include "value/json.h"

namespace keelson::value {

const Name* InternName(Arena& arena, std::string_view text) {
  if (!IsPlainJson(text)) {
    auto* name = static_cast<Name*>(arena.Allocate(sizeof(Name)));
    return new (name) Name(Name::Plain(arena.CopyString(text)));
  }
  auto* raw = static_cast<char*>(arena.Allocate(sizeof(Name) + text.size() + 3));
  char* quoted = raw + sizeof(Name);
  quoted[0] = '"';
  text.copy(quoted + 1, text.size());
  quoted[text.size() + 1] = '"';
  quoted[text.size() + 2] = ':';
  return new (raw) Name(Name::Quoted({quoted, text.size() + 3}));
}

const Name* Builder::Intern(std::string_view text) { return InternName(*arena_, text); }

Value Builder::List(std::span<const Value> items) {
  if (items.empty()) return Value::EmptyList();
  auto* copy = arena_->AllocateArray<Value>(items.size());
  for (size_t i = 0; i < items.size(); ++i) new (&copy[i]) Value(items[i].Shared());
  return Value::List({copy, items.size()});
}

Value Builder::Object(std::span<const Member> members) {
  if (members.empty()) return Value::EmptyObject();
  auto* copy = arena_->AllocateArray<Member>(members.size());
  for (size_t i = 0; i < members.size(); ++i) {
    new (&copy[i]) Member(members[i].name, members[i].value.Shared());
  }
  return Value::Object({copy, members.size()});
}

Value Builder::Adopt(const Document& other) {
  arena_->Borrow(other.arena());
  return other.root().Shared();
}

Value Builder::Clone(const Value& value) {
  switch (value.kind()) {
    case Kind::kString:
      return Value::String(arena_->CopyString(value.AsString()), value.plain());
    case Kind::kList: {
      auto items = value.items();
      if (items.empty()) return Value::EmptyList();
      auto* copy = arena_->AllocateArray<Value>(items.size());
      for (size_t i = 0; i < items.size(); ++i) new (&copy[i]) Value(Clone(items[i]));
      return Value::List({copy, items.size()});
    }
    case Kind::kObject: {
      auto members = value.members();
      if (members.empty()) return Value::EmptyObject();
      auto* copy = arena_->AllocateArray<Member>(members.size());
      for (size_t i = 0; i < members.size(); ++i) {
        new (&copy[i]) Member(Intern(members[i].key()), Clone(members[i].value));
      }
      return Value::Object({copy, members.size()});
    }
    default:
      return value.Shared();
  }
}

Document DeepCopy(const Value& value) {
  Builder builder;
  Value copy = builder.Clone(value);
  builder.root().Set(copy);
  return std::move(builder).Finish();
}

Value Ref::Get() const {
  // Whoever holds the copy sees this storage, so it must not be edited in place any more.
  slot_->unique_ = 0;
  return *slot_;
}

void Ref::Set(Value value) {
  uint16_t tag = slot_->tag_;
  *slot_ = value.Shared();
  slot_->tag_ = tag;
}

Member* Ref::OwnMembers(size_t extra) {
  if (!slot_->is_object()) Set(Value::EmptyObject());
  size_t size = slot_->size_;
  if (slot_->unique_ && size + extra <= size_t{1} << slot_->capacity_log2_) {
    return const_cast<Member*>(slot_->members_);
  }
  size_t capacity = std::bit_ceil(std::max<size_t>(size + extra, 4));
  auto* copy = builder_->arena_->AllocateArray<Member>(capacity);
  bool was_unique = slot_->unique_;
  for (size_t i = 0; i < size; ++i) {
    const Member& from = slot_->members_[i];
    new (&copy[i]) Member(from);
    if (!was_unique) copy[i].value.unique_ = 0;
  }
  slot_->members_ = copy;
  slot_->unique_ = 1;
  slot_->capacity_log2_ = static_cast<uint8_t>(std::countr_zero(capacity));
  return copy;
}

Value* Ref::OwnItems(size_t extra) {
  if (!slot_->is_list()) Set(Value::EmptyList());
  size_t size = slot_->size_;
  if (slot_->unique_ && size + extra <= size_t{1} << slot_->capacity_log2_) {
    return const_cast<Value*>(slot_->items_);
  }
  size_t capacity = std::bit_ceil(std::max<size_t>(size + extra, 4));
  auto* copy = builder_->arena_->AllocateArray<Value>(capacity);
  bool was_unique = slot_->unique_;
  for (size_t i = 0; i < size; ++i) {
    new (&copy[i]) Value(slot_->items_[i]);
    if (!was_unique) copy[i].unique_ = 0;
  }
  slot_->items_ = copy;
  slot_->unique_ = 1;
  slot_->capacity_log2_ = static_cast<uint8_t>(std::countr_zero(capacity));
  return copy;
}

std::optional<Ref> Ref::Find(const Name& name) {
  const Value* found = slot_->Find(name);
  if (!found) return std::nullopt;
  size_t index = static_cast<size_t>(reinterpret_cast<const char*>(found) -
                                     reinterpret_cast<const char*>(&slot_->members_[0].value)) /
                 sizeof(Member);
  return Ref(builder_, &OwnMembers(0)[index].value);
}

Ref Ref::Field(const Name& name) {
  if (auto found = Find(name)) return *found;
  size_t size = slot_->is_object() ? slot_->size_ : 0;
  InsertField(size, name, Value());
  return FieldAt(size);
}

Ref Ref::FieldOrNew(const Name& name) {
  if (auto found = Find(name)) return *found;
  return Field(*builder_->Intern(name.text()));
}

void Ref::InsertField(size_t position, const Name& name, Value value) {
  Member* members = OwnMembers(1);
  size_t size = slot_->size_;
  KEELSON_CHECK(position <= size);
  std::move_backward(members + position, members + size, members + size + 1);
  new (&members[position]) Member(&name, value.Shared());
  slot_->size_ = static_cast<uint32_t>(size + 1);
}

bool Ref::RemoveField(const Name& name) {
  auto members = slot_->members();
  for (size_t i = 0; i < members.size(); ++i) {
    if (members[i].tag() == name.tag() && *members[i].name == name) {
      RemoveFieldAt(i);
      return true;
    }
  }
  return false;
}

void Ref::RemoveFieldAt(size_t position) {
  Member* members = OwnMembers(0);
  KEELSON_CHECK(position < slot_->size_);
  std::move(members + position + 1, members + slot_->size_, members + position);
  --slot_->size_;
}

Ref Ref::FieldAt(size_t position) {
  Member* members = OwnMembers(0);
  KEELSON_CHECK(position < slot_->size_);
  return Ref(builder_, &members[position].value);
}

Ref Ref::Item(size_t index) {
  Value* items = OwnItems(0);
  KEELSON_CHECK(index < slot_->size_);
  return Ref(builder_, &items[index]);
}

void Ref::InsertItem(size_t position, Value value) {
  Value* items = OwnItems(1);
  size_t size = slot_->size_;
  KEELSON_CHECK(position <= size);
  std::move_backward(items + position, items + size, items + size + 1);
  new (&items[position]) Value(value.Shared());
  slot_->size_ = static_cast<uint32_t>(size + 1);
}

Ref Ref::Append(Value value) {
  size_t size = slot_->is_list() ? slot_->size_ : 0;
  InsertItem(size, value);
  return Item(size);
}

void Ref::RemoveItem(size_t index) {
  Value* items = OwnItems(0);
  KEELSON_CHECK(index < slot_->size_);
  std::move(items + index + 1, items + slot_->size_, items + index);
  --slot_->size_;
}

}  // namespace keelson::value
