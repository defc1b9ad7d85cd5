// The check of applied configuration against its type. The sentences are upstream's, and name Go
// types where those do.

#include <vector>

#include "patch/go_text.h"
#include "patch/list_items.h"
#include "patch/typed.h"

namespace keelson::patch {
namespace {

using schema::PathElement;
using schema::TypeKind;
using value::Member;

class Checker {
 public:
  Checker(Arena& arena, Duplicates duplicates) : arena_(arena), duplicates_(duplicates) {}

  void At(const TypeView& type, const Value& value) {
    if (type.varies()) return;  // anything goes, and all the way down
    switch (type.ShapeOf(&value)) {
      case Shape::kMap:
      case Shape::kAtomicMap:
        return Map(type, value);
      case Shape::kList:
      case Shape::kAtomicList:
        return List(type, value);
      case Shape::kScalar:
        return Scalar(type.type()->kind, value);
    }
  }

  // All that was found, as one error; upstream prints several below each other.
  Result<void> Take() const {
    if (errors_.empty()) return {};
    if (errors_.size() == 1) return Fail(ErrorCode::kInvalid, "{}", errors_[0]);
    std::string all = "errors:";
    for (const std::string& error : errors_) all.append("\n  ").append(error);
    return std::unexpected(Error{ErrorCode::kInvalid, all});
  }

 private:
  void Map(const TypeView& type, const Value& map) {
    if (map.is_null()) return;
    if (!map.is_object()) return Report("expected map, got &{{{}}}", GoPlain(map));
    for (const Member& member : map.members()) {
      path_.push_back(PathElement::Field(member.key()));
      const schema::Field* field = type.FindField(*member.name);
      if (field) {
        At(TypeView(*field), member.value);
      } else if (!type.allows_unknown_fields()) {
        Report("field not declared in schema");
        path_.pop_back();
        return;
      } else {
        At(type.MapElement(), member.value);
      }
      path_.pop_back();
    }
  }

  void List(const TypeView& type, const Value& list) {
    if (list.is_null()) return;
    if (!list.is_list()) return Report("expected list, got &{{{}}}", GoPlain(list));
    if (type.ShapeOf(&list) == Shape::kAtomicList) {
      for (size_t i = 0; i < list.size(); ++i) {
        Item(PathElement::Index(static_cast<int64_t>(i)), type, list.items()[i]);
      }
      return;
    }
    auto items = ListItems::Make(arena_, type, &list);
    if (!items) {
      // The message already starts with the colon that follows a path.
      errors_.push_back(schema::PathToString(path_) + items.error().message);
      return;
    }
    for (size_t i = 0; i < items->size(); ++i) {
      if (duplicates_ == Duplicates::kRefused && items->Find(items->element(i))[0] != i) {
        std::string key;
        items->element(i).AppendTo(key);
        Report("duplicate entries for key {}", key);
      }
      Item(items->element(i), type, items->item(i));
    }
  }

  void Item(const PathElement& element, const TypeView& list, const Value& item) {
    path_.push_back(element);
    At(list.ListElement(), item);
    path_.pop_back();
  }

  void Scalar(TypeKind kind, const Value& value) {
    if (value.is_null()) return;
    switch (kind) {
      case TypeKind::kInt32:
      case TypeKind::kInt64:
      case TypeKind::kDouble:
        if (!value.is_number())
          Report("expected numeric (int or float), got {}", GoTypeName(value));
        return;
      case TypeKind::kString:
      case TypeKind::kBytes:
      case TypeKind::kDuration:
        if (!value.is_string()) {
          std::string got;
          AppendGoSyntax(got, value);
          Report("expected string, got &value.valueUnstructured{{Value:{}}}", got);
        }
        return;
      case TypeKind::kBool:
        if (!value.is_bool()) Report("expected boolean, got &{{{}}}", GoPlain(value));
        return;
      default:
        if (value.is_list() || value.is_object()) {
          Report("expected any scalar, got &{{{}}}", GoPlain(value));
        }
    }
  }

  template <typename... Args>
  void Report(fmt::format_string<Args...> format, Args&&... args) {
    std::string where = schema::PathToString(path_);
    if (!where.empty()) where += ": ";
    errors_.push_back(where + fmt::format(format, std::forward<Args>(args)...));
  }

  Arena& arena_;
  Duplicates duplicates_;
  std::vector<PathElement> path_;
  std::vector<std::string> errors_;
};

}  // namespace

Result<void> CheckTyped(Arena& arena, const schema::Type& type, const Value& object,
                        Duplicates duplicates) {
  Checker checker(arena, duplicates);
  checker.At(TypeView(type), object);
  return checker.Take();
}

}  // namespace keelson::patch
