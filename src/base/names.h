#pragma once

// The rules for names, keys and label values, with the complaints upstream answers with.
//
// Each Check says what is wrong with a text, in upstream's words, or nothing. Matching takes linear
// time and allocates only to complain.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace keelson::names {

// What is wrong with a value; empty when nothing is.
using Complaints = std::vector<std::string>;

bool IsDns1123Label(std::string_view text);
bool IsDns1123Subdomain(std::string_view text);
bool IsLabelValue(std::string_view text);

Complaints CheckDns1123Label(std::string_view text);
Complaints CheckDns1123Subdomain(std::string_view text);
Complaints CheckDns1123SubdomainWithUnderscore(std::string_view text);
Complaints CheckDns1035Label(std::string_view text);
Complaints CheckWildcardDns1123Subdomain(std::string_view text);
// A label or annotation key: an optional DNS subdomain and '/', then a name.
Complaints CheckQualifiedName(std::string_view text);
Complaints CheckLabelValue(std::string_view text);
Complaints CheckCIdentifier(std::string_view text);
Complaints CheckPortName(std::string_view text);
Complaints CheckPortNumber(int64_t port);
Complaints CheckInRange(int64_t value, int64_t low, int64_t high);
Complaints CheckPercent(std::string_view text);
Complaints CheckHttpHeaderName(std::string_view text);
Complaints CheckEnvVarName(std::string_view text);
Complaints CheckRelaxedEnvVarName(std::string_view text);
Complaints CheckConfigMapKey(std::string_view text);
// What may stand as one segment of a URL path; a prefix may also be "." or "..".
Complaints CheckPathSegment(std::string_view text);
Complaints CheckPathSegmentPrefix(std::string_view text);

// How an object's name is checked. `prefix` is true for metadata.generateName, to which characters
// will be added: a trailing dash is then fine.
using NameCheck = Complaints (*)(std::string_view name, bool prefix);
Complaints NameIsDnsSubdomain(std::string_view name, bool prefix);
Complaints NameIsDnsLabel(std::string_view name, bool prefix);
Complaints NameIsDns1035Label(std::string_view name, bool prefix);
Complaints NameIsPathSegment(std::string_view name, bool prefix);

// "must be no more than 63 characters"
std::string TooLongText(size_t limit, std::string_view unit = "characters");

}  // namespace keelson::names
