#pragma once

// What apigen writes: constant tables for the whole catalog, and one header of typed accessors for
// each API file. The same model always gives the same bytes.

#include <string>
#include <string_view>
#include <vector>

#include "model.h"

namespace keelson::apigen {

// Numbers of the distinct field names, shared by tables and accessors.
class NameTable {
 public:
  explicit NameTable(const Model& model);
  size_t IndexOf(std::string_view name) const;
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;  // sorted
};

struct EmitOptions {
  std::string cpp_namespace;  // "keelson::api"
  std::string include_dir;    // "api": headers are included as "api/core_v1.h"
};

// "core.v1" -> "core_v1", "resource-quantity" -> "resource_quantity"
std::string FileIdentifier(std::string_view file_name);
// A C++ string literal.
std::string Literal(std::string_view text);

std::string EmitTables(const Model& model, const NameTable& names, const EmitOptions& options);
std::string EmitCatalogHeader(const Model& model, const NameTable& names,
                              const EmitOptions& options);
Result<std::string> EmitAccessors(const Model& model, const NameTable& names, size_t file,
                                  const EmitOptions& options);

}  // namespace keelson::apigen
