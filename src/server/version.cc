#include "server/version.h"

#include <fmt/format.h>

#include <utility>

#include "base/status.h"

namespace keelson::server {

std::string VersionInfo::ToJson() const {
  std::string out = "{";
  for (const auto& [key, value] : {
           std::pair<std::string_view, const std::string&>{"major", major},
           {"minor", minor},
           {"emulationMajor", emulation_major},
           {"emulationMinor", emulation_minor},
           {"minCompatibilityMajor", min_compatibility_major},
           {"minCompatibilityMinor", min_compatibility_minor},
           {"gitVersion", git_version},
           {"gitCommit", git_commit},
           {"gitTreeState", git_tree_state},
           {"buildDate", build_date},
           {"goVersion", go_version},
           {"compiler", compiler},
           {"platform", platform},
       }) {
    if (out.size() > 1) out += ',';
    AppendJsonString(out, key);
    out += ':';
    AppendJsonString(out, value);
  }
  return out + "}";
}

VersionInfo ThisVersion() {
  VersionInfo version;
  version.compiler =
      fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#if defined(__aarch64__)
  version.platform = "linux/arm64";
#endif
  return version;
}

}  // namespace keelson::server
