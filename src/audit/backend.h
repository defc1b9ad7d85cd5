#pragma once

// The seam to the audit log: told about every request, at the stages upstream defines.
//
// Order guarantees, kept by the server: Start returns before the first request is accepted;
// Shutdown is called once, after the last request has been drained, and no Record follows it.
// Record is called from every io thread and must not block.

#include <memory>
#include <string_view>

#include "auth/user.h"
#include "base/clock.h"
#include "base/result.h"
#include "base/task.h"

namespace keelson::audit {

enum class Stage : uint8_t { kRequestReceived, kResponseStarted, kResponseComplete, kPanic };

// What is known about a request at a stage. Views are valid during Record only.
struct Event {
  Stage stage = Stage::kRequestReceived;
  std::string_view audit_id;
  std::string_view verb;
  std::string_view uri;
  std::string_view source_address;
  std::string_view user_agent;
  std::string_view group;
  std::string_view version;
  std::string_view ns;
  std::string_view resource;
  std::string_view subresource;
  std::string_view name;
  auth::UserPtr user;
  int code = 0;  // from kResponseStarted on
  WallTime received;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual Result<void> Start() = 0;
  virtual void Record(const Event& event) = 0;
  // False when no event would be kept, so that none needs to be made.
  virtual bool enabled() const { return true; }
  // Writes out what is buffered.
  virtual Task<void> Shutdown() = 0;
};

// Keeps nothing.
class NoAudit final : public Backend {
 public:
  Result<void> Start() override { return {}; }
  void Record(const Event&) override {}
  bool enabled() const override { return false; }
  Task<void> Shutdown() override { co_return; }
};

}  // namespace keelson::audit
