#include "crypto/pem.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "base/ids.h"
#include "crypto/base64.h"

namespace keelson::crypto {
namespace {

constexpr std::string_view kBegin = "-----BEGIN ";
constexpr std::string_view kEnd = "-----END ";
constexpr std::string_view kDashes = "-----";
constexpr size_t kLineLength = 64;

bool IsSpace(char c) { return c == '\n' || c == '\r' || c == ' ' || c == '\t'; }

// Takes the line at the front of `text`, without its end and trailing white space.
std::string_view TakeLine(std::string_view& text) {
  size_t end = text.find('\n');
  auto line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  while (!line.empty() && IsSpace(line.back())) line.remove_suffix(1);
  return line;
}

// The label of a "-----BEGIN x-----" or "-----END x-----" line; empty when it is neither.
std::string_view Label(std::string_view line, std::string_view prefix) {
  if (!line.starts_with(prefix) || !line.ends_with(kDashes)) return {};
  line.remove_prefix(prefix.size());
  if (line.size() <= kDashes.size()) return {};
  line.remove_suffix(kDashes.size());
  return line;
}

Result<PemBlock> TakeBlock(std::string_view label, std::string_view& text) {
  std::string body;
  bool in_headers = true;  // "Proc-Type: 4,ENCRYPTED" and the like, up to an empty line
  while (!text.empty()) {
    auto line = TakeLine(text);
    if (line.starts_with(kDashes)) {
      if (Label(line, kEnd) != label) break;
      auto der = Base64Decode(body);
      if (!der) return Annotate(der.error(), fmt::format("PEM block {}", label));
      return PemBlock{std::string(label), *std::move(der)};
    }
    if (in_headers && line.find(':') != std::string_view::npos) {
      if (line.find("ENCRYPTED") != std::string_view::npos) {
        return Fail(ErrorCode::kUnsupported, "PEM block {} is encrypted", label);
      }
      continue;
    }
    in_headers = in_headers && line.empty();
    for (char c : line) {
      if (!IsSpace(c)) body.push_back(c);
    }
  }
  return Fail(ErrorCode::kInvalid, "PEM block {} has no end", label);
}

Result<void> WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FailErrno(errno, "writing");
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  if (::fdatasync(fd) != 0) return FailErrno(errno, "syncing");
  return {};
}

}  // namespace

Result<std::vector<PemBlock>> ParsePem(std::string_view text) {
  if (text.size() > kMaxPemSize)
    return Fail(ErrorCode::kTooLarge, "PEM text of {} bytes", text.size());
  std::vector<PemBlock> blocks;
  while (!text.empty()) {
    auto label = Label(TakeLine(text), kBegin);
    if (label.empty()) continue;
    if (blocks.size() == kMaxPemBlocks) return Fail(ErrorCode::kTooLarge, "too many PEM blocks");
    TRY(auto block, TakeBlock(label, text));
    blocks.push_back(std::move(block));
  }
  return blocks;
}

std::string EncodePem(std::string_view type, std::string_view der) {
  std::string out = fmt::format("{}{}{}\n", kBegin, type, kDashes);
  std::string body = Base64Encode(der);
  for (size_t i = 0; i < body.size(); i += kLineLength) {
    out.append(body, i, kLineLength);
    out.push_back('\n');
  }
  fmt::format_to(std::back_inserter(out), "{}{}{}\n", kEnd, type, kDashes);
  return out;
}

Result<std::string> ReadPemFile(const std::string& path) {
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    if (errno == ENOENT) return Fail(ErrorCode::kNotFound, "{}: no such file", path);
    return FailErrno(errno, fmt::format("opening {}", path));
  }
  std::string text;
  char buffer[16384];
  ssize_t n;
  while ((n = ::read(fd, buffer, sizeof buffer)) != 0 && text.size() <= kMaxPemSize) {
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) break;
    text.append(buffer, static_cast<size_t>(n));
  }
  int error = errno;
  ::close(fd);
  if (n < 0) return FailErrno(error, fmt::format("reading {}", path));
  if (text.size() > kMaxPemSize) return Fail(ErrorCode::kTooLarge, "{} is too large", path);
  return text;
}

Result<void> WriteFileAtomically(const std::string& path, std::string_view bytes,
                                 FileAccess access) {
  std::error_code folder_error;
  auto folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, folder_error);
  if (folder_error)
    return FailErrno(folder_error.value(), fmt::format("creating {}", folder.string()));

  // O_EXCL and a name that cannot be guessed: in a shared folder nobody can put a link in the way.
  auto temporary = fmt::format("{}.{}.tmp", path, RandomNameSuffix(12));
  auto mode = static_cast<mode_t>(access);
  int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
  if (fd < 0) return FailErrno(errno, fmt::format("creating {}", temporary));
  auto written = WriteAll(fd, bytes);
  if (::close(fd) != 0 && written) written = FailErrno(errno, "closing");
  if (written && ::rename(temporary.c_str(), path.c_str()) != 0) {
    written = FailErrno(errno, "renaming");
  }
  if (!written) {
    ::unlink(temporary.c_str());
    return Annotate(written.error(), path);
  }
  return {};
}

}  // namespace keelson::crypto
