// Admission webhooks and policies.

#include <fmt/format.h>

#include "api/admissionregistration_v1.h"
#include "kube/print/cell_text.h"
#include "kube/print/printers.h"

namespace keelson::kube::print {
namespace {

using rest::Row;
using value::Value;

constexpr rest::Cell kWebhookCells[] = {
    rest::kNameCell,
    rest::CountCell("webhooks"),
    rest::kAgeCell,
};

// Mutating and validating policies and bindings share these fields.
using Policy = api::admissionregistration_v1::ValidatingAdmissionPolicy;
using Binding = api::admissionregistration_v1::ValidatingAdmissionPolicyBinding;

void ParamKind(const Value& object, Row& row) {
  const auto kind = Policy(object).spec().paramKind();
  row.Text(kind ? fmt::format("{}/{}", kind.apiVersion(), kind.kind()) : std::string(kUnset));
}

// Upstream prints a selector the way its generated code describes one in logs.
std::string DebugText(const api::meta_v1::LabelSelector& selector) {
  std::string text = "&LabelSelector{MatchLabels:map[string]string{";
  for (const auto& [key, label] : selector.matchLabels())
    text += fmt::format("{}: {},", key, label);
  text += "},MatchExpressions:[]LabelSelectorRequirement{";
  for (const auto& term : selector.matchExpressions()) {
    text += fmt::format("LabelSelectorRequirement{{Key:{},Operator:{},Values:[{}],}},", term.key(),
                        term.operator_(), Join(term.values(), " "));
  }
  return text + "},}";
}

void ParamRef(const Value& object, Row& row) {
  const auto ref = Binding(object).spec().paramRef();
  if (!ref.name().empty()) {
    row.Text(fmt::format("{}/{}", OrElse(ref.namespace_(), "*"), ref.name()));
  } else if (ref.selector()) {
    row.Text(DebugText(ref.selector()));
  } else {
    row.Text(kUnset);
  }
}

constexpr rest::Cell kValidatingPolicyCells[] = {
    rest::kNameCell,
    rest::CountCell("spec.validations"),
    rest::ComputedCell(ParamKind, "spec.paramKind"),
    rest::kAgeCell,
};

constexpr rest::Cell kMutatingPolicyCells[] = {
    rest::kNameCell,
    rest::CountCell("spec.mutations"),
    rest::ComputedCell(ParamKind, "spec.paramKind"),
    rest::kAgeCell,
};

constexpr rest::Cell kBindingCells[] = {
    rest::kNameCell,
    rest::TextCell("spec.policyName"),
    rest::ComputedCell(ParamRef, "spec.paramRef"),
    rest::kAgeCell,
};

constexpr std::string_view kGroup = "admissionregistration.k8s.io";
constexpr rest::TablePrinter kPrinters[] = {
    {kGroup, "mutatingwebhookconfigurations", kWebhookCells},
    {kGroup, "validatingwebhookconfigurations", kWebhookCells},
    {kGroup, "validatingadmissionpolicies", kValidatingPolicyCells},
    {kGroup, "mutatingadmissionpolicies", kMutatingPolicyCells},
    {kGroup, "validatingadmissionpolicybindings", kBindingCells},
    {kGroup, "mutatingadmissionpolicybindings", kBindingCells},
};

}  // namespace

std::span<const rest::TablePrinter> AdmissionPrinters() { return kPrinters; }

}  // namespace keelson::kube::print
