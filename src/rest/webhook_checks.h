#pragma once

// Where webhooks are called, as objects of several kinds say it.

#include <string_view>

#include "schema/field_error.h"
#include "value/path.h"
#include "value/value.h"

namespace keelson::rest {

// https://host/path and nothing more.
void CheckWebhookUrl(std::string_view url, const value::Path& path, schema::FieldErrors& errors);
// A ServiceReference.
void CheckWebhookService(const value::Value& service, const value::Path& path,
                         schema::FieldErrors& errors);

}  // namespace keelson::rest
