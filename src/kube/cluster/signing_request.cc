// CertificateSigningRequest: asks for a certificate, is approved or denied, and carries the answer.
// The spec never changes; approval and status are subresources of their own.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "api/certificates_v1.h"
#include "auth/user.h"
#include "base/quote.h"
#include "crypto/base64.h"
#include "crypto/certificate.h"
#include "crypto/certificate_request.h"
#include "crypto/pem.h"
#include "kube/cluster/kinds.h"
#include "rest/field_checks.h"
#include "rest/seen_texts.h"
#include "value/timestamp.h"

namespace keelson::kube::cluster {
namespace {

using api::certificates_v1::CertificateSigningRequest;
using rest::WriteScope;
using schema::FieldErrors;
using schema::Forbidden;
using schema::Invalid;
using schema::Required;
using value::Path;
using value::Ref;
using value::Value;

constexpr std::string_view kUsages[] = {"any",
                                        "cert sign",
                                        "client auth",
                                        "code signing",
                                        "content commitment",
                                        "crl sign",
                                        "data encipherment",
                                        "decipher only",
                                        "digital signature",
                                        "email protection",
                                        "encipher only",
                                        "ipsec end system",
                                        "ipsec tunnel",
                                        "ipsec user",
                                        "key agreement",
                                        "key encipherment",
                                        "microsoft sgc",
                                        "netscape sgc",
                                        "ocsp signing",
                                        "s/mime",
                                        "server auth",
                                        "signing",
                                        "timestamping"};
constexpr std::string_view kLegacySigner = "kubernetes.io/legacy-unknown";
constexpr size_t kMaxDomain = 253;
constexpr size_t kMaxSignerName = 253 + 1 + 253 + 1 + 63;
constexpr int32_t kMinExpiration = 600;

// --- preparing -----------------------------------------------------------------------------------

// Who asks is what the server saw, whatever the request says.
void PrepareForCreate(const WriteScope& scope, Ref object) {
  Ref spec = object.Field("spec");
  for (std::string_view field : {"username", "uid", "groups", "extra"}) spec.RemoveField(field);
  if (scope.user == nullptr) return;
  auto& builder = object.builder();
  spec.SetField("username", builder.String(scope.user->name));
  spec.SetField("uid", builder.String(scope.user->uid));
  const auto texts = [&](const std::vector<std::string>& list) {
    std::vector<Value> values;
    for (const auto& text : list) values.push_back(builder.String(text));
    return builder.List(values);
  };
  spec.SetField("groups", texts(scope.user->groups));
  for (const auto& [key, list] : scope.user->extra) {
    spec.Field("extra").SetField(key, texts(list));
  }
}

void PrepareForUpdate(const WriteScope&, Ref object, const Value& old) {
  object.SetField("spec", old["spec"]);
  object.SetField("status", old["status"]);
}

bool IsUnset(const Value& time) { return time.AsString().empty(); }

// When the condition last became what it is.
Value TransitionTime(const Value& condition, const Value& old, const Value& now) {
  for (const Value& before : old["status"]["conditions"].items()) {
    if (before["type"] == condition["type"] && before["status"] == condition["status"] &&
        !IsUnset(before["lastTransitionTime"])) {
      return before["lastTransitionTime"];
    }
  }
  return now;
}

void StampConditions(const WriteScope& scope, Ref object, const Value& old) {
  auto status = object.Find("status");
  auto conditions = status ? status->Find("conditions") : std::nullopt;
  if (!conditions) return;
  const auto seconds = std::chrono::floor<std::chrono::seconds>(scope.now).time_since_epoch();
  const Value now = object.builder().String(value::FormatTime({.seconds = seconds.count()}));
  for (size_t i = 0; i < conditions->size(); ++i) {
    Ref condition = conditions->Item(i);
    const Value present = condition.Get();
    if (IsUnset(present["lastUpdateTime"])) condition.SetField("lastUpdateTime", now);
    if (IsUnset(present["lastTransitionTime"])) {
      condition.SetField("lastTransitionTime", TransitionTime(present, old, now));
    }
  }
}

std::vector<size_t> Positions(const Value& object, std::string_view type) {
  std::vector<size_t> positions;
  const Value conditions = object["status"]["conditions"];
  for (size_t i = 0; i < conditions.items().size(); ++i) {
    if (conditions.items()[i]["type"].AsString() == type) positions.push_back(i);
  }
  return positions;
}

// A status writer cannot change what an approver said, only leave it in place.
void PrepareForStatus(const WriteScope& scope, Ref object, const Value& old) {
  for (std::string_view type : {"Approved", "Denied"}) {
    const auto before = Positions(old, type);
    const auto after = Positions(object.Get(), type);
    if (before.size() != after.size()) continue;
    for (size_t i = 0; i < before.size(); ++i) {
      object.Field("status")
          .Field("conditions")
          .Item(after[i])
          .Set(old["status"]["conditions"].At(before[i]));
    }
  }
  StampConditions(scope, object, old);
}

void PrepareForApproval(const WriteScope& scope, Ref object, const Value& old) {
  StampConditions(scope, object, old);
  const Value conditions = object.Get()["status"]["conditions"];
  object.SetField("spec", old["spec"]);
  object.SetField("status", old["status"]);
  if (conditions.is_null()) {
    object.Field("status").RemoveField("conditions");
  } else {
    object.Field("status").SetField("conditions", conditions);
  }
}

// --- validation ----------------------------------------------------------------------------------

// What an old request may keep, and what a write of this kind may touch.
struct Allowed {
  bool approval = false;
  bool certificate = false;
  bool unknown_usages = false;
  bool repeated_usages = false;
  bool legacy_signer = false;
  bool both_verdicts = false;
  bool repeated_types = false;
  bool empty_types = false;
  bool any_certificate = false;
};

void CheckLabels(std::string_view text, std::string_view part,
                 names::Complaints (*check)(std::string_view), const Path& path,
                 FieldErrors& errors) {
  for (auto rest = text;;) {
    const auto dot = rest.find('.');
    const auto label = rest.substr(0, dot);
    if (auto complaints = check(label); !complaints.empty()) {
      for (const auto& complaint : complaints) {
        errors.push_back(
            Invalid(path, part, fmt::format("validating label {}: {}", Quote(label), complaint)));
      }
      return;
    }
    if (dot == std::string_view::npos) return;
    rest.remove_prefix(dot + 1);
  }
}

void CheckSignerName(std::string_view name, const Path& path, FieldErrors& errors) {
  if (name.empty()) {
    errors.push_back(Required(path, ""));
    return;
  }
  if (std::ranges::count(name, '/') != 1) {
    errors.push_back(Invalid(path, name,
                             "must be a fully qualified domain and path of the form "
                             "'example.com/signer-name'"));
    return;
  }
  const auto domain = name.substr(0, name.find('/'));
  const auto rest = name.substr(domain.size() + 1);
  if (domain.size() > kMaxDomain) errors.push_back(schema::TooLong(path, kMaxDomain));
  CheckLabels(domain, domain, names::CheckDns1123Label, path, errors);
  if (!domain.contains('.')) {
    errors.push_back(
        Invalid(path, domain, "should be a domain with at least two segments separated by dots"));
  }
  CheckLabels(rest, rest, names::CheckDns1123Subdomain, path, errors);
  if (name.size() > kMaxSignerName) errors.push_back(schema::TooLong(path, kMaxSignerName));
}

void CheckUsages(const CertificateSigningRequest& request, const Allowed& allowed, const Path& path,
                 FieldErrors& errors) {
  const auto usages = request.spec().usages();
  if (usages.empty()) errors.push_back(Required(path, ""));
  for (size_t i = 0; i < usages.size() && !allowed.unknown_usages; ++i) {
    rest::CheckSupported(usages[i], kUsages, path.Index(i), errors);
  }
  rest::SeenTexts seen;
  for (size_t i = 0; i < usages.size() && !allowed.repeated_usages; ++i) {
    if (!seen.Insert(usages[i])) errors.push_back(schema::Duplicate(path.Index(i), usages[i]));
  }
}

bool IsVerdict(std::string_view type) {
  return type == "Approved" || type == "Denied" || type == "Failed";
}

void CheckConditions(const CertificateSigningRequest& request, const Allowed& allowed,
                     FieldErrors& errors) {
  static constexpr std::string_view kStatuses[] = {"False", "True", "Unknown"};
  static constexpr std::string_view kTrue[] = {"True"};
  const Path status("status");
  const Path path = status.Child("conditions");
  rest::SeenTexts seen;
  const auto conditions = request.status().conditions();
  for (size_t i = 0; i < conditions.size(); ++i) {
    const auto type = conditions[i].type();
    const Path at = path.Index(i);
    if (type.empty() && !allowed.empty_types) errors.push_back(Required(at.Child("type"), ""));
    const std::span<const std::string_view> statuses =
        IsVerdict(type) ? std::span<const std::string_view>(kTrue) : kStatuses;
    rest::CheckRequiredChoice(conditions[i].status(), statuses, at.Child("status"), errors);
    if (!allowed.both_verdicts && ((type == "Approved" && seen.Contains("Denied")) ||
                                   (type == "Denied" && seen.Contains("Approved")))) {
      errors.push_back(
          Invalid(path, type, "Approved and Denied conditions are mutually exclusive"));
    }
    if (!seen.Insert(type) && !allowed.repeated_types) {
      errors.push_back(schema::Duplicate(at.Child("type"), type));
    }
  }
}

// What is wrong with an issued certificate; empty when nothing is.
std::string CertificateComplaint(std::string_view base64) {
  if (base64.empty()) return "";
  const auto pem = crypto::Base64Decode(base64);
  const auto blocks = pem ? crypto::ParsePem(*pem) : std::unexpected(pem.error());
  if (!blocks || blocks->empty()) return "must contain at least one CERTIFICATE PEM block";
  for (const auto& block : *blocks) {
    if (block.type != "CERTIFICATE") {
      return fmt::format("only CERTIFICATE PEM blocks are allowed, found {}", Quote(block.type));
    }
  }
  const auto certificates = crypto::CertificateDersFromPem(*pem);
  return certificates ? "" : certificates.error().message;
}

std::string RequestComplaint(std::string_view base64) {
  const auto pem = crypto::Base64Decode(base64);
  if (!pem) return "PEM block type must be CERTIFICATE REQUEST";
  const auto subject = crypto::ReadCertificateRequest(*pem);
  return subject ? "" : subject.error().message;
}

void CheckRequest(const CertificateSigningRequest& request, const Allowed& allowed,
                  FieldErrors& errors) {
  const auto spec = request.spec();
  const Path path("spec");
  if (auto complaint = RequestComplaint(spec.request()); !complaint.empty()) {
    errors.push_back(Invalid(path.Child("request"), spec.request(), std::move(complaint)));
  }
  CheckUsages(request, allowed, path.Child("usages"), errors);
  const Path signer = path.Child("signerName");
  if (spec.signerName() == kLegacySigner && !allowed.legacy_signer) {
    errors.push_back(Invalid(signer, spec.signerName(),
                             "the legacy signerName is not allowed via this API version"));
  } else {
    CheckSignerName(spec.signerName(), signer, errors);
  }
  if (auto expiration = spec.expirationSeconds(); expiration && *expiration < kMinExpiration) {
    errors.push_back(Invalid(path.Child("expirationSeconds"), *expiration,
                             "may not specify a duration less than 600 seconds (10 minutes)"));
  }
  CheckConditions(request, allowed, errors);
  if (allowed.any_certificate) return;
  if (auto complaint = CertificateComplaint(request.status().certificate()); !complaint.empty()) {
    errors.push_back(
        Invalid(Path("status").Child("certificate"), "<certificate data>", std::move(complaint)));
  }
}

Allowed AllowedBeside(const CertificateSigningRequest& old, const CertificateSigningRequest& now) {
  Allowed allowed;
  rest::SeenTexts usages;
  for (auto usage : old.spec().usages()) {
    allowed.unknown_usages |= !std::ranges::binary_search(kUsages, usage);
    allowed.repeated_usages |= !usages.Insert(usage);
  }
  rest::SeenTexts types;
  for (auto condition : old.status().conditions()) {
    allowed.repeated_types |= !types.Insert(condition.type());
    allowed.empty_types |= condition.type().empty();
  }
  allowed.both_verdicts = types.Contains("Approved") && types.Contains("Denied");
  allowed.legacy_signer = old.spec().signerName() == kLegacySigner;
  allowed.any_certificate = now.status().certificate() == old.status().certificate() ||
                            !CertificateComplaint(old.status().certificate()).empty();
  return allowed;
}

std::vector<Value> ConditionsOf(const Value& object, std::string_view type) {
  std::vector<Value> found;
  for (const Value& condition : object["status"]["conditions"].items()) {
    if (condition["type"].AsString() == type) found.push_back(condition);
  }
  return found;
}

void CheckChange(const Value& object, const Value& old, Allowed allowed, FieldErrors& errors) {
  const CertificateSigningRequest request(object);
  const CertificateSigningRequest before(old);
  CheckRequest(request, allowed, errors);
  const Path status("status");
  const Path conditions = status.Child("conditions");
  for (std::string_view type : {"Approved", "Denied", "Failed"}) {
    if (ConditionsOf(object, type).size() < ConditionsOf(old, type).size()) {
      errors.push_back(Forbidden(
          conditions, fmt::format("updates may not remove a condition of type \"{}\"", type)));
    }
  }
  for (std::string_view type : {"Approved", "Denied"}) {
    if (allowed.approval) break;
    const auto now = ConditionsOf(object, type);
    const auto then = ConditionsOf(old, type);
    if (now.size() > then.size()) {
      errors.push_back(Forbidden(
          conditions, fmt::format("updates may not add a condition of type \"{}\"", type)));
    }
  }
  if (request.status().certificate() == before.status().certificate()) return;
  if (!allowed.certificate) {
    errors.push_back(
        Forbidden(status.Child("certificate"), "updates may not set certificate content"));
  } else if (!before.status().certificate().empty()) {
    errors.push_back(Forbidden(status.Child("certificate"),
                               "updates may not modify existing certificate content"));
  }
}

void Validate(const WriteScope&, const Value& object, FieldErrors& errors) {
  CheckRequest(CertificateSigningRequest(object), {}, errors);
}

void ValidateUpdate(const WriteScope&, const Value& object, const Value& old, FieldErrors& errors) {
  CheckChange(object, old,
              AllowedBeside(CertificateSigningRequest(old), CertificateSigningRequest(object)),
              errors);
}

void ValidateStatus(const WriteScope&, const Value& object, const Value& old, FieldErrors& errors) {
  Allowed allowed =
      AllowedBeside(CertificateSigningRequest(old), CertificateSigningRequest(object));
  allowed.certificate = true;
  CheckChange(object, old, allowed, errors);
}

void ValidateApproval(const WriteScope&, const Value& object, const Value& old,
                      FieldErrors& errors) {
  Allowed allowed =
      AllowedBeside(CertificateSigningRequest(old), CertificateSigningRequest(object));
  allowed.approval = true;
  CheckChange(object, old, allowed, errors);
}

constexpr std::string_view kSpec[] = {"spec"};
constexpr std::string_view kSpecAndCertificate[] = {"spec", "status.certificate"};

names::Complaints AnyName(std::string_view, bool) { return {}; }

}  // namespace

Rules kSigningRequest({.name_check = AnyName,
                       .reset_fields = kSpec,
                       .prepare_for_create = PrepareForCreate,
                       .prepare_for_update = PrepareForUpdate,
                       .prepare_status = PrepareForStatus,
                       .validate = Validate,
                       .validate_update = ValidateUpdate,
                       .validate_status = ValidateStatus});

Rules kSigningRequestApproval({.name_check = AnyName,
                               .reset_fields = kSpecAndCertificate,
                               .prepare_for_update = PrepareForApproval,
                               .validate = Validate,
                               .validate_update = ValidateApproval});

}  // namespace keelson::kube::cluster
