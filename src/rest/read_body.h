#pragma once

// What the verbs that write do with their input before they write.

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/status.h"
#include "rest/options.h"
#include "rest/resource.h"
#include "rest/strategy.h"
#include "value/document.h"

namespace keelson::rest {

// A body that was read, or 413.
ApiResult<std::string> TakeBody(Result<std::string> body);

// The object with all defaults filled in.
value::Document Defaulted(const ResourceSpec& spec, const value::Document& object);

// A writer that does not name itself is known by its program.
void NameManager(const Request& request, WriteOptions& options);

// The object in the request's namespace; 400 when it is of another one or has another name than the
// URL's.
ApiResult<value::Document> InPlace(const ResourceSpec& spec, const WriteScope& scope,
                                   const value::Document& object);

}  // namespace keelson::rest
