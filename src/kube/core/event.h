#pragma once

// Event: what happened to an object, kept for a while.
//
// Stored as a core/v1 Event, whichever group it came through. Events that come through
// events.k8s.io are held to stricter rules than the old ones, so that group has a strategy of its
// own; both see the stored form.

#include <chrono>

#include "rest/strategy.h"

namespace keelson::kube::core {

class EventStrategy final : public rest::Strategy {
 public:
  enum class Rules : uint8_t { kCoreV1, kEventsV1 };

  EventStrategy(Rules rules, std::chrono::seconds time_to_live)
      : rules_(rules), time_to_live_(time_to_live) {}

  // Nothing more is asked of an event's name than of any.
  names::NameCheck name_check() const override { return names::NameIsPathSegment; }
  bool AllowsCreateOnUpdate() const override { return true; }
  std::chrono::seconds TimeToLive() const override { return time_to_live_; }
  rest::GarbageCollection DefaultGarbageCollection() const override {
    return rest::GarbageCollection::kUnsupported;
  }
  void Validate(const rest::WriteScope& scope, const value::Value& object,
                schema::FieldErrors& errors) const override;
  void ValidateUpdate(const rest::WriteScope& scope, const value::Value& object,
                      const value::Value& old, schema::FieldErrors& errors) const override;

 private:
  void CheckAlways(const value::Value& object, schema::FieldErrors& errors) const;

  const Rules rules_;
  const std::chrono::seconds time_to_live_;
};

}  // namespace keelson::kube::core
