#pragma once

// Structural validation: whether a custom resource fits its schema.
//
// Types, required fields, enums, ranges, lengths, patterns, formats and the logical rules, each
// with the sentence upstream's OpenAPI validator has for it. Rules in CEL are not checked here.
// Built-in kinds come out of the decoder with the right types and are validated by code of their
// own.

#include "schema/field_error.h"
#include "schema/type.h"
#include "value/value.h"

namespace keelson::schema {

// `old` is what a changed object was before, or null. What has not changed since is not judged
// again, so that objects can be changed though their schema has become stricter meanwhile.
FieldErrors ValidateStructure(const Type& type, const value::Value& object,
                              const value::Value* old = nullptr);

// Whether a rule in CEL applies to anything of the type.
bool HasCelRules(const Type& type);

// Lists of type set hold no value twice, lists of type map no key twice. Upstream checks this apart
// from the above, and only when the object is otherwise well formed.
FieldErrors ValidateListTypes(const Type& type, const value::Value& object);

// Whether `text` has a format of OpenAPI, such as date-time or ipv4. Unknown formats fit anything.
bool FitsFormat(std::string_view format, std::string_view text);

}  // namespace keelson::schema
