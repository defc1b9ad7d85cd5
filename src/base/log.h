#pragma once

// Logging in klog's line format, the one Kubernetes operators and their tooling know:
//
//   I1115 20:48:53.123456   12345 lifecycle.cc:42] "shutdown event" name="ShutdownInitiated"
//
// Structured calls (InfoS, ErrorS) take a message and key/value pairs; verbosity 0 is always
// written, V(n) gates the rest. A line is one write(2) to stderr; a sink can be put in its place
// by tests. Never pass a secret: values are written as they are.

#include <fmt/format.h>

#include <atomic>
#include <functional>
#include <initializer_list>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace keelson::log {

enum class Severity : char { kInfo = 'I', kWarning = 'W', kError = 'E', kFatal = 'F' };

// One key="value" pair; the value is rendered when the pair is made.
struct KeyValue {
  std::string_view key;
  std::string value;
  template <typename T>
  KeyValue(std::string_view k, const T& v) : key(k), value(fmt::format("{}", v)) {}
};

// A format string that also remembers where the call stands.
template <typename... Args>
struct FormatAt {
  fmt::format_string<Args...> format;
  std::source_location where;
  template <typename S>
  consteval FormatAt(const S& s, std::source_location w = std::source_location::current())
      : format(s), where(w) {}
};

struct MessageAt {
  std::string_view text;
  std::source_location where;
  MessageAt(const char* t, std::source_location w = std::source_location::current())
      : text(t), where(w) {}
  MessageAt(const std::string& t, std::source_location w = std::source_location::current())
      : text(t), where(w) {}
};

namespace internal {
extern std::atomic<int> verbosity;
void Write(Severity severity, std::source_location where, std::string_view message);
void WriteStructured(Severity severity, MessageAt message, std::initializer_list<KeyValue> pairs);
}  // namespace internal

// True when lines of this verbosity are wanted: if (log::V(2)) log::InfoS(...);
inline bool V(int level) { return level <= internal::verbosity.load(std::memory_order_relaxed); }
int Verbosity();
void SetVerbosity(int level);

template <typename... Args>
void Info(FormatAt<std::type_identity_t<Args>...> at, Args&&... args) {
  internal::Write(Severity::kInfo, at.where, fmt::format(at.format, std::forward<Args>(args)...));
}
template <typename... Args>
void Warning(FormatAt<std::type_identity_t<Args>...> at, Args&&... args) {
  internal::Write(Severity::kWarning, at.where,
                  fmt::format(at.format, std::forward<Args>(args)...));
}
template <typename... Args>
void Error(FormatAt<std::type_identity_t<Args>...> at, Args&&... args) {
  internal::Write(Severity::kError, at.where, fmt::format(at.format, std::forward<Args>(args)...));
}

inline void InfoS(MessageAt message, std::initializer_list<KeyValue> pairs = {}) {
  internal::WriteStructured(Severity::kInfo, message, pairs);
}
inline void WarningS(MessageAt message, std::initializer_list<KeyValue> pairs = {}) {
  internal::WriteStructured(Severity::kWarning, message, pairs);
}
inline void ErrorS(MessageAt message, std::initializer_list<KeyValue> pairs = {}) {
  internal::WriteStructured(Severity::kError, message, pairs);
}

// Receives whole lines, newline included. Passing nullptr restores stderr. Returns the former one.
using Sink = std::function<void(std::string_view line)>;
Sink SetSink(Sink sink);

// Collects lines for the life of the object; for tests.
class Capture {
 public:
  Capture();
  ~Capture();
  std::string text() const;

 private:
  std::shared_ptr<struct CaptureState> state_;
  Sink previous_;
};

}  // namespace keelson::log
