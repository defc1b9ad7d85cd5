#pragma once

// What a label key and a label value may look like, in upstream's words.

#include <string>
#include <string_view>
#include <vector>

namespace keelson::selector {

// Why `key` is no label key (an optional DNS subdomain and '/', then a name of at most 63 bytes);
// empty when it is one.
std::vector<std::string> LabelKeyFaults(std::string_view key);

// Why `value` is no label value (empty, or at most 63 bytes that begin and end alphanumeric).
std::vector<std::string> LabelValueFaults(std::string_view value);

// `text` as Go's %q prints it, the form in which messages quote what a client sent.
std::string GoQuote(std::string_view text);

}  // namespace keelson::selector
