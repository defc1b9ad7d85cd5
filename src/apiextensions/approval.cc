#include "apiextensions/approval.h"

#include <fmt/format.h>

#include "base/quote.h"

namespace keelson::apiextensions {

bool IsProtected(std::string_view group) {
  return group == "k8s.io" || group.ends_with(".k8s.io") || group == "kubernetes.io" ||
         group.ends_with(".kubernetes.io");
}

Approval ApprovalOf(std::string_view text) {
  if (text.empty()) return Approval::kMissing;
  if (text.starts_with("unapproved")) return Approval::kBypassed;
  const auto scheme = text.find("://");
  const bool is_url = scheme != std::string_view::npos && scheme > 0 && scheme + 3 < text.size() &&
                      text[scheme + 3] != '/';
  return is_url ? Approval::kApproved : Approval::kInvalid;
}

std::string ApprovalMessage(Approval approval, std::string_view text) {
  constexpr std::string_view kWanted =
      "protected groups must have approval annotation \"api-approved.kubernetes.io\"";
  constexpr std::string_view kSee = "see https://github.com/kubernetes/enhancements/pull/1111";
  switch (approval) {
    case Approval::kMissing:
      return fmt::format("{}, {}", kWanted, kSee);
    case Approval::kBypassed:
      return fmt::format("not approved: {}", Quote(text));
    case Approval::kApproved:
      return fmt::format("approved in {}", text);
    case Approval::kInvalid:
      break;
  }
  return fmt::format("{} with either a URL or a reason starting with \"unapproved\", {}", kWanted,
                     kSee);
}

}  // namespace keelson::apiextensions
