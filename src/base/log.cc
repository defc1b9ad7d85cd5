#include "base/log.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstring>
#include <mutex>

namespace keelson::log {
namespace internal {

std::atomic<int> verbosity{0};

namespace {

struct SinkSlot {
  std::mutex mutex;
  Sink sink;
};

SinkSlot& GetSinkSlot() {
  static SinkSlot* slot = new SinkSlot;  // outlives every thread that may still log
  return *slot;
}

std::string_view BaseName(const char* path) {
  const char* slash = std::strrchr(path, '/');
  return slash ? slash + 1 : path;
}

void AppendHeader(fmt::memory_buffer& line, Severity severity, std::source_location where) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  tm local{};
  localtime_r(&now.tv_sec, &local);
  static const pid_t pid = getpid();
  fmt::format_to(std::back_inserter(line), "{}{:02}{:02} {:02}:{:02}:{:02}.{:06} {:7} {}:{}] ",
                 static_cast<char>(severity), local.tm_mon + 1, local.tm_mday, local.tm_hour,
                 local.tm_min, local.tm_sec, now.tv_nsec / 1000, pid, BaseName(where.file_name()),
                 where.line());
}

void Emit(fmt::memory_buffer& line) {
  line.push_back('\n');
  auto& slot = GetSinkSlot();
  std::lock_guard lock(slot.mutex);
  if (slot.sink) {
    slot.sink({line.data(), line.size()});
    return;
  }
  const char* data = line.data();
  size_t left = line.size();
  while (left > 0) {
    ssize_t written = write(STDERR_FILENO, data, left);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // nobody left to tell
    data += written;
    left -= static_cast<size_t>(written);
  }
}

// Quoted as Go's %q quotes: control characters never reach the log raw, so a client cannot forge
// lines.
void AppendQuoted(fmt::memory_buffer& line, std::string_view text) {
  auto out = std::back_inserter(line);
  line.push_back('"');
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      line.push_back('\\');
      line.push_back(c);
    } else if (c == '\n') {
      line.append(std::string_view("\\n"));
    } else if (c == '\t') {
      line.append(std::string_view("\\t"));
    } else if (byte < 0x20 || byte == 0x7f) {
      fmt::format_to(out, "\\x{:02x}", byte);
    } else {
      line.push_back(c);
    }
  }
  line.push_back('"');
}

}  // namespace

void Write(Severity severity, std::source_location where, std::string_view message) {
  fmt::memory_buffer line;
  AppendHeader(line, severity, where);
  for (char c : message) line.push_back(c == '\n' || c == '\r' ? ' ' : c);
  Emit(line);
}

void WriteStructured(Severity severity, MessageAt message, std::initializer_list<KeyValue> pairs) {
  fmt::memory_buffer line;
  AppendHeader(line, severity, message.where);
  AppendQuoted(line, message.text);
  for (const auto& pair : pairs) {
    line.push_back(' ');
    line.append(pair.key);
    line.push_back('=');
    AppendQuoted(line, pair.value);
  }
  Emit(line);
}

}  // namespace internal

int Verbosity() { return internal::verbosity.load(std::memory_order_relaxed); }
void SetVerbosity(int level) { internal::verbosity.store(level, std::memory_order_relaxed); }

Sink SetSink(Sink sink) {
  auto& slot = internal::GetSinkSlot();
  std::lock_guard lock(slot.mutex);
  return std::exchange(slot.sink, std::move(sink));
}

struct CaptureState {
  std::mutex mutex;
  std::string text;
};

Capture::Capture() : state_(std::make_shared<CaptureState>()) {
  previous_ = SetSink([state = state_](std::string_view line) {
    std::lock_guard lock(state->mutex);
    state->text += line;
  });
}

Capture::~Capture() { SetSink(std::move(previous_)); }

std::string Capture::text() const {
  std::lock_guard lock(state_->mutex);
  return state_->text;
}

}  // namespace keelson::log
