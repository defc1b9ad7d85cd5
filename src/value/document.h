#pragma once

// Document: a finished tree. Builder: a tree being made or edited.
//
// A Document is a root Value and the arena that keeps it alive; copying one is a counter's
// increment, and any number of threads may read it. A Builder starts empty or from a Document and
// copies on write: editing spec.replicas copies the member arrays of the root and of spec, all
// else stays shared with the old tree. Edits to what the builder has made itself happen in place.
//
//   Builder builder(old);
//   builder.root().Field("spec").SetField("replicas", Value::Int(3));
//   Document changed = std::move(builder).Finish();
//
// A tree borrows the arenas of the trees it shares with, so a long chain of edits should once in a
// while be cut with DeepCopy. Builders are for one thread.

#include <optional>
#include <span>
#include <string_view>

#include "value/arena.h"
#include "value/value.h"

namespace keelson::value {

class Document {
 public:
  Document() = default;
  Document(Value root, ArenaRef arena) : root_(root.Shared()), arena_(std::move(arena)) {}

  const Value& root() const { return root_; }
  const Value* operator->() const { return &root_; }
  const ArenaRef& arena() const { return arena_; }
  // A part of this tree as a document of its own; shares everything.
  Document Part(Value value) const { return Document(value, arena_); }

 private:
  Value root_;
  ArenaRef arena_;
};

class Builder;

// A place in a builder's tree. Adding to or removing from a container, or taking its value out with
// Get, invalidates the Refs to everything below it, so take them anew after that.
class Ref {
 public:
  // What stands here now; safe to keep and to put elsewhere.
  Value Get() const;
  // Puts a value here. It must live in the builder's arena, in one it borrows, or in constants.
  void Set(Value value);

  // The member of that name, added as null when absent. Turns null into an object; anything else
  // that is not an object is replaced by one.
  Ref Field(const Name& name);
  Ref Field(std::string_view name) { return FieldOrNew(Name::Plain(name)); }
  // The member of that name, ready to be edited; nothing when absent.
  std::optional<Ref> Find(const Name& name);
  std::optional<Ref> Find(std::string_view name) { return Find(Name::Plain(name)); }
  void SetField(const Name& name, Value value) { Field(name).Set(value); }
  void SetField(std::string_view name, Value value) { Field(name).Set(value); }
  // Puts the member at `position`, moving later ones back. The name must not be present.
  void InsertField(size_t position, const Name& name, Value value);
  // Returns whether there was one.
  bool RemoveField(const Name& name);
  bool RemoveField(std::string_view name) { return RemoveField(Name::Plain(name)); }
  void RemoveFieldAt(size_t position);
  Ref FieldAt(size_t position);

  // List access; the index must be in range.
  Ref Item(size_t index);
  Ref Append(Value value);
  void InsertItem(size_t position, Value value);
  void RemoveItem(size_t index);

  Kind kind() const { return slot_->kind(); }
  size_t size() const { return slot_->size(); }
  Builder& builder() const { return *builder_; }

 private:
  friend class Builder;
  Ref(Builder* builder, Value* slot) : builder_(builder), slot_(slot) {}

  // The same as Field, for a name that may not outlive the call.
  Ref FieldOrNew(const Name& name);
  // Makes the storage behind the slot this builder's own, with room for `extra` more entries.
  Member* OwnMembers(size_t extra);
  Value* OwnItems(size_t extra);

  Builder* builder_;
  Value* slot_;
};

class Builder {
 public:
  explicit Builder(size_t size_hint = 2048) : arena_(Arena::Make(size_hint)) {}
  explicit Builder(const Document& from, size_t size_hint = 2048) : Builder(size_hint) {
    root_ = Adopt(from);
  }
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  Ref root() { return Ref(this, &root_); }
  Arena& arena() { return *arena_; }

  // Values in this builder's arena.
  Value String(std::string_view text) { return Value::String(arena_->CopyString(text)); }
  Value List(std::span<const Value> items);
  Value Object(std::span<const Member> members);
  const Name* Intern(std::string_view text);
  // Borrows the other tree's arena; its root may then be set anywhere here.
  Value Adopt(const Document& other);
  // A copy that borrows nothing.
  Value Clone(const Value& value);

  // The tree as it is now. It shares the builder's arena, so the builder goes on without copying
  // more than what it edits.
  Document Snapshot() { return Document(root().Get(), arena_); }
  // The finished tree. The builder is spent.
  Document Finish() && { return Document(root_, std::move(arena_)); }

 private:
  friend class Ref;
  ArenaRef arena_;
  Value root_;
};

// A copy in an arena of its own that borrows nothing.
Document DeepCopy(const Value& value);

// Copies `text` into the arena as a Name, in the form that encodes fastest.
const Name* InternName(Arena& arena, std::string_view text);

}  // namespace keelson::value
