// A decision for a user with 20 groups where 1,000 bindings exist: at most one microsecond.

#include <benchmark/benchmark.h>

#include "rbac/identity_rules.h"

namespace keelson::rbac {
namespace {

void FillPolicy(PolicySet& set) {
  PolicySet::Batch batch(set);
  for (int i = 0; i < 1000; ++i) {
    auto id = std::to_string(i);
    set.SetRole({"", "role-" + id}, {{.verbs = {"get", "list", "watch"},
                                      .api_groups = {"", "apps"},
                                      .resources = {"kind-" + id, "pods", "deployments"}}});
    set.SetBinding({i % 2 ? "ns-" + id : "",
                    "binding-" + id,
                    {true, "role-" + id},
                    {{SubjectKind::kGroup, "group-" + std::to_string(i % 40)}}});
  }
}

std::vector<std::string> TwentyGroups() {
  std::vector<std::string> groups;
  for (int i = 0; i < 20; ++i) groups.push_back("group-" + std::to_string(i));
  return groups;
}

void BM_Decide(benchmark::State& state) {
  PolicySet set;
  FillPolicy(set);
  IdentityRules rules(set.Current(), "user", TwentyGroups());
  const Request allowed{.verb = "get", .ns = "ns-1", .resource = "pods", .name = "a"};
  const Request refused{
      .verb = "delete", .ns = "ns-1", .resource = "secrets", .subresource = "x", .name = "a"};
  const Request& request = state.range(0) ? allowed : refused;
  for (auto _ : state) benchmark::DoNotOptimize(rules.FindAllowing(request));
}
BENCHMARK(BM_Decide)->ArgName("allowed")->Arg(1)->Arg(0);

void BM_CompileIdentity(benchmark::State& state) {
  PolicySet set;
  FillPolicy(set);
  auto groups = TwentyGroups();
  for (auto _ : state) {
    benchmark::DoNotOptimize(IdentityRules(set.Current(), "user", groups));
  }
}
BENCHMARK(BM_CompileIdentity);

void BM_ChangeBinding(benchmark::State& state) {
  PolicySet set;
  FillPolicy(set);
  for (auto _ : state) {
    set.SetBinding({"", "changing", {true, "role-1"}, {{SubjectKind::kUser, "user"}}});
  }
}
BENCHMARK(BM_ChangeBinding);

}  // namespace
}  // namespace keelson::rbac
