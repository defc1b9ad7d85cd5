#pragma once

// Rules for the resources that quotas, limits and nodes count; which names there are says
// kube/pod/resources.h.

#include <string_view>

#include "schema/field_error.h"
#include "value/path.h"
#include "value/quantity.h"

namespace keelson::kube::core {

// One that a quota may limit and the server knows by itself.
bool IsStandardQuotaResource(std::string_view name);

// A name the server knows, or a qualified one.
void CheckResourceName(std::string_view name, const value::Path& path, schema::FieldErrors& errors);
// One that containers may ask for.
void CheckContainerResourceName(std::string_view name, const value::Path& path,
                                schema::FieldErrors& errors);
// One that a quota may limit.
void CheckQuotaResourceName(std::string_view name, const value::Path& path,
                            schema::FieldErrors& errors);

// The amount is not negative, and whole where only whole ones make sense.
void CheckResourceAmount(std::string_view name, std::string_view quantity, const value::Path& path,
                         schema::FieldErrors& errors);

// The text of a quantity that decoding has accepted.
value::Quantity QuantityOf(std::string_view text);

}  // namespace keelson::kube::core
