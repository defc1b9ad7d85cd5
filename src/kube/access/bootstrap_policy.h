#pragma once

// The policy a cluster starts with, as data.
//
// It is written down in a small line-oriented form, one role or binding per block:
//
//   clusterrole NAME [part-of X] [sum-of X]      X: admin, edit or view, by label
//   role NAMESPACE NAME
//   controller NAME            clusterrole system:controller:NAME, bound to the account
//                              kube-system/NAME
//     VERBS GROUPS RESOURCES [named NAMES]       lists are separated by commas; the group "" is
//     VERBS url URLS                             called core; read is get, list and watch; write
//     events                                     is every verb that changes something
//   clusterrolebinding NAME
//   rolebinding NAMESPACE NAME [to ROLE]         the role has the binding's name unless told
//     user NAME | group NAME | account NAMESPACE/NAME
//
// A line that ends in a comma goes on in the next one. The texts are constants of this program: a
// mistake in them aborts.

#include <string>
#include <string_view>
#include <vector>

#include "rbac/policy.h"

namespace keelson::kube::access {

struct BootstrapRole {
  rbac::RoleKey key;
  std::string part_of;  // the aggregated role it contributes to, empty for none
  std::string sum_of;   // the contributions it is made of, empty for none
  rbac::Rules rules;
};

struct BootstrapPolicy {
  std::vector<BootstrapRole> roles;
  std::vector<rbac::Binding> bindings;
};

extern const std::string_view kUserPolicy;
extern const std::string_view kControllerPolicy;

// Adds what `text` says to `policy`.
void ReadBootstrapPolicy(std::string_view text, BootstrapPolicy& policy);
// Everything. Aggregated roles have no rules of their own.
BootstrapPolicy AllBootstrapPolicy();

}  // namespace keelson::kube::access
