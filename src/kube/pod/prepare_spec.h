#pragma once

// What the server itself writes into a new pod's spec. Internal to the strategy.

#include <string>
#include <vector>

#include "value/document.h"

namespace keelson::kube::pod {

// matchLabelKeys and mismatchLabelKeys of affinity terms and spread constraints become conditions
// on the values that the pod's own labels have.
void MergeMatchLabelKeys(value::Ref pod);

// AppArmor annotations become fields. Returns the keys of those that had none yet, which the client
// is told about.
std::vector<std::string> TakeOverAppArmorAnnotations(value::Ref pod);

}  // namespace keelson::kube::pod
