#include "server/hooks.h"

#include <algorithm>
#include <exception>
#include <optional>

#include "base/log.h"
#include "base/quote.h"

namespace keelson::server {
namespace {

std::string PlaceOf(const std::source_location& where) {
  return fmt::format("{}:{} ({})", where.file_name(), where.line(), where.function_name());
}

// Runs a hook to its end. An exception is contained: it is the hook's accident, not its decision
// to end the server.
Task<Result<void>> RunContained(std::string_view kind, std::string name,
                                Task<Result<void>> running) {
  try {
    co_return co_await std::move(running);
  } catch (const std::exception& e) {
    log::ErrorS("Observed an exception", {{"hook", kind}, {"name", name}, {"exception", e.what()}});
  } catch (...) {
    log::ErrorS("Observed an exception", {{"hook", kind}, {"name", name}});
  }
  co_return Result<void>();
}

// A hook may throw before its coroutine exists; that is contained alike.
template <typename Hook, typename... Args>
Task<Result<void>> Begin(const Hook& hook, Args... args) {
  co_return co_await hook(std::move(args)...);
}

Task<void> RunPostStart(PostStartHooks::Entry entry, PostStartHookContext context,
                        PostStartHooks::Fatal fatal) {
  auto result =
      co_await RunContained("PostStartHook", entry.name, Begin(entry.hook, std::move(context)));
  if (!result) {
    fatal(fmt::format("PostStartHook {} failed: {}", Quote(entry.name), result.error().message));
    co_return;
  }
  entry.done->store(true, std::memory_order_release);
}

}  // namespace

Result<std::shared_ptr<std::atomic<bool>>> PostStartHooks::Add(std::string name, PostStartHook hook,
                                                               std::source_location where) {
  if (name.empty()) return Fail(ErrorCode::kInvalid, "missing name");
  if (!hook) return Fail(ErrorCode::kInvalid, "hook func may not be nil: {}", Quote(name));
  if (disabled_.contains(name)) {
    if (log::V(1)) log::Info("skipping {} because it was explicitly disabled", Quote(name));
    return std::shared_ptr<std::atomic<bool>>();
  }
  std::lock_guard lock(mutex_);
  if (called_) {
    return Fail(ErrorCode::kConflict,
                "unable to add {} because PostStartHooks have already been called", Quote(name));
  }
  for (const auto& entry : entries_) {
    if (entry.name == name) {
      return Fail(ErrorCode::kAlreadyExists,
                  "unable to add {} because it was already registered by: {}", Quote(name),
                  PlaceOf(entry.registered_at));
    }
  }
  entries_.push_back({.name = std::move(name), .hook = std::move(hook), .registered_at = where});
  return entries_.back().done;
}

void PostStartHooks::Inherit(const Entry& entry) {
  std::lock_guard lock(mutex_);
  bool taken = std::any_of(entries_.begin(), entries_.end(),
                           [&](const Entry& own) { return own.name == entry.name; });
  if (!taken) entries_.push_back(entry);
}

bool PostStartHooks::Has(std::string_view name) const {
  std::lock_guard lock(mutex_);
  return std::any_of(entries_.begin(), entries_.end(),
                     [&](const Entry& entry) { return entry.name == name; });
}

std::vector<PostStartHooks::Entry> PostStartHooks::entries() const {
  std::lock_guard lock(mutex_);
  return entries_;
}

void PostStartHooks::Run(Gate& gate, Executor& executor, PostStartHookContext context,
                         Fatal fatal) {
  std::vector<Entry> entries;
  {
    std::lock_guard lock(mutex_);
    called_ = true;
    entries = entries_;
  }
  for (auto& entry : entries) {
    gate.Spawn(&executor, RunPostStart(std::move(entry), context, fatal));
  }
}

Result<void> PreShutdownHooks::Add(std::string name, PreShutdownHook hook) {
  if (name.empty()) return Fail(ErrorCode::kInvalid, "missing name");
  if (!hook) return {};
  std::lock_guard lock(mutex_);
  if (called_) {
    return Fail(ErrorCode::kConflict,
                "unable to add {} because PreShutdownHooks have already been called", Quote(name));
  }
  for (const auto& entry : entries_) {
    if (entry.first == name) {
      return Fail(ErrorCode::kAlreadyExists, "unable to add {} because it is already registered",
                  Quote(name));
    }
  }
  entries_.emplace_back(std::move(name), std::move(hook));
  return {};
}

void PreShutdownHooks::Inherit(const PreShutdownHooks& other) {
  std::scoped_lock lock(mutex_, other.mutex_);
  for (const auto& entry : other.entries_) {
    bool taken = std::any_of(entries_.begin(), entries_.end(),
                             [&](const auto& own) { return own.first == entry.first; });
    if (!taken) entries_.push_back(entry);
  }
}

Task<Result<void>> PreShutdownHooks::Run() {
  std::vector<std::pair<std::string, PreShutdownHook>> entries;
  {
    std::lock_guard lock(mutex_);
    called_ = true;
    entries = entries_;
  }
  std::vector<std::string> errors;
  for (auto& [name, hook] : entries) {
    auto result = co_await RunContained("PreShutdownHook", name, Begin(hook));
    if (!result) {
      errors.push_back(
          fmt::format("PreShutdownHook {} failed: {}", Quote(name), result.error().message));
    }
  }
  if (errors.empty()) co_return Result<void>();
  if (errors.size() == 1) co_return Fail(ErrorCode::kInternal, "{}", errors[0]);
  co_return Fail(ErrorCode::kInternal, "[{}]", fmt::join(errors, ", "));
}

}  // namespace keelson::server
