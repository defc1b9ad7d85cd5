#include "kube/strategies.h"

#include "kube/access/rbac_kinds.h"
#include "kube/cluster/cluster.h"
#include "kube/pod/defaults.h"
#include "kube/pod/strategy.h"
#include "kube/workload/workload.h"

namespace keelson::kube {

rest::KindTable BuiltInKinds() {
  rest::KindTable table;
  table.Add(access::Strategies());
  table.Add(access::Defaults());
  table.Add(pod::Strategies());
  table.Add(pod::Subresources());
  table.Add(pod::Defaults());
  table.Add(workload::Strategies());
  table.Add(workload::Defaults());
  table.Add(cluster::Strategies());
  table.Add(cluster::Subresources());
  table.Add(cluster::Defaults());
  return table;
}

}  // namespace keelson::kube
