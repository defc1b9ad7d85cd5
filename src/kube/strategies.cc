#include "kube/strategies.h"

#include "kube/access/rbac_kinds.h"

namespace keelson::kube {

rest::KindTable BuiltInKinds() {
  rest::KindTable table;
  table.Add(access::Strategies());
  table.Add(access::Defaults());
  return table;
}

}  // namespace keelson::kube
