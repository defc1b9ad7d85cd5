#pragma once

// The conditions of a CustomResourceDefinition's status.

#include <string>
#include <string_view>

#include "base/clock.h"
#include "value/document.h"
#include "value/value.h"

namespace keelson::apiextensions {

inline constexpr std::string_view kEstablished = "Established";
inline constexpr std::string_view kNamesAccepted = "NamesAccepted";
inline constexpr std::string_view kTerminating = "Terminating";
inline constexpr std::string_view kApproved = "KubernetesAPIApprovalPolicyConformant";

inline constexpr std::string_view kTrue = "True";
inline constexpr std::string_view kFalse = "False";

struct Condition {
  std::string_view type;
  std::string_view status;
  std::string_view reason;
  std::string message;
};

// The condition of that type in a definition; null when there is none.
value::Value FindCondition(const value::Value& definition, std::string_view type);
bool IsConditionTrue(const value::Value& definition, std::string_view type);
// Whether the definition says the same already.
bool HasCondition(const value::Value& definition, const Condition& condition);

// Puts a condition into the definition. Its time changes only with its status.
void SetCondition(value::Ref definition, const Condition& condition, WallTime now);

}  // namespace keelson::apiextensions
