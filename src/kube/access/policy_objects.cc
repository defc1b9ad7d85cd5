#include "kube/access/policy_objects.h"

#include <algorithm>
#include <string>

#include "base/quote.h"

namespace keelson::kube::access {
namespace {

using rbac::SubjectKind;
using selector::LabelOperator;
using value::Builder;
using value::Member;
using value::Value;

std::vector<std::string> ReadStrings(const Value& list) {
  std::vector<std::string> strings;
  strings.reserve(list.items().size());
  for (const auto& item : list.items()) strings.emplace_back(item.AsString());
  return strings;
}

Value WriteStrings(Builder& builder, const std::vector<std::string>& strings) {
  std::vector<Value> items;
  items.reserve(strings.size());
  for (const auto& text : strings) items.push_back(builder.String(text));
  return builder.List(items);
}

// Adds a member unless it is empty.
void AddStrings(Builder& builder, std::vector<Member>& members, std::string_view name,
                const std::vector<std::string>& strings) {
  if (strings.empty()) return;
  members.push_back({builder.Intern(name), WriteStrings(builder, strings)});
}

std::optional<SubjectKind> ReadSubjectKind(std::string_view kind) {
  if (kind == "User") return SubjectKind::kUser;
  if (kind == "Group") return SubjectKind::kGroup;
  if (kind == "ServiceAccount") return SubjectKind::kServiceAccount;
  return std::nullopt;
}

Result<LabelOperator> ReadOperator(std::string_view name) {
  if (name == "In") return LabelOperator::kIn;
  if (name == "NotIn") return LabelOperator::kNotIn;
  if (name == "Exists") return LabelOperator::kExists;
  if (name == "DoesNotExist") return LabelOperator::kNotExists;
  return Fail(ErrorCode::kInvalid, "{} is not a valid label selector operator", Quote(name));
}

}  // namespace

rbac::Rules ReadRules(const Value& rules) {
  rbac::Rules read;
  read.reserve(rules.items().size());
  for (const auto& rule : rules.items()) {
    read.push_back({.verbs = ReadStrings(rule["verbs"]),
                    .api_groups = ReadStrings(rule["apiGroups"]),
                    .resources = ReadStrings(rule["resources"]),
                    .resource_names = ReadStrings(rule["resourceNames"]),
                    .non_resource_urls = ReadStrings(rule["nonResourceURLs"])});
  }
  return read;
}

Value WriteRules(Builder& builder, const rbac::Rules& rules) {
  std::vector<Value> items;
  items.reserve(rules.size());
  for (const auto& rule : rules) {
    std::vector<Member> members;
    members.push_back({builder.Intern("verbs"), WriteStrings(builder, rule.verbs)});
    AddStrings(builder, members, "apiGroups", rule.api_groups);
    AddStrings(builder, members, "resources", rule.resources);
    AddStrings(builder, members, "resourceNames", rule.resource_names);
    AddStrings(builder, members, "nonResourceURLs", rule.non_resource_urls);
    items.push_back(builder.Object(members));
  }
  return builder.List(items);
}

rbac::Binding ReadBinding(const Value& object) {
  const auto metadata = object["metadata"];
  const auto role = object["roleRef"];
  rbac::Binding binding{
      .ns = std::string(metadata["namespace"].AsString()),
      .name = std::string(metadata["name"].AsString()),
      .role = {role["kind"].AsString() == "ClusterRole", std::string(role["name"].AsString())}};
  for (const auto& subject : object["subjects"].items()) {
    auto kind = ReadSubjectKind(subject["kind"].AsString());
    if (!kind) continue;
    binding.subjects.push_back({*kind, std::string(subject["name"].AsString()),
                                std::string(subject["namespace"].AsString())});
  }
  return binding;
}

Value WriteSubjects(Builder& builder, const std::vector<rbac::Subject>& subjects) {
  std::vector<Value> items;
  for (const auto& subject : subjects) {
    const bool account = subject.kind == SubjectKind::kServiceAccount;
    std::vector<Member> members;
    members.push_back(
        {builder.Intern("kind"), Value::String(account ? "ServiceAccount"
                                               : subject.kind == SubjectKind::kGroup ? "Group"
                                                                                     : "User")});
    if (!account) members.push_back({builder.Intern("apiGroup"), Value::String(kRbacGroup)});
    members.push_back({builder.Intern("name"), builder.String(subject.name)});
    if (account) members.push_back({builder.Intern("namespace"), builder.String(subject.ns)});
    items.push_back(builder.Object(members));
  }
  return builder.List(items);
}

Result<selector::LabelSelector> ReadLabelSelector(const Value& selector) {
  std::vector<selector::LabelRequirement> requirements;
  for (const auto& label : selector["matchLabels"].members()) {
    requirements.push_back({.key = std::string(label.key()),
                            .op = LabelOperator::kEquals,
                            .values = {std::string(label.value.AsString())}});
  }
  for (const auto& expression : selector["matchExpressions"].items()) {
    TRY(auto op, ReadOperator(expression["operator"].AsString()));
    auto values = ReadStrings(expression["values"]);
    std::ranges::sort(values);
    values.erase(std::ranges::unique(values).begin(), values.end());
    requirements.push_back(
        {.key = std::string(expression["key"].AsString()), .op = op, .values = std::move(values)});
  }
  return selector::LabelSelector(std::move(requirements));
}

std::optional<std::vector<selector::LabelSelector>> ReadAggregation(const Value& role) {
  const auto rule = role["aggregationRule"];
  if (!rule.is_object()) return std::nullopt;
  std::vector<selector::LabelSelector> selectors;
  for (const auto& item : rule["clusterRoleSelectors"].items()) {
    if (auto selector = ReadLabelSelector(item)) selectors.push_back(*std::move(selector));
  }
  return selectors;
}

}  // namespace keelson::kube::access
