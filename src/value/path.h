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
  explicit Path(std::string_view field) : count_(1) { steps_[0] = StepTo(field, Step::kField); }

  // The texts are borrowed.
  [[nodiscard]] Path Child(std::string_view name) const& [[clang::lifetimebound]] {
    return With(StepTo(name, Step::kField));
  }
  [[nodiscard]] Path Child(std::string_view name) && { return Push(StepTo(name, Step::kField)); }
  [[nodiscard]] Path Index(size_t index) const& [[clang::lifetimebound]] {
    return With({nullptr, static_cast<uint32_t>(index), Step::kIndex});
  }
  [[nodiscard]] Path Index(size_t index) && {
    return Push({nullptr, static_cast<uint32_t>(index), Step::kIndex});
  }
  // A map key or a list key: path[key].
  [[nodiscard]] Path Key(std::string_view key) const& [[clang::lifetimebound]] {
    return With(StepTo(key, Step::kKey));
  }
  [[nodiscard]] Path Key(std::string_view key) && { return Push(StepTo(key, Step::kKey)); }

  bool empty() const { return count_ == 0 && (!parent_ || parent_->empty()); }
  // The root itself renders as "<nil>", as upstream prints a nil path.
  std::string ToString() const;
  void AppendTo(std::string& out) const;

 private:
  struct Step {
    enum Type : uint8_t { kField, kIndex, kKey };
    const char* text;
    uint32_t number;  // the text's size, or the index
    Type type;
  };
  static Step StepTo(std::string_view text, Step::Type type) {
    return {text.data(), static_cast<uint32_t>(text.size()), type};
  }

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
  std::array<Step, kInline> steps_;  // the first count_ are set
};

}  // namespace keelson::value
