// Priority levels and flow schemas of a new cluster: who shares which part of the server, and how.
//
// The levels get shares of the server's concurrency. A level that queues spreads its flows over
// queues by shuffle sharding; `hand` is how many queues a flow may use.

#include <fmt/format.h>

#include <string>

#include "kube/bootstrap/objects.h"
#include "value/json.h"
#include "value/timestamp.h"

namespace keelson::kube::bootstrap {
namespace {

using value::Document;

struct Level {
  const char* name;
  int shares;
  int lendable_percent;
  int queues;  // 0 rejects instead of queuing
  int hand;
};
constexpr Level kLevels[] = {
    {"catch-all", 5, 0, 0, 0},         {"global-default", 20, 50, 128, 6},
    {"leader-election", 10, 0, 16, 4}, {"node-high", 40, 25, 64, 6},
    {"system", 30, 33, 64, 6},         {"workload-high", 40, 50, 128, 6},
    {"workload-low", 100, 90, 128, 6},
};
constexpr int kQueueLength = 50;

constexpr const char* kEverything =
    R"("resourceRules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"],"clusterScope":true,)"
    R"("namespaces":["*"]}],"nonResourceRules":[{"verbs":["*"],"nonResourceURLs":["*"]}])";
constexpr const char* kProbes =
    R"("nonResourceRules":[{"verbs":["get"],"nonResourceURLs":["/healthz","/readyz","/livez"]}])";
constexpr const char* kElections =
    R"("resourceRules":[{"verbs":["get","create","update"],"apiGroups":["coordination.k8s.io"],)"
    R"("resources":["leases"],"namespaces":["*"]}])";
constexpr const char* kNodeHeartbeats =
    R"("resourceRules":[{"verbs":["*"],"apiGroups":[""],"resources":["nodes","nodes/status"],)"
    R"("clusterScope":true,"namespaces":["*"]},{"verbs":["*"],)"
    R"("apiGroups":["coordination.k8s.io"],"resources":["leases"],"namespaces":["*"]}])";

struct Schema {
  const char* name;
  int precedence;
  const char* level;
  const char* by;        // ByUser, ByNamespace, or "" for one flow
  const char* subjects;  // u:USER, g:GROUP or a:NAMESPACE/ACCOUNT, separated by spaces
  const char* rules;
};
constexpr const char* kAnybody = "g:system:unauthenticated g:system:authenticated";
constexpr const char* kManager = "u:system:kube-controller-manager";
constexpr const char* kScheduler = "u:system:kube-scheduler";
constexpr Schema kSchemas[] = {
    {"exempt", 1, "exempt", "", "g:system:masters", kEverything},
    {"probes", 2, "exempt", "", kAnybody, kProbes},
    {"system-leader-election", 100, "leader-election", "ByUser",
     "u:system:kube-controller-manager u:system:kube-scheduler a:kube-system/*", kElections},
    {"system-node-high", 400, "node-high", "ByUser", "g:system:nodes", kNodeHeartbeats},
    {"system-nodes", 500, "system", "ByUser", "g:system:nodes", kEverything},
    {"kube-controller-manager", 800, "workload-high", "ByNamespace", kManager, kEverything},
    {"kube-scheduler", 800, "workload-high", "ByNamespace", kScheduler, kEverything},
    {"kube-system-service-accounts", 900, "workload-high", "ByNamespace", "a:kube-system/*",
     kEverything},
    {"service-accounts", 9000, "workload-low", "ByUser", "g:system:serviceaccounts", kEverything},
    {"global-default", 9900, "global-default", "ByUser", kAnybody, kEverything},
    {"catch-all", 10000, "catch-all", "ByUser", kAnybody, kEverything},
};

Document Parse(const std::string& json) {
  auto object = value::ParseJson(json);
  KEELSON_CHECK(object.has_value());
  return *std::move(object);
}

Document Object(std::string_view kind, std::string_view name, const std::string& spec,
                const std::string& status) {
  return Parse(fmt::format(
      R"({{"kind":"{}","apiVersion":"flowcontrol.apiserver.k8s.io/v1","metadata":{{"name":"{}",)"
      R"("annotations":{{"apf.kubernetes.io/autoupdate-spec":"true"}}}},"spec":{},"status":{}}})",
      kind, name, spec, status));
}

std::string Subject(std::string_view text) {
  const auto name = text.substr(2);
  if (text[0] == 'u') return fmt::format(R"({{"kind":"User","user":{{"name":"{}"}}}})", name);
  if (text[0] == 'g') return fmt::format(R"({{"kind":"Group","group":{{"name":"{}"}}}})", name);
  const auto slash = name.find('/');
  return fmt::format(
      R"({{"kind":"ServiceAccount","serviceAccount":{{"namespace":"{}","name":"{}"}}}})",
      name.substr(0, slash), name.substr(slash + 1));
}

std::string Subjects(std::string_view text) {
  std::string list;
  while (!text.empty()) {
    const auto space = text.find(' ');
    if (!list.empty()) list += ',';
    list += Subject(text.substr(0, space));
    text.remove_prefix(space == std::string_view::npos ? text.size() : space + 1);
  }
  return list;
}

}  // namespace

std::vector<Document> PriorityLevels() {
  std::vector<Document> levels;
  levels.push_back(Object("PriorityLevelConfiguration", "exempt",
                          R"({"type":"Exempt","exempt":{"nominalConcurrencyShares":0,)"
                          R"("lendablePercent":0}})",
                          "{}"));
  for (const auto& level : kLevels) {
    const std::string response =
        level.queues == 0 ? R"({"type":"Reject"})"
                          : fmt::format(R"({{"type":"Queue","queuing":{{"queues":{},"handSize":{},)"
                                        R"("queueLengthLimit":{}}}}})",
                                        level.queues, level.hand, kQueueLength);
    levels.push_back(
        Object("PriorityLevelConfiguration", level.name,
               fmt::format(R"({{"type":"Limited","limited":{{"nominalConcurrencyShares":{},)"
                           R"("limitResponse":{},"lendablePercent":{}}}}})",
                           level.shares, response, level.lendable_percent),
               "{}"));
  }
  return levels;
}

std::vector<Document> FlowSchemas(WallTime now) {
  const auto time = value::FormatTime(
      {.seconds = std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()).count()});
  std::vector<Document> schemas;
  for (const auto& schema : kSchemas) {
    const std::string by =
        *schema.by == 0 ? "" : fmt::format(R"("distinguisherMethod":{{"type":"{}"}},)", schema.by);
    schemas.push_back(Object(
        "FlowSchema", schema.name,
        fmt::format(R"({{"priorityLevelConfiguration":{{"name":"{}"}},"matchingPrecedence":{},{})"
                    R"("rules":[{{"subjects":[{}],{}}}]}})",
                    schema.level, schema.precedence, by, Subjects(schema.subjects), schema.rules),
        fmt::format(
            R"({{"conditions":[{{"type":"Dangling","status":"False","lastTransitionTime":"{}",)"
            R"("reason":"Found","message":"This FlowSchema references the )"
            R"(PriorityLevelConfiguration object named \"{}\" and it exists"}}]}})",
            time, schema.level)));
  }
  return schemas;
}

}  // namespace keelson::kube::bootstrap
