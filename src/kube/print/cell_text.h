#pragma once

// Texts that the cells of several kinds share, in upstream's spelling.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/core_v1.h"
#include "api/meta_v1.h"
#include "rest/table.h"
#include "schema/view.h"

namespace keelson::kube::print {

inline constexpr std::string_view kNone = "<none>";
inline constexpr std::string_view kUnset = "<unset>";
inline constexpr std::string_view kUnknown = "<unknown>";

inline std::string_view OrElse(std::string_view text, std::string_view absent) {
  return text.empty() ? absent : text;
}

std::string Join(std::span<const std::string> parts, std::string_view separator = ",");
std::string Join(schema::ListView<std::string_view> parts, std::string_view separator = ",");

// At most `most` of the parts, then how many there are besides: "a,b,c + 2 more...".
std::string FirstFew(std::span<const std::string> parts, size_t most,
                     std::string_view separator = ",");

// "a=b,c=d" by key; "<none>" when there are none.
std::string LabelText(schema::MapView<std::string_view> labels);
// "a=b,c in (d,e),!f" by key; empty when it selects everything or nothing.
std::string SelectorText(const api::meta_v1::LabelSelector& selector);

// Two cells: the names and the images of the containers.
void ContainerCells(schema::ListView<api::core_v1::Container> containers, rest::Row& row);
std::string LowerCase(std::string_view text);

}  // namespace keelson::kube::print
