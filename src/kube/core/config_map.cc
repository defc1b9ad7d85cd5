#include "kube/core/kinds.h"

namespace keelson::kube::core {
namespace {

void CheckKey(std::string_view field, std::string_view key, FieldErrors& errors) {
  if (auto complaints = names::CheckConfigMapKey(key); !complaints.empty()) {
    schema::AddComplaints(errors, Path(field).Key(key), key, complaints);
  }
}

void Validate(const WriteScope&, const Value& object, FieldErrors& errors) {
  const v1::ConfigMap map(object);
  const auto binary = map.binaryData();
  int64_t total = 0;
  for (const auto [key, text] : map.data()) {
    CheckKey("data", key, errors);
    if (!binary.empty() && binary.contains(key)) {
      errors.push_back(
          Invalid(Path("data").Key(key), key, "duplicate of key present in binaryData"));
    }
    total += static_cast<int64_t>(text.size());
  }
  for (const auto [key, text] : binary) {
    CheckKey("binaryData", key, errors);
    total += DecodedSize(text);
  }
  // The whole object is meant: the path is empty.
  if (total > kMaxDataBytes) errors.push_back(schema::TooLong(Path(""), kMaxDataBytes));
}

void ValidateUpdate(const WriteScope& scope, const Value& object, const Value& stored,
                    FieldErrors& errors) {
  const v1::ConfigMap map(object);
  const v1::ConfigMap old(stored);
  if (old.immutable().value_or(false)) {
    auto refuse = [&](std::string_view field) {
      errors.push_back(Forbidden(Path(field), "field is immutable when `immutable` is set"));
    };
    if (!map.immutable().value_or(false)) refuse("immutable");
    if (map.data().value() != old.data().value()) refuse("data");
    if (map.binaryData().value() != old.binaryData().value()) refuse("binaryData");
  }
  Validate(scope, object, errors);
}

}  // namespace

int64_t DecodedSize(std::string_view base64) {
  auto size = static_cast<int64_t>(base64.size() / 4 * 3);
  while (base64.ends_with('=')) {
    base64.remove_suffix(1);
    --size;
  }
  return size;
}

constinit const KindRules kConfigMapRules = {.validate = Validate,
                                             .validate_update = ValidateUpdate};

}  // namespace keelson::kube::core
