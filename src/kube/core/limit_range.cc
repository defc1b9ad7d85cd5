#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "base/seen.h"
#include "kube/core/kinds.h"
#include "kube/core/resource_names.h"
#include "kube/pod/resources.h"

namespace keelson::kube::core {
namespace {

using value::Quantity;

// One resource as the five maps of an item speak of it.
class Bounds {
 public:
  Bounds(const v1::LimitRangeItem& item, std::string_view resource, bool with_defaults)
      : min_(item.min(), resource),
        max_(item.max(), resource),
        default_(with_defaults ? item.default_() : schema::MapView<std::string_view>(), resource),
        request_(with_defaults ? item.defaultRequest() : schema::MapView<std::string_view>(),
                 resource),
        ratio_(item.maxLimitRequestRatio(), resource),
        resource_(resource) {}

  void Check(const Path& item, FieldErrors& errors) const {
    auto refuse = [&](std::string_view map, const Amount& shown, std::string why) {
      errors.push_back(Invalid(item.Child(map).Key(resource_), shown.text, std::move(why)));
    };
    if (min_ > max_) {
      refuse("min", min_,
             fmt::format("min value {} is greater than max value {}", min_.text, max_.text));
    }
    if (min_ > request_) {
      refuse("defaultRequest", request_,
             fmt::format("min value {} is greater than default request value {}", min_.text,
                         request_.text));
    }
    if (request_ > max_) {
      refuse("defaultRequest", request_,
             fmt::format("default request value {} is greater than max value {}", request_.text,
                         max_.text));
    }
    if (request_ > default_) {
      refuse("defaultRequest", request_,
             fmt::format("default request value {} is greater than default limit value {}",
                         request_.text, default_.text));
    }
    // Upstream shows the bound, not the default, in these two.
    if (min_ > default_) {
      refuse(
          "default", min_,
          fmt::format("min value {} is greater than default value {}", min_.text, default_.text));
    }
    if (default_ > max_) {
      refuse(
          "default", max_,
          fmt::format("default value {} is greater than max value {}", default_.text, max_.text));
    }
    CheckRatio(refuse);
    if (default_.quantity && request_.quantity && !pod::IsOvercommitAllowed(resource_) &&
        default_.quantity->Compare(*request_.quantity) != 0) {
      refuse("defaultRequest", request_,
             fmt::format("default value {} must equal to defaultRequest value {} in {}",
                         default_.text, request_.text, resource_));
    }
  }

 private:
  struct Amount {
    Amount(schema::MapView<std::string_view> map, std::string_view resource) {
      if (!map.contains(resource)) return;
      text = map[resource];
      quantity = QuantityOf(text);
    }
    bool operator>(const Amount& other) const {
      return quantity && other.quantity && quantity->Compare(*other.quantity) > 0;
    }
    std::string_view text;
    std::optional<Quantity> quantity;
  };

  template <typename Refuse>
  void CheckRatio(const Refuse& refuse) const {
    if (!ratio_.quantity) return;
    if (ratio_.quantity->Compare(Quantity(1)) < 0) {
      refuse("maxLimitRequestRatio", ratio_, fmt::format("ratio {} is less than 1", ratio_.text));
    }
    if (!min_.quantity || !max_.quantity) return;
    constexpr int64_t kMaxMilli = std::numeric_limits<int64_t>::max() / 1000;
    auto ratio = static_cast<double>(ratio_.quantity->Value());
    int64_t min = min_.quantity->Value();
    int64_t max = max_.quantity->Value();
    if (ratio_.quantity->Value() < kMaxMilli && min < kMaxMilli && max < kMaxMilli) {
      ratio = static_cast<double>(ratio_.quantity->MilliValue()) / 1000;
      min = min_.quantity->MilliValue();
      max = max_.quantity->MilliValue();
    }
    const double limit = static_cast<double>(max) / static_cast<double>(min);
    if (ratio > limit) {
      refuse("maxLimitRequestRatio", ratio_,
             fmt::format("ratio {} is greater than max/min = {:f}", ratio_.text, limit));
    }
  }

