#include <algorithm>

#include "base/quote.h"
#include "schema/transform.h"
#include "value/path.h"

namespace keelson::schema {

using value::Arena;
using value::Document;
using value::Member;
using value::Path;
using value::Value;

namespace {

class Pruner {
 public:
  Pruner(Arena& arena, std::vector<std::string>* unknown) : arena_(arena), unknown_(unknown) {}

  Value Walk(const Type& type, const Value& value, const Path& path, bool resource) {
    switch (type.kind) {
      case TypeKind::kStruct:
        if (value.is_object()) return Struct(type, value, path, resource);
        break;
      case TypeKind::kMap:
        if (value.is_object() && type.element) return Map(type, value, path);
        break;
      case TypeKind::kList:
        if (value.is_list() && type.element) return List(type, value, path);
        break;
      default:
        break;
    }
    return value.Shared();
  }

 private:
  static bool IsResourceField(std::string_view name) {
    return name == "apiVersion" || name == "kind" || name == "metadata";
  }

  Value Struct(const Type& type, const Value& value, const Path& path, bool resource) {
    bool preserve = type.Has(Type::kPreserveUnknown);
    auto members = value.members();
    std::vector<Member> kept;
    bool changed = false;
    for (const Member& member : members) {
      const Field* field = type.Find(*member.name);
      if (resource && IsResourceField(member.key())) {
        kept.push_back(member);
        continue;
      }
      if (!field) {
        if (preserve) {
          kept.push_back(member);
          continue;
        }
        Report(path, member.key());
        changed = true;
        continue;
      }
      Path inner = path.Child(member.key());
      Value walked =
          Walk(*field->type, member.value, inner, field->type->Has(Type::kEmbeddedResource));
      changed |= !Same(walked, member.value);
      kept.emplace_back(member.name, walked);
    }
    return changed ? Copy(kept) : value.Shared();
  }

  Value Map(const Type& type, const Value& value, const Path& path) {
    std::vector<Member> kept;
    bool changed = false;
    for (const Member& member : value.members()) {
      Path inner = path.Child(member.key());
      Value walked =
          Walk(*type.element, member.value, inner, type.element->Has(Type::kEmbeddedResource));
      changed |= !Same(walked, member.value);
      kept.emplace_back(member.name, walked);
    }
    return changed ? Copy(kept) : value.Shared();
  }

  Value List(const Type& type, const Value& value, const Path& path) {
    std::vector<Value> items;
    bool changed = false;
    for (size_t i = 0; i < value.items().size(); ++i) {
      const Value& item = value.items()[i];
      Path inner = path.Index(i);
      Value walked = Walk(*type.element, item, inner, type.element->Has(Type::kEmbeddedResource));
      changed |= !Same(walked, item);
      items.push_back(walked);
    }
    if (!changed) return value.Shared();
    auto* copy = arena_.AllocateArray<Value>(items.size());
    std::copy(items.begin(), items.end(), copy);
    return Value::List({copy, items.size()});
  }

  static bool Same(const Value& a, const Value& b) {
    if (a.kind() != b.kind() || a.size() != b.size()) return false;
    if (a.is_object()) return a.members().data() == b.members().data();
    if (a.is_list()) return a.items().data() == b.items().data();
    return true;  // scalars are never changed
  }

  Value Copy(const std::vector<Member>& members) {
    if (members.empty()) return Value::EmptyObject();
    auto* copy = arena_.AllocateArray<Member>(members.size());
    std::copy(members.begin(), members.end(), copy);
    return Value::Object({copy, members.size()});
  }

  void Report(const Path& path, std::string_view name) {
    if (!unknown_) return;
    std::string text;
    path.AppendTo(text);
    if (!text.empty()) text += '.';
    text += name;
    unknown_->push_back("unknown field " + Quote(text));
  }

  Arena& arena_;
  std::vector<std::string>* unknown_;
};

bool IsStrayNull(const Type& type, const Value& value, bool has_default) {
  return value.is_null() && !type.Has(Type::kNullable) && !has_default;
}

Value WithoutNulls(const Type& type, const Value& value, Arena& arena) {
  if (value.is_list() && type.element) {
    std::vector<Value> items;
    for (const Value& item : value.items())
      items.push_back(WithoutNulls(*type.element, item, arena));
    auto* copy = arena.AllocateArray<Value>(items.size());
    std::copy(items.begin(), items.end(), copy);
    return Value::List({copy, items.size()});
  }
  if (!value.is_object()) return value.Shared();
  std::vector<Member> kept;
  for (const Member& member : value.members()) {
    const Field* field = type.kind == TypeKind::kStruct ? type.Find(*member.name) : nullptr;
    const Type* inner = field ? field->type : type.kind == TypeKind::kMap ? type.element : nullptr;
    if (!inner) {
      kept.push_back(member);
    } else if (!IsStrayNull(*inner, member.value, field && field->Has(Field::kDefault))) {
      kept.emplace_back(member.name, WithoutNulls(*inner, member.value, arena));
    }
  }
  if (kept.empty()) return Value::EmptyObject();
  auto* copy = arena.AllocateArray<Member>(kept.size());
  std::copy(kept.begin(), kept.end(), copy);
  return Value::Object({copy, kept.size()});
}

bool HasNull(const Value& value) {
  if (value.is_null()) return true;
  if (value.is_list()) return std::any_of(value.items().begin(), value.items().end(), HasNull);
  return std::any_of(value.members().begin(), value.members().end(),
                     [](const Member& member) { return HasNull(member.value); });
}

}  // namespace

Value PruneNulls(const Type& type, const Value& value, Arena& arena) {
  return HasNull(value) ? WithoutNulls(type, value, arena) : value.Shared();
}

void PruneNulls(const Type& type, Document& object) {
  object = object.Part(PruneNulls(type, object.root(), *object.arena()));
}

Value Prune(const Type& type, const Value& value, Arena& arena, std::vector<std::string>* unknown) {
  return Pruner(arena, unknown).Walk(type, value, Path(), true);
}

void Prune(const Type& type, Document& object, std::vector<std::string>* unknown) {
  object = object.Part(Prune(type, object.root(), *object.arena(), unknown));
}

}  // namespace keelson::schema
