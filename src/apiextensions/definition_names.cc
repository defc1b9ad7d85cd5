#include "apiextensions/definition_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "apiextensions/approval.h"
#include "base/quote.h"

namespace keelson::apiextensions {
namespace {

using value::Ref;
using value::Value;

// Upstream's field of the conflict decides its reason.
struct NameField {
  std::string_view field;
  std::string_view reason;
  bool is_kind;
};
constexpr NameField kFields[] = {{"plural", "PluralConflict", false},
                                 {"singular", "SingularConflict", false},
                                 {"kind", "KindConflict", true},
                                 {"listKind", "ListKindConflict", true}};

std::string InUse(std::string_view name) {
  return fmt::format("{} is already in use", Quote(name));
}

std::optional<Condition> ApprovalCondition(const Value& root) {
  if (!IsProtected(root["spec"]["group"].AsString())) return std::nullopt;
  const Value annotation = root["metadata"]["annotations"][kApprovalAnnotation];
  const auto approval = ApprovalOf(annotation.AsString());
  static constexpr std::string_view kReasons[] = {"MissingAnnotation", "UnapprovedAnnotation",
                                                  "ApprovedAnnotation", "InvalidAnnotation"};
  return Condition{.type = kApproved,
                   .status = approval == Approval::kApproved ? kTrue : kFalse,
                   .reason = kReasons[static_cast<size_t>(approval)],
                   .message = ApprovalMessage(approval, annotation.AsString())};
}

}  // namespace

// The names to be accepted, field by field, and the conditions that follow.
struct DefinitionNames::Outcome {
  std::vector<std::pair<std::string_view, Value>> names;
  std::vector<Condition> conditions;
};

void DefinitionNames::Put(std::string_view definition, const Value& root) {
  Remove(definition);
  const std::string group(root["spec"]["group"].AsString());
  const Value names = root["status"]["acceptedNames"];
  auto& [resources, kinds] = held_[std::string(definition)];
  const auto hold = [&](std::set<Key>& held, Owners& owners, std::string_view name) {
    if (name.empty()) return;
    Key key(group, name);
    owners[key].emplace(definition);
    held.insert(std::move(key));
  };
  for (const auto& [field, reason, is_kind] : kFields) {
    hold(is_kind ? kinds : resources, is_kind ? kinds_ : resources_, names[field].AsString());
  }
  const Value short_names = names["shortNames"];
  for (const Value& name : short_names.items()) hold(resources, resources_, name.AsString());
}

void DefinitionNames::Remove(std::string_view definition) {
  const auto found = held_.find(definition);
  if (found == held_.end()) return;
  const auto release = [&](const std::set<Key>& held, Owners& owners) {
    for (const auto& key : held) {
      auto owned = owners.find(key);
      owned->second.erase(owned->second.find(definition));
      if (owned->second.empty()) owners.erase(owned);
    }
  };
  release(found->second.first, resources_);
  release(found->second.second, kinds_);
  held_.erase(found);
}

bool DefinitionNames::TakenByAnother(const Owners& owners, std::string_view group,
                                     std::string_view name, std::string_view definition) {
  const auto found = owners.find({std::string(group), std::string(name)});
  return found != owners.end() &&
         std::ranges::any_of(found->second, [&](const auto& owner) { return owner != definition; });
}

DefinitionNames::Outcome DefinitionNames::Judge(const Value& root) const {
  const auto definition = root["metadata"]["name"].AsString();
  const auto group = root["spec"]["group"].AsString();
  const Value wanted = root["spec"]["names"];
  const Value accepted = root["status"]["acceptedNames"];
  Outcome outcome;
  Condition names{.type = kNamesAccepted,
                  .status = kTrue,
                  .reason = "NoConflicts",
                  .message = "no conflicts found"};
  const auto refuse = [&](std::string_view reason, std::string message) {
    names.status = kFalse;
    names.reason = reason;
    names.message = std::move(message);
  };
  const auto settle_short_names = [&] {
    const Value short_names = wanted["shortNames"];
    const auto mine = accepted["shortNames"];
    std::vector<std::string> conflicts;
    for (const Value& name : short_names.items()) {
      const auto items = mine.items();
      if (std::ranges::find(items, name) != items.end()) continue;
      if (TakenByAnother(resources_, group, name.AsString(), definition)) {
        conflicts.push_back(InUse(name.AsString()));
      }
    }
    if (conflicts.empty()) {
      outcome.names.emplace_back("shortNames", short_names);
    } else {
      refuse("ShortNamesConflict", conflicts.size() == 1
                                       ? conflicts[0]
                                       : fmt::format("[{}]", fmt::join(conflicts, ", ")));
    }
  };
  for (const auto& [field, reason, is_kind] : kFields) {
    const auto name = wanted[field].AsString();
    if (field == "kind") settle_short_names();
    if (name != accepted[field].AsString() &&
        TakenByAnother(is_kind ? kinds_ : resources_, group, name, definition)) {
      refuse(reason, InUse(name));
    } else {
      outcome.names.emplace_back(field, wanted[field]);
    }
  }
  outcome.names.emplace_back("categories", wanted["categories"]);

  // Upstream takes a step more to establish a definition, so that other servers can follow.
  const bool good = names.status == kTrue;
  if (!IsConditionTrue(root, kEstablished)) {
    outcome.conditions.push_back(
        {.type = kEstablished,
         .status = good ? kTrue : kFalse,
         .reason = good ? "InitialNamesAccepted" : "NotAccepted",
         .message = good ? "the initial names have been accepted" : "not all names are accepted"});
  }
  outcome.conditions.insert(outcome.conditions.begin(), std::move(names));
  if (auto approval = ApprovalCondition(root)) outcome.conditions.push_back(*std::move(approval));
  return outcome;
}

bool DefinitionNames::IsSettled(const Value& root) const {
  const auto outcome = Judge(root);
  const Value accepted = root["status"]["acceptedNames"];
  const auto same = [&](const auto& entry) {
    const Value there = accepted[entry.first];
    return there == entry.second || (there.size() == 0 && entry.second.size() == 0);
  };
  const auto said = [&](const Condition& condition) { return HasCondition(root, condition); };
  return std::ranges::all_of(outcome.names, same) && std::ranges::all_of(outcome.conditions, said);
}

bool DefinitionNames::Settle(Ref definition, WallTime now) const {
  const Value before = definition.Get();
  if (IsSettled(before)) return false;
  const auto outcome = Judge(before);
  Ref accepted = definition.Field("status").Field("acceptedNames");
  for (const auto& [field, value] : outcome.names) {
    if (value.is_null()) {
      accepted.RemoveField(field);
    } else {
      accepted.SetField(field, value);
    }
  }
  for (const auto& condition : outcome.conditions) SetCondition(definition, condition, now);
  return true;
}

}  // namespace keelson::apiextensions
