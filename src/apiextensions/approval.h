#pragma once

// Groups of the Kubernetes project itself (*.k8s.io, *.kubernetes.io) want a sign that the project
// agreed to a definition: an annotation with the address of the discussion.

#include <cstdint>
#include <string>
#include <string_view>

namespace keelson::apiextensions {

inline constexpr std::string_view kApprovalAnnotation = "api-approved.kubernetes.io";

enum class Approval : uint8_t { kMissing, kBypassed, kApproved, kInvalid };

bool IsProtected(std::string_view group);
// From the annotation's text.
Approval ApprovalOf(std::string_view text);
std::string ApprovalMessage(Approval approval, std::string_view text);

}  // namespace keelson::apiextensions
