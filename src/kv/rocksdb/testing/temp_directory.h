#pragma once

// A folder that is gone after the test.

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/result.h"

namespace keelson::kv::testing {

class TempDirectory {
 public:
  TempDirectory() : TempDirectory(std::filesystem::temp_directory_path().string()) {}
  explicit TempDirectory(const std::string& parent) {
    path_ = parent + "/keelson-test-XXXXXX";
    KEELSON_CHECK(mkdtemp(path_.data()) != nullptr);
  }
  ~TempDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace keelson::kv::testing
