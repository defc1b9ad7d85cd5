// Role bindings.

#include <fmt/format.h>

#include "api/rbac_v1.h"
#include "kube/print/cell_text.h"
#include "kube/print/printers.h"

namespace keelson::kube::print {
namespace {

using rest::Row;
using value::Value;

// Bindings of both scopes have the same fields.
using Binding = api::rbac_v1::RoleBinding;

void BoundRole(const Value& object, Row& row) {
  const auto role = Binding(object).roleRef();
  row.Text(fmt::format("{}/{}", role.kind(), role.name()));
}

// Three cells: users, groups, service accounts.
void Subjects(const Value& object, Row& row) {
  std::vector<std::string> users;
  std::vector<std::string> groups;
  std::vector<std::string> accounts;
  for (const auto& subject : Binding(object).subjects()) {
    if (subject.kind() == "User") users.emplace_back(subject.name());
    if (subject.kind() == "Group") groups.emplace_back(subject.name());
    if (subject.kind() == "ServiceAccount") {
      accounts.push_back(fmt::format("{}/{}", subject.namespace_(), subject.name()));
    }
  }
  row.Text(Join(users, ", "));
  row.Text(Join(groups, ", "));
  row.Text(Join(accounts, ", "));
}

constexpr rest::Cell kBindingCells[] = {
    rest::kNameCell,
    rest::ComputedCell(BoundRole, "roleRef"),
    rest::kAgeCell,
    rest::ComputedCell(Subjects, "subjects"),
};

constexpr rest::TablePrinter kPrinters[] = {
    {"rbac.authorization.k8s.io", "rolebindings", kBindingCells},
    {"rbac.authorization.k8s.io", "clusterrolebindings", kBindingCells},
};

}  // namespace

std::span<const rest::TablePrinter> RbacPrinters() { return kPrinters; }

}  // namespace keelson::kube::print
