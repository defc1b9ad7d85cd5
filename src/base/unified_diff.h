#pragma once

// What differs between two texts, line by line, as Python's difflib and its Go twin print it:
// messages that carry over word for word contain such diffs.

#include <string>
#include <string_view>

namespace keelson {

// Unified diff with three lines of context and no file names; empty when the texts are equal.
std::string UnifiedDiff(std::string_view before, std::string_view after);

}  // namespace keelson
