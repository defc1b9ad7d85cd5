// Ingress and IngressClass: how traffic from outside finds services.

#include <fmt/format.h>

#include <vector>

#include "api/networking_v1.h"
#include "base/ip_address.h"
#include "kube/cluster/kinds.h"
#include "kube/cluster/references.h"
#include "rest/field_checks.h"

namespace keelson::kube::cluster {
namespace {

using api::networking_v1::HTTPIngressPath;
using api::networking_v1::Ingress;
using api::networking_v1::IngressBackend;
using api::networking_v1::IngressClass;
using api::networking_v1::IngressClassParametersReference;
using api::networking_v1::IngressClassSpec;
using api::networking_v1::IngressRule;
using api::networking_v1::IngressSpec;
using api::networking_v1::IngressTLS;
using rest::WriteScope;
using schema::FieldErrors;
using schema::Invalid;
using schema::Required;
using value::Path;
using value::Value;

constexpr std::string_view kClassAnnotation = "kubernetes.io/ingress.class";
constexpr size_t kMaxController = 250;

// What a stored ingress may keep although a new one may not have it.
struct Leniency {
  bool secret_names = false;
  bool wildcard_rules = false;
};

void CheckServiceBackend(const IngressBackend& backend, const Path& path, FieldErrors& errors) {
  const auto service = backend.service();
  const Path at = path.Child("service");
  if (service.name().empty()) {
    errors.push_back(Required(at.Child("name"), ""));
  } else {
    rest::CheckName(service.name(), names::NameIsDnsLabel, at.Child("name"), errors);
  }
  const auto port = service.port();
  const Path at_port = at.Child("port");
  if (!port.name().empty() && port.number() != 0) {
    errors.push_back(Invalid(path, "", "cannot set both port name & port number"));
  } else if (!port.name().empty()) {
    rest::CheckText(port.name(), names::CheckPortName, at_port.Child("name"), errors);
  } else if (port.number() != 0) {
    schema::AddComplaints(errors, at_port.Child("number"), port.number(),
                          names::CheckPortNumber(port.number()));
  } else {
    errors.push_back(Required(path, "port name or number is required"));
  }
}

void CheckBackend(const IngressBackend& backend, const Path& path, FieldErrors& errors) {
  const bool resource = static_cast<bool>(backend.resource());
  const bool service = static_cast<bool>(backend.service());
  if (resource && service) {
    errors.push_back(Invalid(path, "", "cannot set both resource and service backends"));
  } else if (resource) {
    CheckTypedReference(backend.resource(), path.Child("resource"), errors);
  } else if (service) {
    CheckServiceBackend(backend, path, errors);
  } else {
    errors.push_back(Invalid(path, "", "resource or service backend is required"));
  }
}

void CheckExactPath(std::string_view text, const Path& path, FieldErrors& errors) {
  if (!text.starts_with('/')) errors.push_back(Invalid(path, text, "must be an absolute path"));
  for (std::string_view part : {"//", "/./", "/../", "%2f", "%2F"}) {
    if (text.contains(part)) {
      errors.push_back(Invalid(path, text, fmt::format("must not contain '{}'", part)));
    }
  }
  for (std::string_view end : {"/..", "/."}) {
    if (text.ends_with(end)) {
      errors.push_back(Invalid(path, text, fmt::format("cannot end with '{}'", end)));
    }
  }
}

void CheckPath(const HTTPIngressPath& rule, const Path& path, FieldErrors& errors) {
  static constexpr std::string_view kTypes[] = {"Exact", "ImplementationSpecific", "Prefix"};
  const auto type = rule.pathType();
  if (!type) {
    errors.push_back(Required(path.Child("pathType"), "pathType must be specified"));
    return;
  }
  const Path at = path.Child("path");
  if (*type == "Exact" || *type == "Prefix") {
    CheckExactPath(rule.path(), at, errors);
  } else if (*type == "ImplementationSpecific") {
    if (!rule.path().empty() && !rule.path().starts_with('/')) {
      errors.push_back(Invalid(at, rule.path(), "must be an absolute path"));
    }
  } else {
    errors.push_back(schema::NotSupported(path.Child("pathType"), *type, kTypes));
  }
  CheckBackend(rule.backend(), path.Child("backend"), errors);
}

void CheckRuleValue(const IngressRule& rule, const Path& path, FieldErrors& errors) {
  if (!rule.http()) return;
  const auto paths = rule.http().paths();
  const Path at = path.Child("http").Child("paths");
  if (paths.empty()) errors.push_back(Required(at, ""));
  for (size_t i = 0; i < paths.size(); ++i) CheckPath(paths[i], at.Index(i), errors);
}

void CheckHost(std::string_view host, const Path& path, FieldErrors& errors) {
  rest::CheckText(
      host,
      host.contains('*') ? names::CheckWildcardDns1123Subdomain : names::CheckDns1123Subdomain,
      path, errors);
}

void CheckRule(const IngressRule& rule, const Leniency& leniency, const Path& path,
               FieldErrors& errors) {
  const auto host = rule.host();
  if (!host.empty()) {
    if (IpAddress::Parse(host)) {
      errors.push_back(Invalid(path.Child("host"), host, "must be a DNS name, not an IP address"));
    }
    CheckHost(host, path.Child("host"), errors);
  }
  if (leniency.wildcard_rules && host.contains('*')) return;
  CheckRuleValue(rule, path, errors);
}

bool IsSecretName(std::string_view name) {
  return name.empty() || names::NameIsDnsSubdomain(name, /*prefix=*/false).empty();
}

void CheckTls(const IngressTLS& tls, const Leniency& leniency, const Path& path,
              FieldErrors& errors) {
  const auto hosts = tls.hosts();
  for (size_t i = 0; i < hosts.size(); ++i) {
    CheckHost(hosts[i], path.Child("hosts").Index(i), errors);
  }
  if (leniency.secret_names || tls.secretName().empty()) return;
  rest::CheckName(tls.secretName(), names::NameIsDnsSubdomain, path.Child("secretName"), errors);
}

void CheckSpec(const IngressSpec& spec, const Leniency& leniency, FieldErrors& errors) {
  const Path path("spec");
  const auto rules = spec.rules();
  if (rules.empty() && !spec.defaultBackend()) {
    errors.push_back(
        Invalid(path, rules.value(), "either `defaultBackend` or `rules` must be specified"));
  }
  if (spec.defaultBackend()) {
    CheckBackend(spec.defaultBackend(), path.Child("defaultBackend"), errors);
  }
  for (size_t i = 0; i < rules.size(); ++i) {
    CheckRule(rules[i], leniency, path.Child("rules").Index(i), errors);
  }
  const auto tls = spec.tls();
  for (size_t i = 0; i < tls.size(); ++i) {
    CheckTls(tls[i], leniency, path.Child("tls").Index(i), errors);
  }
  if (auto name = spec.ingressClassName()) {
    rest::CheckName(*name, names::NameIsDnsSubdomain, path.Child("ingressClassName"), errors);
  }
}

void ValidateIngress(const WriteScope&, const Value& object, FieldErrors& errors) {
  const Ingress ingress(object);
  CheckSpec(ingress.spec(), {}, errors);
  const auto annotations = ingress.metadata().annotations();
  const auto named = ingress.spec().ingressClassName();
  if (named && annotations.contains(kClassAnnotation) && annotations[kClassAnnotation] != *named) {
    errors.push_back(Invalid(Path("annotations").Child(kClassAnnotation),
                             annotations[kClassAnnotation],
                             "must match `ingressClassName` when both are specified"));
  }
}

Leniency LeniencyFor(const IngressSpec& old) {
  Leniency leniency;
  for (auto tls : old.tls()) leniency.secret_names |= !IsSecretName(tls.secretName());
  for (auto rule : old.rules()) {
    if (!rule.host().contains('*')) continue;
    FieldErrors errors;
    CheckRuleValue(rule, Path(), errors);
    leniency.wildcard_rules |= !errors.empty();
  }
  return leniency;
}

void ValidateIngressUpdate(const WriteScope&, const Value& object, const Value& old,
                           FieldErrors& errors) {
  CheckSpec(Ingress(object).spec(), LeniencyFor(Ingress(old).spec()), errors);
}

void ValidateIngressStatus(const WriteScope&, const Value& object, const Value& old,
                           FieldErrors& errors) {
  const auto points = Ingress(object).status().loadBalancer().ingress();
  const auto before = Ingress(old).status().loadBalancer().ingress();
  const Path status("status");
  const Path path = status.Child("loadBalancer").Child("ingress");
  for (size_t i = 0; i < points.size(); ++i) {
    const Path at = path.Index(i);
    const auto ip = points[i].ip();
    bool known = ip.empty();
    for (auto point : before) known = known || point.ip() == ip;
    if (!known) rest::CheckText(ip, names::CheckIp, at.Child("ip"), errors);
    const auto host = points[i].hostname();
    if (host.empty()) continue;
    rest::CheckText(host, names::CheckDns1123Subdomain, at.Child("hostname"), errors);
    if (IpAddress::Parse(host)) {
      errors.push_back(
          Invalid(at.Child("hostname"), host, "must be a DNS name, not an IP address"));
    }
  }
}

std::vector<std::string> IngressWarnings(const WriteScope&, const Value& object, const Value* old) {
  const Ingress ingress(object);
  if (old != nullptr || ingress.spec().ingressClassName() ||
      !ingress.metadata().annotations().contains(kClassAnnotation)) {
    return {};
  }
  return {fmt::format("annotation \"{}\" is deprecated, please use 'spec.ingressClassName' instead",
                      kClassAnnotation)};
}

void CheckParameters(const IngressClassParametersReference& parameters, const Path& path,
                     FieldErrors& errors) {
  static constexpr std::string_view kScopes[] = {"Cluster", "Namespace"};
  CheckTypedReference(parameters, path, errors);
  const auto scope = parameters.scope();
  const auto ns = parameters.namespace_();
  const Path at_namespace = path.Child("namespace");
  if (!scope) {
    errors.push_back(Required(path.Child("scope"), ""));
  } else if (*scope == "Namespace") {
    if (ns) {
      rest::CheckName(*ns, names::NameIsDnsLabel, at_namespace, errors);
    } else {
      errors.push_back(Required(at_namespace, "`parameters.scope` is set to 'Namespace'"));
    }
  } else if (*scope == "Cluster") {
    if (ns) {
      errors.push_back(schema::Forbidden(at_namespace, "`parameters.scope` is set to 'Cluster'"));
    }
  } else {
    errors.push_back(schema::NotSupported(path.Child("scope"), *scope, kScopes));
  }
}

void ValidateClass(const WriteScope&, const Value& object, FieldErrors& errors) {
  const auto spec = IngressClass(object).spec();
  const Path path("spec");
  const Path controller = path.Child("controller");
  if (spec.controller().size() > kMaxController) {
    errors.push_back(schema::TooLong(controller, kMaxController));
  }
  rest::CheckDomainPrefixedPath(spec.controller(), controller, errors);
  if (spec.parameters()) CheckParameters(spec.parameters(), path.Child("parameters"), errors);
}

void ValidateClassUpdate(const WriteScope& scope, const Value& object, const Value& old,
                         FieldErrors& errors) {
  rest::CheckImmutableField(IngressClassSpec::Schema(), IngressClassSpec::Names::controller,
                            IngressClass(object).spec().value(), IngressClass(old).spec().value(),
                            Path("spec"), errors);
  ValidateClass(scope, object, errors);
}

}  // namespace

Rules kIngress({.counts_generation = true,
                .validate = ValidateIngress,
                .validate_update = ValidateIngressUpdate,
                .validate_status = ValidateIngressStatus,
                .warnings = IngressWarnings});

Rules kIngressClass({.counts_generation = true,
                     .validate = ValidateClass,
                     .validate_update = ValidateClassUpdate});

}  // namespace keelson::kube::cluster
