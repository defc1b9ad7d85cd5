#include "apiextensions/definition_version.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "rest/seen_texts.h"

namespace keelson::apiextensions {
namespace {

using schema::FieldErrors;
using schema::Invalid;
using schema::Required;
using value::Path;
using value::Value;

constexpr std::string_view kColumnTypes[] = {"boolean", "date", "integer", "number", "string"};
constexpr std::string_view kColumnFormats[] = {"byte",  "date",  "date-time", "double",
                                               "float", "int32", "int64",     "password"};

void CheckScalePath(std::string_view text, std::initializer_list<std::string_view> roots,
                    const char* complaint, const Path& path, FieldErrors& errors) {
  if (!text.starts_with('.')) {
    errors.push_back(Invalid(path, text, "must be a simple json path starting with ."));
  } else if (std::ranges::none_of(roots, [&](auto root) { return text.starts_with(root); })) {
    errors.push_back(Invalid(path, text, complaint));
  }
}

// The schema of the field at ".spec.color"; null when there is none.
Value SchemaAt(Value schema, std::string_view path) {
  while (!path.empty()) {
    if (path[0] != '.') return {};
    path.remove_prefix(1);
    const auto end = std::min(path.find('.'), path.size());
    schema = schema["properties"][path.substr(0, end)];
    path.remove_prefix(end);
  }
  return schema;
}

}  // namespace

void CheckSubresources(const Value& subresources, const Path& path, FieldErrors& errors) {
  const Value scale = subresources["scale"];
  if (scale.is_null()) return;
  const auto check = [&](std::string_view field, const Path& at, std::string_view root,
                         const char* complaint) {
    const auto text = scale[field].AsString();
    if (text.empty()) {
      errors.push_back(Required(at, ""));
    } else {
      CheckScalePath(text, {root}, complaint, at, errors);
    }
  };
  check("specReplicasPath", path.Child("scale.specReplicasPath"), ".spec.",
        "should be a json path under .spec");
  check("statusReplicasPath", path.Child("scale.statusReplicasPath"), ".status.",
        "should be a json path under .status");
  if (auto selector = scale["labelSelectorPath"].AsString(); !selector.empty()) {
    CheckScalePath(selector, {".spec.", ".status."},
                   "should be a json path under either .spec or .status",
                   path.Child("scale.labelSelectorPath"), errors);
  }
}

void CheckColumns(const Value& columns, const Path& path, FieldErrors& errors) {
  for (size_t i = 0; i < columns.items().size(); ++i) {
    const Value& column = columns.items()[i];
    const Path at = path.Index(i);
    if (column["name"].AsString().empty()) errors.push_back(Required(at.Child("name"), ""));
    const auto type = column["type"].AsString();
    const auto types = fmt::format("must be one of {}", fmt::join(kColumnTypes, ","));
    if (type.empty()) {
      errors.push_back(Required(at.Child("type"), types));
    } else if (std::ranges::find(kColumnTypes, type) == std::end(kColumnTypes)) {
      errors.push_back(Invalid(at.Child("type"), type, types));
    }
    const auto format = column["format"].AsString();
    if (!format.empty() && std::ranges::find(kColumnFormats, format) == std::end(kColumnFormats)) {
      errors.push_back(Invalid(at.Child("format"), format,
                               fmt::format("must be one of {}", fmt::join(kColumnFormats, ","))));
    }
    const auto json_path = column["jsonPath"].AsString();
    if (json_path.empty()) {
      errors.push_back(Required(at.Child("JSONPath"), ""));
    } else if (!json_path.starts_with('.')) {
      errors.push_back(
          Invalid(at.Child("JSONPath"), json_path, "must be a simple json path starting with ."));
    }
  }
}

void CheckSelectableFields(const Value& fields, const Value& schema, const Path& path,
                           FieldErrors& errors) {
  static constexpr std::string_view kTypes[] = {"string", "boolean", "integer"};
  constexpr size_t kMaxFields = 8;
  rest::SeenTexts seen;
  size_t count = 0;
  for (size_t i = 0; i < fields.items().size(); ++i) {
    const Value json_path = fields.items()[i]["jsonPath"];
    const auto text = json_path.AsString();
    const Path entry = path.Index(i);
    const Path at = entry.Child("jsonPath");
    if (text.empty()) {
      errors.push_back(Required(at, ""));
      continue;
    }
    const Value field = SchemaAt(schema, text);
    const bool in_metadata = text == ".metadata" || text.starts_with(".metadata.");
    if (field.is_null() && !in_metadata) {
      errors.push_back(Invalid(at, text,
                               text.contains('[')
                                   ? "is an invalid path: array notation is not allowed"
                                   : "is an invalid path: does not refer to a valid field"));
      continue;
    }
    if (in_metadata) {
      errors.push_back(Invalid(at, text, "must not point to fields in metadata"));
    } else if (std::ranges::find(kTypes, field["type"].AsString()) == std::end(kTypes)) {
      errors.push_back(Invalid(at, text,
                               "must point to a field of type string, boolean or integer. Enum "
                               "string fields and strings with formats are allowed."));
    }
    if (seen.Insert(text)) {
      ++count;
    } else {
      errors.push_back(schema::Duplicate(at, text));
    }
  }
  if (count > kMaxFields) {
    errors.push_back(
        schema::TooMany(path, static_cast<int64_t>(count), static_cast<int64_t>(kMaxFields)));
  }
}

}  // namespace keelson::apiextensions