  Amount min_;
  Amount max_;
  Amount default_;
  Amount request_;
  Amount ratio_;
  std::string_view resource_;
};

void CheckTypeName(std::string_view type, const Path& path, FieldErrors& errors) {
  if (type == "Container" || type == "Pod" || type == "PersistentVolumeClaim") return;
  if (auto complaints = names::CheckQualifiedName(type); !complaints.empty()) {
    schema::AddComplaints(errors, path, type, complaints);
  } else if (type.find('/') == std::string_view::npos) {
    errors.push_back(Invalid(path, type, "must be a standard limit type or fully qualified"));
  }
}

void CheckItem(const v1::LimitRangeItem& item, const Path& path, FieldErrors& errors) {
  const auto type = item.type();
  std::vector<std::string_view> resources;
  auto check_names = [&](std::string_view map, schema::MapView<std::string_view> amounts) {
    for (const auto [resource, text] : amounts) {
      const Path map_path = path.Child(map);
      const Path at = map_path.Key(resource);
      if (type == "Pod" || type == "Container") {
        CheckContainerResourceName(resource, at, errors);
      } else {
        CheckResourceName(resource, at, errors);
      }
      resources.push_back(resource);
    }
  };
  check_names("max", item.max());
  check_names("min", item.min());
  if (type == "Pod") {
    auto forbid = [&](std::string_view map, bool given) {
      if (given) {
        errors.push_back(Forbidden(path.Child(map), "may not be specified when `type` is 'Pod'"));
      }
    };
    forbid("default", !item.default_().empty());
    forbid("defaultRequest", !item.defaultRequest().empty());
  } else {
    check_names("default", item.default_());
    check_names("defaultRequest", item.defaultRequest());
  }
  if (type == "PersistentVolumeClaim" && !item.min().contains("storage") &&
      !item.max().contains("storage")) {
    errors.push_back(
        Required(path.Child("limits"),
                 "either minimum or maximum storage value is required, but neither was provided"));
  }
  check_names("maxLimitRequestRatio", item.maxLimitRequestRatio());
  std::ranges::sort(resources);
  resources.erase(std::ranges::unique(resources).begin(), resources.end());
  for (const auto resource : resources) Bounds(item, resource, type != "Pod").Check(path, errors);
}

void Validate(const WriteScope&, const Value& object, FieldErrors& errors) {
  const auto limits = v1::LimitRange(object).spec().limits();
  const Path spec("spec");
  const Path list = spec.Child("limits");
  Seen<std::string_view> types;
  for (size_t i = 0; i < limits.size(); ++i) {
    const Path path = list.Index(i);
    const auto type = limits[i].type();
    CheckTypeName(type, path.Child("type"), errors);
    if (!types.Insert(type)) errors.push_back(schema::Duplicate(path.Child("type"), type));
    CheckItem(limits[i], path, errors);
  }
}

void PrepareForCreate(const WriteScope&, Ref object) {
  Ref metadata = object.Field("metadata");
  if (metadata.Get()["name"].AsString().empty()) {
    metadata.SetField("name", object.builder().String(NewUuid()));
  }
}

// What `into` has not from `from`, in a sorted map of the editor's arena.
Value WithMissing(schema::StructEditor& object, const Value& into, const Value& from) {
  std::vector<value::Member> merged(into.members().begin(), into.members().end());
  for (const auto& member : from.members()) {
    if (into.Find(*member.name) == nullptr) merged.push_back(member);
  }
  if (merged.size() == into.members().size()) return into;
  std::ranges::sort(merged, {}, &value::Member::key);
  auto* members = object.arena().AllocateArray<value::Member>(merged.size());
  std::ranges::copy(merged, members);
  return Value::Object({members, merged.size()});
}

}  // namespace

// What a container gets that asks for nothing follows from what it may have at most and at least.
void DefaultLimitRangeItem(schema::StructEditor& object) {
  using Names = v1::LimitRangeItem::Names;
  if (object.Get(Names::type).AsString() != "Container") return;
  const Value limit = WithMissing(object, object.Get(Names::default_), object.Get(Names::max));
  Value request = WithMissing(object, object.Get(Names::defaultRequest), limit);
  request = WithMissing(object, request, object.Get(Names::min));
  if (limit.size() > 0) object.Set(Names::default_, limit);
  if (request.size() > 0) object.Set(Names::defaultRequest, request);
}

constinit const KindRules kLimitRangeRules = {
    .create_on_update = true,
    .prepare_for_create = PrepareForCreate,
    .validate = Validate,
};

}  // namespace keelson::kube::core
