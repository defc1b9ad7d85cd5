#pragma once

// Path: where in an object something is, spelt as upstream spells it: spec.containers[0].name,
// metadata.annotations[example.com/a].
//
// A path is a linked list on the stack: each step refers to its parent, costs nothing to make and
// is rendered only when an error is reported. A step made from a named Path must not outlive it;
// chained steps (path.Child("a").Index(1)) are held inside the result, up to kInline of them.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace keelson::value {

class Path {
 public:
  static constexpr size_t kInline = 4;

  Path() = default;
  // A path of one step, from the root.
  explicit Path(std::string_view field) { Push({field.data(), field.size(), Step::kField}); }

  // The texts are borrowed.
  [[nodiscard]] Path Child(std::string_view name) const& [[clang::lifetimebound]] {
    return With({name.data(), name.size(), Step::kField});
  }
  [[nodiscard]] Path Child(std::string_view name) && {
    return Push({name.data(), name.size(), Step::kField});
  }
  [[nodiscard]] Path Index(size_t index) const& [[clang::lifetimebound]] {
    return With({nullptr, index, Step::kIndex});
  }
  [[nodiscard]] Path Index(size_t index) && { return Push({nullptr, index, Step::kIndex}); }
  // A map key or a list key: path[key].
  [[nodiscard]] Path Key(std::string_view key) const& [[clang::lifetimebound]] {
    return With({key.data(), key.size(), Step::kKey});
  }
  [[nodiscard]] Path Key(std::string_view key) && {
    return Push({key.data(), key.size(), Step::kKey});
  }

  bool empty() const { return count_ == 0 && (!parent_ || parent_->empty()); }
  // The root itself renders as "<nil>", as upstream prints a nil path.
  std::string ToString() const;
  void AppendTo(std::string& out) const;

 private:
  struct Step {
    enum Type : uint8_t { kField, kIndex, kKey };
    const char* text = nullptr;
    size_t number = 0;  // the text's size, or the index
    Type type = kField;
  };

  Path With(Step step) const {
    Path path;
    path.parent_ = this;
    path.steps_[0] = step;
    path.count_ = 1;
    return path;
  }
  Path& Push(Step step);

  const Path* parent_ = nullptr;
  uint32_t count_ = 0;
  std::array<Step, kInline> steps_;
};

}  // namespace keelson::value
