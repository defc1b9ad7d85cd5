// Requests, limits and claims, of containers and of the pod as a whole.

#include <fmt/format.h>

#include "kube/pod/resources.h"
#include "kube/pod/validation.h"

namespace keelson::kube::pod {
namespace {

using schema::Duplicate;
using schema::Forbidden;
using schema::Invalid;
using schema::NotSupported;
using schema::Required;
using value::Quantity;

// Adds what is wrong with a resource's name. Returns whether anything was.
bool ValidateResourceName(std::string_view resource, const Path& path, FieldErrors& errors) {
  if (IsStandardContainerResource(resource) && !IsHugePages(resource)) return false;
  const auto complaints = names::CheckQualifiedName(resource);
  AddInvalid(errors, path, resource, complaints);
  if (!complaints.empty()) return true;
  if (resource.find('/') != std::string_view::npos || IsStandardResource(resource)) return false;
  errors.push_back(Invalid(path, resource, "must be a standard resource type or fully qualified"));
  return true;
}

void ValidateContainerResourceName(std::string_view resource, const Path& path,
                                   FieldErrors& errors) {
  ValidateResourceName(resource, path, errors);
  if (resource.find('/') == std::string_view::npos) {
    if (!IsStandardContainerResource(resource)) {
      errors.push_back(Invalid(path, resource, "must be a standard resource for containers"));
    }
  } else if (!IsNativeResource(resource) && !IsExtendedResource(resource)) {
    errors.push_back(Invalid(path, resource, "doesn't follow extended resource name standard"));
  }
}

void ValidatePodResourceName(std::string_view resource, const Path& path, FieldErrors& errors) {
  static constexpr std::string_view kSupported[] = {"cpu", "hugepages-", "memory"};
  if (ValidateResourceName(resource, path, errors)) return;
  if (!IsPodLevelResource(resource)) errors.push_back(NotSupported(path, resource, kSupported));
}

void ValidateHugePages(std::string_view resource, const Quantity& quantity, const Path& path,
                       FieldErrors& errors) {
  const auto size = Quantity::Parse(resource.substr(std::string_view("hugepages-").size()));
  const bool usable = size && size->Sign() > 0 && size->MilliValue() % 1000 == 0;
  if (usable && quantity.Value() % size->Value() == 0) return;
  errors.push_back(Invalid(
      path, quantity.ToString(),
      fmt::format("{} is not positive integer multiple of {}", quantity.ToString(), resource)));
}

using NameRule = void (*)(std::string_view resource, const Path& path, FieldErrors& errors);

// What was seen of one of the two lists.
struct ListFacts {
  bool has_compute = false;
  bool has_huge_pages = false;

