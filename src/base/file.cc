#include "base/file.h"

#include <cerrno>
#include <fstream>

namespace keelson {

Result<std::string> ReadWholeFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return FailErrno(errno, "open " + path);
  std::string text;
  char piece[16 << 10];
  while (file.read(piece, sizeof piece) || file.gcount() > 0) {
    text.append(piece, static_cast<size_t>(file.gcount()));
    if (text.size() > kMaxWholeFile) {
      return Fail(ErrorCode::kTooLarge, "{} is larger than {} bytes", path, kMaxWholeFile);
    }
  }
  return text;
}

}  // namespace keelson
