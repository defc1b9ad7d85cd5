#pragma once

// Text as Go's %q prints it, for messages that carry over word for word.

#include <string>
#include <string_view>

namespace keelson {

// "a\"b\n" with its quotes: what does not print is escaped, bytes that are not UTF-8 as \xNN.
std::string Quote(std::string_view text);
void AppendQuoted(std::string& out, std::string_view text);

// Text that echoes a request never looks like HTML: &, < and > as entities.
std::string WithoutMarkup(std::string_view text);

}  // namespace keelson