  void Note(std::string_view resource) {
    has_compute = has_compute || resource == "cpu" || resource == "memory";
    has_huge_pages = has_huge_pages || IsHugePages(resource);
  }
};

void ValidateRequest(std::string_view resource, const Quantity& request, const Value& limits,
                     const Path& path, FieldErrors& errors) {
  const Value* limit = limits.Find(resource);
  if (!limit) {
    if (!IsOvercommitAllowed(resource)) {
      errors.push_back(
          Required(path.Child("limits"), "Limit must be set for non overcommitable resources"));
    }
    return;
  }
  const Quantity bound = QuantityOf(limit->AsString());
  const int order = request.Compare(bound);
  if (order == 0) return;
  if (!IsOvercommitAllowed(resource)) {
    errors.push_back(
        Invalid(path.Child("requests"), request.ToString(),
                fmt::format("must be equal to {} limit of {}", resource, bound.ToString())));
  } else if (order > 0) {
    errors.push_back(Invalid(
        path.Child("requests"), request.ToString(),
        fmt::format("must be less than or equal to {} limit of {}", resource, bound.ToString())));
  }
}

void ValidateClaims(ListView<core::ResourceClaim> claims, const SeenTexts& pod_claims,
                    const Path& path, FieldErrors& errors) {
  std::unordered_set<std::string> whole;     // claims referred to as a whole
  std::unordered_set<std::string> partial;   // claims of which some request was referred to
  std::unordered_set<std::string> requests;  // claim/request
  size_t i = 0;
  for (auto claim : claims) {
    const Path at = path.Index(i++);
    const std::string name(claim.name());
    if (name.empty()) {
      errors.push_back(Required(at, ""));
      continue;
    }
    if (whole.contains(name)) {
      errors.push_back(Duplicate(at, name));
    } else if (claim.request().empty()) {
      if (partial.contains(name)) errors.push_back(Duplicate(at, name));
      whole.insert(name);
    } else {
      CheckLabel(claim.request(), at.Child("request"), errors);
      const std::string key = name + "/" + std::string(claim.request());
      if (!requests.insert(key).second) errors.push_back(Duplicate(at, key));
      partial.insert(name);
    }
    if (pod_claims.Contains(name)) continue;
    auto error = schema::NotFound(at, name);
    error.detail = "must be one of the names in pod.spec.resourceClaims";
    auto known = pod_claims.All();
    std::ranges::sort(known);
    error.detail += known.empty() ? " which is empty" : fmt::format(": {}", fmt::join(known, ", "));
    errors.push_back(std::move(error));
  }
}

void ValidateRequirements(core::ResourceRequirements resources, NameRule check_name,
                          const SeenTexts& pod_claims, const Path& path, FieldErrors& errors) {
  ListFacts limits;
  ListFacts requests;
  for (auto [resource, text] : resources.limits()) {
    const Path at = path.Child("limits").Key(resource);
    const Quantity quantity = QuantityOf(text);
    check_name(resource, at, errors);
    ValidateResourceQuantity(resource, quantity, at, errors);
    if (IsHugePages(resource)) ValidateHugePages(resource, quantity, at, errors);
    limits.Note(resource);
  }
  for (auto [resource, text] : resources.requests()) {
    const Path at = path.Child("requests").Key(resource);
    const Quantity quantity = QuantityOf(text);
    check_name(resource, at, errors);
    ValidateResourceQuantity(resource, quantity, at, errors);
    ValidateRequest(resource, quantity, resources.limits().value(), path, errors);
    if (IsHugePages(resource)) ValidateHugePages(resource, quantity, at, errors);
    requests.Note(resource);
  }
  if (!limits.has_compute && !requests.has_compute &&
      (limits.has_huge_pages || requests.has_huge_pages)) {
    errors.push_back(Forbidden(path, "HugePages require cpu or memory"));
  }
  if (!resources.claims().empty()) {
    ValidateClaims(resources.claims(), pod_claims, path.Child("claims"), errors);
  }
}

// Containers together, and each alone, fit into what the pod has.
void ValidateConsistency(core::PodSpec spec, const Path& path, FieldErrors& errors) {
  const Value pod_requests = spec.resources().requests().value();
  const Value pod_limits = spec.resources().limits().value();
  for (const auto& [resource, sum] : AggregateContainers(spec, Demand::kRequests)) {
    const Value* request = pod_requests.Find(resource);
    if (!request || sum.Compare(QuantityOf(request->AsString())) <= 0) continue;
    errors.push_back(
        Invalid(path.Child("requests").Key(resource), request->AsString(),
                fmt::format("must be greater than or equal to aggregate container requests of {}",
                            sum.ToString())));
  }
  for (const auto& [resource, sum] : AggregateContainers(spec, Demand::kLimits)) {
    const Value* limit = IsHugePages(resource) ? pod_limits.Find(resource) : nullptr;
    if (!limit || sum.Compare(QuantityOf(limit->AsString())) <= 0) continue;
    errors.push_back(
        Invalid(path.Child("limits").Key(resource), limit->AsString(),
                fmt::format("must be greater than or equal to aggregate container limits of {}",
                            sum.ToString())));
  }
  size_t i = 0;
  for (auto container : spec.containers()) {
    const Path at = path.Child("containers").Index(i++);
    for (auto [resource, text] : container.resources().limits()) {
      const Value* limit = pod_limits.Find(resource);
      if (!limit || QuantityOf(text).Compare(QuantityOf(limit->AsString())) <= 0) continue;
      errors.push_back(Invalid(
          at.Key(resource).Child("limits"), text,
          fmt::format("must be less than or equal to pod limits of {}", limit->AsString())));
    }
  }
}

}  // namespace

void ValidateResourceQuantity(std::string_view resource, const Quantity& quantity, const Path& path,
                              FieldErrors& errors) {
  if (quantity.Sign() < 0) {
    errors.push_back(Invalid(path, quantity.ToString(), "must be greater than or equal to 0"));
  }
  if (!IsStandardContainerResource(resource) && IsIntegerResource(resource) &&
      quantity.MilliValue() % 1000 != 0) {
    errors.push_back(Invalid(path, quantity.ToString(), "must be an integer"));
  }
}

void ValidateContainerResources(core::ResourceRequirements resources, const SeenTexts& claim_names,
                                const Path& path, FieldErrors& errors) {
  ValidateRequirements(resources, ValidateContainerResourceName, claim_names, path, errors);
}

void ValidateOverhead(const Value& overhead, const Path& path, FieldErrors& errors) {
  const value::Member limits(&core::ResourceRequirements::Names::limits, overhead.Shared());
  ValidateRequirements(core::ResourceRequirements(Value::Object({&limits, 1})),
                       ValidateContainerResourceName, SeenTexts(), path, errors);
}

void ValidatePodResources(const PodContext& pod, const Path& spec_path, FieldErrors& errors) {
  const auto resources = pod.spec.resources();
  if (!resources) return;
  const Path path = spec_path.Child("resources");
  if (pod.spec.os().name() == "windows") {
    errors.push_back(Forbidden(path, "may not be set for a windows pod"));
    return;
  }
  if (!resources.claims().empty()) {
    errors.push_back(
        Forbidden(path.Child("claims"), "claims may not be set for Resources at pod-level"));
  }
  ValidateRequirements(resources, ValidatePodResourceName, pod.claim_names, path, errors);
  ValidateConsistency(pod.spec, path, errors);
}

}  // namespace keelson::kube::pod
