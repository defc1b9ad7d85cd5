// CSIDriver, CSINode, CSIStorageCapacity: what storage drivers tell about themselves.

#include <unordered_map>
#include <vector>

#include "api/storage_v1.h"
#include "kube/cluster/kinds.h"
#include "kube/cluster/storage_names.h"
#include "rest/field_checks.h"
#include "rest/seen_texts.h"
#include "schema/internal_form.h"
#include "schema/struct_editor.h"
#include "value/quantity.h"

namespace keelson::kube::cluster {
namespace {

using api::meta_v1::LabelSelector;
using api::storage_v1::CSIDriver;
using api::storage_v1::CSIDriverSpec;
using api::storage_v1::CSINode;
using api::storage_v1::CSINodeDriver;
using api::storage_v1::CSIStorageCapacity;
using rest::WriteScope;
using schema::FieldErrors;
using schema::Invalid;
using schema::Required;
using value::Path;
using value::Ref;
using value::Value;

constexpr int64_t kMinTokenSeconds = 600;
constexpr int64_t kMaxTokenSeconds = int64_t{1} << 32;
constexpr int64_t kMinUpdatePeriod = 10;
constexpr size_t kMaxNodeId = 256;

void CheckTokenRequests(const CSIDriverSpec& spec, const Path& path, FieldErrors& errors) {
  rest::SeenTexts audiences;
  const auto requests = spec.tokenRequests();
  for (size_t i = 0; i < requests.size(); ++i) {
    const Path at = path.Index(i);
    const auto audience = requests[i].audience();
    if (!audiences.Insert(audience)) {
      errors.push_back(schema::Duplicate(at.Child("audience"), audience));
      continue;
    }
    const auto expiration = requests[i].expirationSeconds();
    if (!expiration) continue;
    if (*expiration < kMinTokenSeconds) {
      errors.push_back(Invalid(at.Child("expirationSeconds"), *expiration,
                               "may not specify a duration less than 10 minutes"));
    }
    if (*expiration > kMaxTokenSeconds) {
      errors.push_back(Invalid(at.Child("expirationSeconds"), *expiration,
                               "may not specify a duration larger than 2^32 seconds"));
    }
  }
}

void CheckDriverSpec(const CSIDriverSpec& spec, FieldErrors& errors) {
  static constexpr std::string_view kFsGroup[] = {"File", "None", "ReadWriteOnceWithFSType"};
  static constexpr std::string_view kModes[] = {"Persistent", "Ephemeral"};
  const Path path("spec");
  const auto require = [&](bool set, std::string_view field) {
    if (!set) errors.push_back(Required(path.Child(field), ""));
  };
  // The first one's name is misspelt upstream.
  require(spec.attachRequired().has_value(), "attachedRequired");
  require(spec.podInfoOnMount().has_value(), "podInfoOnMount");
  require(spec.storageCapacity().has_value(), "storageCapacity");
  if (auto policy = spec.fsGroupPolicy()) {
    rest::CheckSupported(*policy, kFsGroup, path.Child("fsGroupPolicy"), errors);
  }
  CheckTokenRequests(spec, path.Child("tokenRequests"), errors);
  for (auto mode : spec.volumeLifecycleModes()) {
    rest::CheckSupported(mode, kModes, path.Child("volumeLifecycleModes"), errors);
  }
  require(spec.seLinuxMount().has_value(), "seLinuxMount");
  if (auto period = spec.nodeAllocatableUpdatePeriodSeconds();
      period && *period < kMinUpdatePeriod) {
    errors.push_back(Invalid(path.Child("nodeAllocatableUpdatePeriodSeconds"), *period,
                             "must be greater than or equal to 10 seconds"));
  }
  if (auto in_secrets = spec.serviceAccountTokenInSecrets();
      in_secrets && spec.tokenRequests().empty()) {
    errors.push_back(Invalid(path.Child("serviceAccountTokenInSecrets"), bool{*in_secrets},
                             "serviceAccountTokenInSecrets is set but no tokenRequests are "
                             "specified"));
  }
}

void ValidateDriver(const WriteScope&, const Value& object, FieldErrors& errors) {
  CheckDriverSpec(CSIDriver(object).spec(), errors);
}

void ValidateDriverUpdate(const WriteScope&, const Value& object, const Value& old,
                          FieldErrors& errors) {
  const auto spec = CSIDriver(object).spec();
  const auto before = CSIDriver(old).spec();
  CheckDriverSpec(spec, errors);
  const Path path("spec");
  if (spec.attachRequired() != before.attachRequired()) {
    errors.push_back(schema::Immutable(path.Child("attachedRequired"),
                                       spec.value()[CSIDriverSpec::Names::attachRequired]));
  }
  rest::CheckImmutableField(CSIDriverSpec::Schema(), CSIDriverSpec::Names::volumeLifecycleModes,
                            spec.value(), before.value(), path, errors);
}

// Its generation counts changes only; a new one has none.
void StartWithoutGeneration(const WriteScope&, Ref object) {
  object.Field("metadata").RemoveField("generation");
}

std::vector<std::string> DriverWarnings(const WriteScope&, const Value& object, const Value* old) {
  const auto spec = CSIDriver(object).spec();
  if (spec.tokenRequests().empty() || spec.serviceAccountTokenInSecrets()) return {};
  if (old != nullptr &&
      CSIDriver(*old).spec().tokenRequests().value() == spec.tokenRequests().value()) {
    return {};
  }
  return {
      "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to "
      "prevent possible logging of tokens in volume attributes"};
}

void CheckNodeDriver(const CSINodeDriver& driver, rest::SeenTexts& names_seen, const Path& path,
                     FieldErrors& errors) {
  CheckCsiDriverName(driver.name(), path.Child("name"), errors);
  const Path at_id = path.Child("nodeID");
  if (driver.nodeID().empty()) errors.push_back(Required(at_id, ""));
  if (driver.nodeID().size() > kMaxNodeId) {
    errors.push_back(Invalid(at_id, driver.nodeID(), "must be 256 characters or less"));
  }
  rest::CheckNonnegative(driver.allocatable().count(), path.Child("allocatable").Child("count"),
                         errors);
  if (!names_seen.Insert(driver.name())) {
    errors.push_back(schema::Duplicate(path.Child("name"), driver.name()));
  }
  rest::SeenTexts keys;
  for (auto key : driver.topologyKeys()) {
    if (key.empty()) errors.push_back(Required(path, ""));
    if (!keys.Insert(key)) errors.push_back(schema::Duplicate(path, key));
    rest::CheckText(key, names::CheckQualifiedName, path, errors);
  }
}

void ValidateNode(const WriteScope&, const Value& object, FieldErrors& errors) {
  const Path spec("spec");
  const Path path = spec.Child("drivers");
  rest::SeenTexts names_seen;
  const auto drivers = CSINode(object).spec().drivers();
  for (size_t i = 0; i < drivers.size(); ++i) {
    CheckNodeDriver(drivers[i], names_seen, path.Index(i), errors);
  }
}

// The driver without what it may change.
Value Fixed(const CSINodeDriver& driver, value::Arena& arena) {
  schema::StructEditor editor(CSINodeDriver::Schema(), driver.value(), arena);
  editor.Remove(CSINodeDriver::Names::allocatable);
  return editor.value();
}

void ValidateNodeUpdate(const WriteScope& scope, const Value& object, const Value& old,
                        FieldErrors& errors) {
  ValidateNode(scope, object, errors);
  const Value now = CSINode(object).spec().value();
  const Value before = CSINode(old).spec().value();
  if (now == before) return;
  const auto arena = value::Arena::Make(1024);
  const Path spec("spec");
  std::unordered_map<std::string_view, CSINodeDriver> changed;
  for (auto driver : CSINode(object).spec().drivers()) changed.emplace(driver.name(), driver);
  for (auto driver : CSINode(old).spec().drivers()) {
    const auto found = changed.find(driver.name());
    if (found == changed.end()) continue;
    rest::CheckImmutable(CSINodeDriver::Schema(), Fixed(found->second, *arena),
                         Fixed(driver, *arena), spec.Child("drivers"), errors);
  }
}

void CheckCapacity(const CSIStorageCapacity& object, rest::SelectorLeniency leniency,
                   FieldErrors& errors) {
  rest::CheckLabelSelector(object.nodeTopology().value(), Path("nodeTopology"), errors, leniency);
  rest::CheckName(object.storageClassName(), names::NameIsDnsSubdomain, Path("storageClassName"),
                  errors);
  if (auto capacity = object.capacity()) {
    auto amount = value::Quantity::Parse(*capacity);
    if (amount && amount->Sign() < 0) {
      errors.push_back(Invalid(Path("capacity"), *capacity, "must be greater than or equal to 0"));
    }
  }
}

void ValidateCapacity(const WriteScope&, const Value& object, FieldErrors& errors) {
  CheckCapacity(CSIStorageCapacity(object), {}, errors);
}

void ValidateCapacityUpdate(const WriteScope&, const Value& object, const Value& old,
                            FieldErrors& errors) {
  const CSIStorageCapacity now(object);
  const CSIStorageCapacity before(old);
  const Value topology = before.nodeTopology().value();
  CheckCapacity(now, {.bad_values = !rest::IsUsableSelector(topology)}, errors);
  rest::CheckImmutable(LabelSelector::Schema(), now.nodeTopology().value(), topology,
                       Path("nodeTopology"), errors);
  if (now.storageClassName() != before.storageClassName()) {
    errors.push_back(schema::Immutable(Path("storageClassName"), now.storageClassName()));
  }
}

}  // namespace

Rules kCsiDriver({.unconditional_update = false,
                  .counts_generation = true,
                  .prepare_for_create = StartWithoutGeneration,
                  .validate = ValidateDriver,
                  .validate_update = ValidateDriverUpdate,
                  .warnings = DriverWarnings});

Rules kCsiNode({.unconditional_update = false,
                .validate = ValidateNode,
                .validate_update = ValidateNodeUpdate});

Rules kCsiStorageCapacity({.unconditional_update = false,
                           .validate = ValidateCapacity,
                           .validate_update = ValidateCapacityUpdate});

}  // namespace keelson::kube::cluster
