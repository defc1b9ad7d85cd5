#pragma once

// The body of /version: upstream's fields, Keelson's values.

#include <string>

namespace keelson::server {

struct VersionInfo {
  std::string major = "1";
  std::string minor = "36";
  std::string emulation_major = "1";
  std::string emulation_minor = "36";
  std::string min_compatibility_major = "1";
  std::string min_compatibility_minor = "35";
  // The API that is spoken, then whose server it is: clients compare the first part only.
  std::string git_version = "v1.36.4+keelson";
  std::string git_commit;
  std::string git_tree_state;
  std::string build_date = "1970-01-01T00:00:00Z";
  std::string go_version;  // the field is part of the API; there is no Go here
  std::string compiler = "clang";
  std::string platform = "linux/amd64";

  std::string ToJson() const;
};

// What this program was built as.
VersionInfo ThisVersion();

}  // namespace keelson::server
