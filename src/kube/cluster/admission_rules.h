#pragma once

// What webhooks and policies of admission share: which requests they concern, and who is called.
// Internal.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/admissionregistration_v1.h"
#include "rest/field_checks.h"
#include "rest/strategy.h"
#include "schema/field_error.h"
#include "value/path.h"
#include "value/value.h"

namespace keelson::kube::cluster {

inline constexpr std::string_view kFailurePolicies[] = {"Fail", "Ignore"};
inline constexpr std::string_view kMatchPolicies[] = {"Equivalent", "Exact"};
inline constexpr std::string_view kReinvocationPolicies[] = {"IfNeeded", "Never"};

// A RuleWithOperations, or what else has its fields.
void CheckAdmissionRule(const value::Value& rule, const value::Path& path,
                        schema::FieldErrors& errors);
// An absent one is fine.
void CheckMatchResources(const api::admissionregistration_v1::MatchResources& match,
                         const value::Path& path, schema::FieldErrors& errors);
// A list of MatchCondition. That the expressions compile is not looked at here.
void CheckMatchConditions(const value::Value& conditions, const value::Path& path,
                          schema::FieldErrors& errors);

// Names that a future release keeps for objects from files.
std::vector<std::string> WarnAboutStaticName(const rest::WriteScope& scope,
                                             const value::Value& object, const value::Value* old);

std::string_view TrimSpace(std::string_view text);

}  // namespace keelson::kube::cluster
