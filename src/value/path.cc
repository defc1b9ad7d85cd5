#include "value/path.h"

#include "base/result.h"

namespace keelson::value {

Path& Path::Push(Step step) {
  KEELSON_CHECK(count_ < kInline);
  steps_[count_++] = step;
  return *this;
}

void Path::AppendTo(std::string& out) const {
  if (parent_) parent_->AppendTo(out);
  for (uint32_t i = 0; i < count_; ++i) {
    const Step& step = steps_[i];
    switch (step.type) {
      case Step::kField:
        if (!out.empty()) out += '.';
        // Upstream's path of no name, for what concerns the whole object.
        if (step.number == 0) out += "[]";
        out.append(step.text, step.number);
        break;
      case Step::kIndex:
        out += '[' + std::to_string(step.number) + ']';
        break;
      case Step::kKey:
        out += '[';
        out.append(step.text, step.number);
        out += ']';
        break;
    }
  }
}

std::string Path::ToString() const {
  if (empty()) return "<nil>";
  std::string out;
  AppendTo(out);
  return out;
}

}  // namespace keelson::value
