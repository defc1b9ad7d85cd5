#include "kube/pod/spec_diff.h"

#include <string_view>

#include "base/unified_diff.h"
#include "schema/internal_form.h"

namespace keelson::kube::pod {
namespace {

void Break(std::string& out, size_t depth) {
  out += '\n';
  out.append(depth, ' ');
}

// One value per line, one space per level, as json.MarshalIndent does.
std::string Indent(std::string_view json) {
  std::string out;
  size_t depth = 0;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (c == '"') {
      const size_t start = i++;
      while (json[i] != '"') i += json[i] == '\\' ? 2 : 1;
      out += json.substr(start, i - start + 1);
    } else if (c == '{' || c == '[') {
      out += c;
      if (json[i + 1] == '}' || json[i + 1] == ']') {
        out += json[++i];
      } else {
        Break(out, ++depth);
      }
    } else if (c == '}' || c == ']') {
      Break(out, --depth);
      out += c;
    } else if (c == ',') {
      out += c;
      Break(out, depth);
    } else {
      out += c;
      if (c == ':') out += ' ';
    }
  }
  return out;
}

}  // namespace

std::string ShowChange(const schema::Type& type, const value::Value& before,
                       const value::Value& after) {
  return UnifiedDiff(Indent(schema::InternalForm(type, before)),
                     Indent(schema::InternalForm(type, after)));
}

}  // namespace keelson::kube::pod
