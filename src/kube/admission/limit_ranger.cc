// LimitRanger: what containers, pods and claims of a namespace get when they do not say, and how
// much or little they may ask for.

#include <fmt/format.h>

#include <vector>

#include "api/core_v1.h"
#include "kube/admission/plugins.h"
#include "kube/pod/resources.h"

namespace keelson::kube::plugins {
namespace {

namespace core = api::core_v1;
using pod::ResourceAmounts;
using value::Document;
using value::Quantity;
using value::Ref;
using value::Value;

Quantity Parse(std::string_view text) {
  auto quantity = Quantity::Parse(text);
  return quantity ? *std::move(quantity) : Quantity();
}

ResourceAmounts AmountsOf(const Value& list) {
  ResourceAmounts amounts;
  for (const auto& member : list.members()) {
    amounts.emplace(member.key(), Parse(member.value.AsString()));
  }
  return amounts;
}

// --- defaults ------------------------------------------------------------------------------------

// Sets what `list` of a container lacks. Returns the names set, joined, which come sorted.
std::string FillAmounts(Ref resources, std::string_view field, const Value& defaults) {
  std::string names;
  for (const auto& member : defaults.members()) {
    if (resources.Get()[field].Find(*member.name)) continue;
    resources.Field(field).SetField(member.key(),
                                    resources.builder().String(member.value.AsString()));
    if (!names.empty()) names += ", ";
    names += member.key();
  }
  return names;
}

void FillContainers(Ref pod, std::string_view list, std::string_view what, const Value& requests,
                    const Value& limits, std::vector<std::string>& notes) {
  const size_t count = pod.Get()["spec"][list].items().size();
  for (size_t i = 0; i < count; ++i) {
    Ref container = pod.Field("spec").Field(list).Item(i);
    const std::string name(container.Get()["name"].AsString());
    const auto set_limits = FillAmounts(container.Field("resources"), "limits", limits);
    const auto set_requests = FillAmounts(container.Field("resources"), "requests", requests);
    if (!set_requests.empty()) {
      notes.push_back(fmt::format("{} request for {} {}", set_requests, what, name));
    }
    if (!set_limits.empty()) {
      notes.push_back(fmt::format("{} limit for {} {}", set_limits, what, name));
    }
  }
}

void FillPod(Ref pod, const Value& range) {
  value::Builder merged;
  merged.root().Field("requests").Set(Value::EmptyObject());
  merged.root().Field("limits").Set(Value::EmptyObject());
  for (auto limit : core::LimitRange(range).spec().limits()) {
    if (limit.type() != "Container") continue;
    for (const auto& member : limit.defaultRequest().value().members()) {
      merged.root().Field("requests").SetField(*member.name, member.value.Shared());
    }
    for (const auto& member : limit.default_().value().members()) {
      merged.root().Field("limits").SetField(*member.name, member.value.Shared());
    }
  }
  const Value defaults = merged.root().Get();
  std::vector<std::string> notes;
  FillContainers(pod, "containers", "container", defaults["requests"], defaults["limits"], notes);
  FillContainers(pod, "initContainers", "init container", defaults["requests"], defaults["limits"],
                 notes);
  if (notes.empty()) return;
  pod.Field("metadata")
      .Field("annotations")
      .SetField(
          "kubernetes.io/limit-ranger",
          pod.builder().String(fmt::format("LimitRanger plugin set: {}", fmt::join(notes, "; "))));
}

// --- constraints ---------------------------------------------------------------------------------

const Quantity* Find(const ResourceAmounts& amounts, std::string_view resource) {
  auto found = amounts.find(resource);
  return found == amounts.end() ? nullptr : &found->second;
}

// What one limit says about one consumer's requests and limits.
class Constraints {
 public:
  Constraints(core::LimitRangeItem limit, std::vector<std::string>& errors)
      : limit_(limit), errors_(errors) {}

  void Check(const ResourceAmounts& requests, const ResourceAmounts& limits) {
    CheckMinimum(requests, limits);
    for (auto [resource, text] : limit_.max()) {
      const Quantity bound = Parse(text);
      const Quantity* request = Find(requests, resource);
      const Quantity* limit = Find(limits, resource);
      if (!limit) {
        Add("maximum", resource, bound, ".  No limit is specified");
      } else if (limit->Compare(bound) > 0) {
        Add("maximum", resource, bound, fmt::format(", but limit is {}", limit->ToString()));
      } else if (request && request->Compare(bound) > 0) {
        Add("maximum", resource, bound, fmt::format(", but request is {}", request->ToString()));
      }
    }
    for (auto [resource, text] : limit_.maxLimitRequestRatio()) {
      CheckRatio(resource, Parse(text), Find(requests, resource), Find(limits, resource));
    }
  }

  void CheckMinimum(const ResourceAmounts& requests, const ResourceAmounts& limits) {
    for (auto [resource, text] : limit_.min()) {
      const Quantity bound = Parse(text);
      const Quantity* request = Find(requests, resource);
      const Quantity* limit = Find(limits, resource);
      if (!request) {
        Add("minimum", resource, bound, ".  No request is specified");
      } else if (request->Compare(bound) < 0) {
        Add("minimum", resource, bound, fmt::format(", but request is {}", request->ToString()));
      } else if (limit && limit->Compare(bound) < 0) {
        Add("minimum", resource, bound, fmt::format(", but limit is {}", limit->ToString()));
      }
    }
  }

