#include "kube/access/bootstrap_policy.h"

#include <algorithm>
#include <optional>

#include "base/result.h"

namespace keelson::kube::access {
namespace {

using rbac::Binding;
using rbac::PolicyRule;
using rbac::SubjectKind;

constexpr std::string_view kControllerNamespace = "kube-system";

std::string_view TakeUntil(std::string_view& text, char end) {
  auto part = text.substr(0, text.find(end));
  text.remove_prefix(std::min(text.size(), part.size() + 1));
  return part;
}

std::vector<std::string_view> Words(std::string_view line) {
  std::vector<std::string_view> words;
  while (!line.empty()) {
    auto word = TakeUntil(line, ' ');
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

std::vector<std::string> Items(std::string_view list) {
  std::vector<std::string> items;
  while (!list.empty()) items.emplace_back(TakeUntil(list, ','));
  return items;
}

std::vector<std::string> Verbs(std::string_view list) {
  std::vector<std::string> verbs;
  for (auto& verb : Items(list)) {
    if (verb == "read") {
      verbs.insert(verbs.end(), {"get", "list", "watch"});
    } else if (verb == "write") {
      verbs.insert(verbs.end(), {"create", "delete", "deletecollection", "patch", "update"});
    } else {
      verbs.push_back(std::move(verb));
    }
  }
  std::ranges::sort(verbs);
  return verbs;
}

PolicyRule ReadRule(const std::vector<std::string_view>& words) {
  if (words[0] == "events") {
    return {.verbs = {"create", "patch", "update"},
            .api_groups = {"", "events.k8s.io"},
            .resources = {"events"}};
  }
  KEELSON_CHECK(words.size() == 3 || (words.size() == 5 && words[3] == "named"));
  PolicyRule rule{.verbs = Verbs(words[0])};
  if (words[1] == "url") {
    rule.non_resource_urls = Items(words[2]);
    return rule;
  }
  rule.api_groups = Items(words[1]);
  std::ranges::replace(rule.api_groups, "core", "");
  rule.resources = Items(words[2]);
  if (words.size() == 5) rule.resource_names = Items(words[4]);
  return rule;
}

rbac::Subject ReadSubject(const std::vector<std::string_view>& words) {
  KEELSON_CHECK(words.size() == 2);
  std::string name(words[1]);
  if (words[0] == "user") return {SubjectKind::kUser, name, ""};
  if (words[0] == "group") return {SubjectKind::kGroup, name, ""};
  KEELSON_CHECK(words[0] == "account");
  auto slash = name.find('/');
  return {SubjectKind::kServiceAccount, name.substr(slash + 1), name.substr(0, slash)};
}

class Reader {
 public:
  explicit Reader(BootstrapPolicy& policy) : policy_(policy) {}

  void Read(std::string_view text) {
    std::string line;
    while (!text.empty()) {
      auto next = TakeUntil(text, '\n');
      if (!line.empty()) next.remove_prefix(next.find_first_not_of(' '));
      line += next;
      if (line.ends_with(',')) continue;
      ReadLine(line);
      line.clear();
    }
  }

 private:
  void ReadLine(std::string_view line) {
    auto words = Words(line);
    if (words.empty()) return;
    if (!line.starts_with(' ')) {
      Open(words);
    } else if (in_binding_) {
      policy_.bindings.back().subjects.push_back(ReadSubject(words));
    } else {
      policy_.roles.back().rules.push_back(ReadRule(words));
    }
  }

  void Open(const std::vector<std::string_view>& words) {
    const auto kind = words[0];
    in_binding_ = kind == "clusterrolebinding" || kind == "rolebinding";
    const bool namespaced = kind == "role" || kind == "rolebinding";
    std::string ns(namespaced ? words[1] : "");
    std::string name(words[namespaced ? 2 : 1]);
    if (kind == "controller") {
      auto account = name;
      name = "system:controller:" + account;
      policy_.bindings.push_back(
          {"",
           name,
           {true, name},
           {{SubjectKind::kServiceAccount, account, std::string(kControllerNamespace)}}});
    }
    if (in_binding_) {
      policy_.bindings.push_back({ns, name, {!namespaced, name}, {}});
    } else {
      policy_.roles.push_back({.key = {ns, name}});
    }
    for (size_t i = namespaced ? 3 : 2; i + 1 < words.size(); i += 2) {
      Adjust(words[i], std::string(words[i + 1]));
    }
  }

  void Adjust(std::string_view word, std::string value) {
    if (word == "part-of") {
      policy_.roles.back().part_of = std::move(value);
    } else if (word == "sum-of") {
      policy_.roles.back().sum_of = std::move(value);
    } else {
      KEELSON_CHECK(word == "to");
      policy_.bindings.back().role.name = std::move(value);
    }
  }

  BootstrapPolicy& policy_;
  bool in_binding_ = false;
};

}  // namespace

void ReadBootstrapPolicy(std::string_view text, BootstrapPolicy& policy) {
  Reader(policy).Read(text);
}

BootstrapPolicy AllBootstrapPolicy() {
  BootstrapPolicy policy;
  ReadBootstrapPolicy(kUserPolicy, policy);
  ReadBootstrapPolicy(kControllerPolicy, policy);
  return policy;
}

}  // namespace keelson::kube::access
