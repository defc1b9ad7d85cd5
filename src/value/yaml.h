#pragma once

// YAML in and out. In, as upstream takes it: one document, turned into JSON by YAML 1.1's rules.
//
// Unquoted yes, no, on, off, y and n are booleans, 0777 is octal, 0x1F hexadecimal, and keys become
// strings. Objects come out sorted by key. Aliases are followed, with upstream's limit on how far
// they may blow a document up.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "value/document.h"

namespace keelson::value {

struct YamlOptions {
  // Where to report keys that appear twice in a mapping ("line 5: key "name" already set in map");
  // of those the first one then counts. When null, the last one counts.
  std::vector<std::string>* duplicates = nullptr;
};

// Only the first document is read; an empty text is null. The error's message is upstream's and
// starts with "yaml: ".
Result<Document> ParseYaml(std::string_view text, const YamlOptions& options = {});

// The same as JSON text, for decoders that read JSON.
Result<std::string> YamlToJson(std::string_view text, const YamlOptions& options = {});

// The text upstream writes for a value: keys sorted, two spaces of indent, lists not indented below
// their key, strings quoted where they would read as something else.
std::string ToYaml(const Value& value);

}  // namespace keelson::value
