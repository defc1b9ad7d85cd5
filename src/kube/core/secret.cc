#include <algorithm>
#include <string>
#include <vector>

#include "crypto/base64.h"
#include "crypto/certificate.h"
#include "crypto/key.h"
#include "crypto/pem.h"
#include "kube/core/kinds.h"
#include "value/json.h"

namespace keelson::kube::core {
namespace {

constexpr std::string_view kServiceAccountName = "kubernetes.io/service-account.name";

// What a type of secret demands of its data.
enum class Demand : uint8_t {
  kPresent,    // every key
  kAny,        // at least one of the keys
  kNotEmpty,   // every key, with something in it
  kJsonObject  // every key, holding a JSON object
};
struct TypeRule {
  std::string_view type;
  Demand demand;
  std::string_view keys[2];
};
constexpr TypeRule kTypeRules[] = {
    {"kubernetes.io/dockercfg", Demand::kJsonObject, {".dockercfg"}},
    {"kubernetes.io/dockerconfigjson", Demand::kJsonObject, {".dockerconfigjson"}},
    {"kubernetes.io/basic-auth", Demand::kAny, {"username", "password"}},
    {"kubernetes.io/ssh-auth", Demand::kNotEmpty, {"ssh-privatekey"}},
    {"kubernetes.io/tls", Demand::kPresent, {"tls.crt", "tls.key"}},
};

// What Go's decoder says about a text that should be a JSON object; empty when it is one.
std::string JsonObjectComplaint(std::string_view base64) {
  const auto text = crypto::Base64Decode(base64);
  if (!text) return text.error().message;
  const auto parsed = value::ParseJson(*text);
  if (!parsed) return parsed.error().message;
  const auto kind = parsed->root().kind();
  if (kind == value::Kind::kObject || kind == value::Kind::kNull) return {};
  const std::string_view name = kind == value::Kind::kList     ? "array"
                                : kind == value::Kind::kString ? "string"
                                : kind == value::Kind::kBool   ? "bool"
                                                               : "number";
  return fmt::format("json: cannot unmarshal {} into Go value of type map[string]interface {{}}",
                     name);
}

void CheckType(const TypeRule& rule, schema::MapView<std::string_view> data, FieldErrors& errors) {
  if (rule.demand == Demand::kAny && (data.contains(rule.keys[0]) || data.contains(rule.keys[1]))) {
    return;
  }
  for (const auto key : rule.keys) {
    if (key.empty()) continue;
    const bool missing = rule.demand == Demand::kNotEmpty ? data[key].empty() : !data.contains(key);
    if (missing) {
      errors.push_back(Required(Path("data").Key(key), ""));
    } else if (rule.demand == Demand::kJsonObject) {
      if (auto complaint = JsonObjectComplaint(data[key]); !complaint.empty()) {
        errors.push_back(
            Invalid(Path("data").Key(key), "<secret contents redacted>", std::move(complaint)));
      }
    }
  }
}

void Validate(const WriteScope&, const Value& object, FieldErrors& errors) {
  const v1::Secret secret(object);
  int64_t total = 0;
  for (const auto [key, base64] : secret.data()) {
    if (auto complaints = names::CheckConfigMapKey(key); !complaints.empty()) {
      schema::AddComplaints(errors, Path("data").Key(key), key, complaints);
    }
    total += DecodedSize(base64);
  }
  if (total > kMaxDataBytes) errors.push_back(schema::TooLong(Path("data"), kMaxDataBytes));
  const auto type = secret.type();
  if (type == "kubernetes.io/service-account-token" &&
      secret.metadata().annotations()[kServiceAccountName].empty()) {
    errors.push_back(Required(Path("metadata").Child("annotations").Key(kServiceAccountName), ""));
  }
  for (const auto& rule : kTypeRules) {
    if (rule.type == type) CheckType(rule, secret.data(), errors);
  }
}

void ValidateUpdate(const WriteScope& scope, const Value& object, const Value& stored,
                    FieldErrors& errors) {
  const v1::Secret secret(object);
  const v1::Secret old(stored);
  if (secret.type() != old.type()) errors.push_back(Immutable(Path("type"), secret.type()));
  if (old.immutable().value_or(false)) {
    auto refuse = [&](std::string_view field) {
      errors.push_back(Forbidden(Path(field), "field is immutable when `immutable` is set"));
    };
    if (!secret.immutable().value_or(false)) refuse("immutable");
    if (secret.data().value() != old.data().value()) refuse("data");
  }
  Validate(scope, object, errors);
}

// What a server that loaded the pair would complain of; empty when it would not.
std::string KeyPairComplaint(std::string_view certificate_base64, std::string_view key_base64) {
  const auto certificate_pem = crypto::Base64Decode(certificate_base64);
  const auto key_pem = crypto::Base64Decode(key_base64);
  if (!certificate_pem || !key_pem) return {};
  const auto has_blocks = [](const std::string& pem) {
    const auto blocks = crypto::ParsePem(pem);
    return blocks && !blocks->empty();
  };
  if (!has_blocks(*certificate_pem)) return "tls: failed to find any PEM data in certificate input";
  if (!has_blocks(*key_pem)) return "tls: failed to find any PEM data in key input";
  const auto ders = crypto::CertificateDersFromPem(*certificate_pem);
  const auto key = crypto::PrivateKey::FromPem(*key_pem);
  if (!ders || !key) return {};
  const auto certificate = crypto::ParseCertificate(ders->front());
  if (!certificate || certificate->public_key_der == key->Public().ToDer()) return {};
  return "tls: private key does not match public key";
}

std::vector<std::string> Warnings(const WriteScope&, const Value& object, const Value*) {
  const v1::Secret secret(object);
  if (secret.type() != "kubernetes.io/tls") return {};
  auto complaint = KeyPairComplaint(secret.data()["tls.crt"], secret.data()["tls.key"]);
  if (complaint.empty()) return {};
  return {std::move(complaint)};
}

void PrepareForUpdate(const WriteScope&, Ref object, const Value& old) {
  if (v1::Secret(object.Get()).type().empty()) {
    object.SetField(v1::Secret::Names::type, old[v1::Secret::Names::type]);
  }
}

}  // namespace

// stringData is a way to write data without encoding it oneself; nothing of it is ever stored.
void DefaultSecret(schema::StructEditor& object) {
  using Names = v1::Secret::Names;
  object.SetDefault(Names::type, Value::String("Opaque", /*plain=*/true));
  const Value plain = object.Get(Names::stringData);
  if (plain.is_null()) return;
  object.Remove(Names::stringData);
  if (plain.members().empty()) return;
  const Value data = object.Get(Names::data);
  std::vector<value::Member> merged;
  merged.reserve(data.members().size() + plain.members().size());
  for (const auto& member : data.members()) {
    if (plain.Find(*member.name) == nullptr) merged.push_back(member);
  }
  for (const auto& member : plain.members()) {
    merged.emplace_back(member.name, object.String(crypto::Base64Encode(member.value.AsString())));
  }
  std::ranges::sort(merged, {}, &value::Member::key);
  auto* members = object.arena().AllocateArray<value::Member>(merged.size());
  std::ranges::copy(merged, members);
  object.Set(Names::data, Value::Object({members, merged.size()}));
}

constinit const KindRules kSecretRules = {.prepare_for_update = PrepareForUpdate,
                                          .validate = Validate,
                                          .validate_update = ValidateUpdate,
                                          .warnings = Warnings};

}  // namespace keelson::kube::core
