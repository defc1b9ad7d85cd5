#pragma once

// The steps of a write between admission's two halves, for creates and for updates that create.

#include "base/status.h"
#include "base/task.h"
#include "rest/resource.h"
#include "rest/strategy.h"
#include "value/document.h"

namespace keelson::rest {

// An object that may be stored, and what was taken for it.
struct PreparedObject {
  value::Document object;
  ReservationPtr reservation;
};

// `object` is in stored form, admitted by the changing plugins; the judging ones have been asked.
Task<ApiResult<PreparedObject>> PrepareNew(const ResourceSpec& spec, const WriteScope& scope,
                                           value::Builder& object);

}  // namespace keelson::rest