  // For claims, which have no limits.
  void CheckMaximumRequest(const ResourceAmounts& requests) {
    for (auto [resource, text] : limit_.max()) {
      const Quantity bound = Parse(text);
      const Quantity* request = Find(requests, resource);
      if (!request) {
        Add("maximum", resource, bound, ".  No request is specified");
      } else if (request->Compare(bound) > 0) {
        Add("maximum", resource, bound, fmt::format(", but request is {}", request->ToString()));
      }
    }
  }

 private:
  void Add(std::string_view which, std::string_view resource, const Quantity& bound,
           std::string_view rest) {
    errors_.push_back(fmt::format("{} {} usage per {} is {}{}", which, resource, limit_.type(),
                                  bound.ToString(), rest));
  }

  void CheckRatio(std::string_view resource, const Quantity& bound, const Quantity* request,
                  const Quantity* limit) {
    auto refuse = [&](std::string_view why) {
      errors_.push_back(fmt::format("{} max limit to request ratio per {} is {}, but {}", resource,
                                    limit_.type(), bound.ToString(), why));
    };
    if (!request || request->IsZero()) {
      refuse("no request is specified or request is 0");
    } else if (!limit || limit->IsZero()) {
      refuse("no limit is specified or limit is 0");
    } else {
      const double ratio = limit->AsDouble() / request->AsDouble();
      if (ratio > bound.AsDouble()) refuse(fmt::format("provided ratio is {:f}", ratio));
    }
  }

  core::LimitRangeItem limit_;
  std::vector<std::string>& errors_;
};

// All containers together, with what the pod as a whole says about cpu and memory.
ResourceAmounts PodAmounts(core::PodSpec spec, pod::Demand demand) {
  auto amounts = pod::AggregateContainers(spec, demand);
  const auto resources = spec.resources();
  const Value own =
      demand == pod::Demand::kRequests ? resources.requests().value() : resources.limits().value();
  for (const auto& member : own.members()) {
    if (member.key() == "cpu" || member.key() == "memory") {
      amounts.insert_or_assign(member.key(), Parse(member.value.AsString()));
    }
  }
  return amounts;
}

void CheckPod(core::PodSpec spec, const Value& range, std::vector<std::string>& errors) {
  for (auto limit : core::LimitRange(range).spec().limits()) {
    Constraints constraints(limit, errors);
    if (limit.type() == "Container") {
      for (const auto& list : {spec.containers(), spec.initContainers()}) {
        for (auto container : list) {
          constraints.Check(AmountsOf(container.resources().requests().value()),
                            AmountsOf(container.resources().limits().value()));
        }
      }
    } else if (limit.type() == "Pod") {
      constraints.Check(PodAmounts(spec, pod::Demand::kRequests),
                        PodAmounts(spec, pod::Demand::kLimits));
    }
  }
}

void CheckClaim(const Value& claim, const Value& range, std::vector<std::string>& errors) {
  const auto requests = AmountsOf(claim["spec"]["resources"]["requests"]);
  for (auto limit : core::LimitRange(range).spec().limits()) {
    if (limit.type() != "PersistentVolumeClaim") continue;
    Constraints constraints(limit, errors);
    constraints.CheckMinimum(requests, {});
    constraints.CheckMaximumRequest(requests);
  }
}

std::string Aggregate(const std::vector<std::string>& errors) {
  if (errors.size() == 1) return errors.front();
  std::vector<std::string_view> distinct;
  for (const auto& error : errors) {
    if (std::ranges::find(distinct, error) == distinct.end()) distinct.push_back(error);
  }
  if (distinct.size() == 1) return std::string(distinct.front());
  return fmt::format("[{}]", fmt::join(distinct, ", "));
}

class LimitRanger final : public Plugin {
 public:
  explicit LimitRanger(const Objects& objects) : objects_(objects) {}

  std::string_view name() const override { return "LimitRanger"; }
  bool Handles(const Request& request) const override {
    if (!request.old_object["metadata"]["deletionTimestamp"].is_null()) return false;
    if (request.operation == Operation::kUpdate && request.IsFor("", "pods")) {
      return request.subresource == "resize";
    }
    if (!Creates(request, "", "pods") && !Writes(request, "", "persistentvolumeclaims")) {
      return false;
    }
    return !objects_.KnownToBeNone("", "limitranges", request.ns);
  }

  bool mutates() const override { return true; }
  Task<ApiResult<void>> Mutate(const Request& request, Ref pod) const override {
    if (request.resource != "pods") co_return ApiResult<void>();
    auto ranges = co_await objects_.List("", "limitranges", std::string(request.ns));
    if (!ranges) co_return std::unexpected(std::move(ranges).error());
    for (const auto& range : *ranges) FillPod(pod, range.root());
    co_return ApiResult<void>();
  }

  bool validates() const override { return true; }
  Task<ApiResult<void>> Validate(const Request& request) const override {
    auto ranges = co_await objects_.List("", "limitranges", std::string(request.ns));
    if (!ranges) co_return std::unexpected(std::move(ranges).error());
    for (const auto& range : *ranges) {
      std::vector<std::string> errors;
      if (request.resource == "pods") {
        CheckPod(core::PodSpec(request.object["spec"]), range.root(), errors);
      } else {
        CheckClaim(request.object, range.root(), errors);
      }
      if (!errors.empty()) co_return Forbid(request, Aggregate(errors));
    }
    co_return ApiResult<void>();
  }

 private:
  const Objects& objects_;
};

}  // namespace

PluginPtr NewLimitRanger(const Objects& objects) { return std::make_unique<LimitRanger>(objects); }

}  // namespace keelson::kube::plugins
