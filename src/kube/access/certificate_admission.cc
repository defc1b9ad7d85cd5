#include "kube/access/certificate_admission.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "admission/refusal.h"
#include "base/quote.h"
#include "crypto/base64.h"
#include "crypto/certificate_request.h"

namespace keelson::kube::access {
namespace {

using admission::Forbid;
using admission::Operation;
using admission::Plugin;
using admission::Request;
using value::Value;

constexpr std::string_view kGroup = "certificates.k8s.io";
constexpr std::string_view kClientSigner = "kubernetes.io/kube-apiserver-client";

bool IsFor(const Request& request, Operation operation, std::string_view subresource) {
  return request.operation == operation && request.subresource == subresource &&
         request.IsFor(kGroup, "certificatesigningrequests");
}

// Asks for a verb on the signer by name, or on all signers of its domain.
class SignerRights {
 public:
  explicit SignerRights(auth::Authorizer& authorizer) : authorizer_(authorizer) {}

  Task<bool> Has(const Request& request, std::string_view verb, std::string_view signer) const {
    // Without a user it is the server itself.
    if (request.user == nullptr) co_return true;
    const auto user = std::make_shared<const auth::User>(*request.user);
    const auto domain = std::string(signer.substr(0, signer.find('/'))) + "/*";
    for (std::string_view name : {signer, std::string_view(domain)}) {
      const auth::Attributes wanted{.user = user,
                                    .resource_request = true,
                                    .verb = verb,
                                    .group = kGroup,
                                    .version = "*",
                                    .resource = "signers",
                                    .name = name};
      auto verdict = authorizer_.TryAuthorize(wanted);
      if (!verdict) verdict = co_await authorizer_.Authorize(wanted);
      if (verdict->decision == auth::Decision::kAllow) co_return true;
    }
    co_return false;
  }

 private:
  auth::Authorizer& authorizer_;
};

// The signer is that of the stored request: who changes the name on the way gains nothing.
std::string_view StoredSigner(const Request& request) {
  return request.old_object["spec"]["signerName"].AsString();
}

class CertificateApproval final : public Plugin {
 public:
  explicit CertificateApproval(auth::Authorizer& authorizer) : rights_(authorizer) {}
  std::string_view name() const override { return "CertificateApproval"; }
  bool Handles(const Request& request) const override {
    return IsFor(request, Operation::kUpdate, "approval");
  }
  bool validates() const override { return true; }
  Task<ApiResult<void>> Validate(const Request& request) const override {
    const auto signer = StoredSigner(request);
    if (co_await rights_.Has(request, "approve", signer)) co_return ApiResult<void>();
    co_return Forbid(
        request,
        fmt::format("user not permitted to approve requests with signerName {}", Quote(signer)));
  }

 private:
  const SignerRights rights_;
};

class CertificateSigning final : public Plugin {
 public:
  explicit CertificateSigning(auth::Authorizer& authorizer) : rights_(authorizer) {}
  std::string_view name() const override { return "CertificateSigning"; }
  bool Handles(const Request& request) const override {
    return IsFor(request, Operation::kUpdate, "status");
  }
  bool validates() const override { return true; }
  Task<ApiResult<void>> Validate(const Request& request) const override {
    const Value status = request.object["status"];
    const Value old = request.old_object["status"];
    const bool same_conditions =
        status["conditions"] == old["conditions"] ||
        (status["conditions"].items().empty() && old["conditions"].items().empty());
    if (same_conditions && status["certificate"].AsString() == old["certificate"].AsString()) {
      co_return ApiResult<void>();
    }
    const auto signer = StoredSigner(request);
    if (co_await rights_.Has(request, "sign", signer)) co_return ApiResult<void>();
    co_return Forbid(request, fmt::format("user not permitted to sign requests with signerName {}",
                                          Quote(signer)));
  }

 private:
  const SignerRights rights_;
};

// Nobody becomes an administrator of everything by way of a signing request.
class CertificateSubjectRestriction final : public Plugin {
 public:
  std::string_view name() const override { return "CertificateSubjectRestriction"; }
  bool Handles(const Request& request) const override {
    return IsFor(request, Operation::kCreate, "");
  }
  bool validates() const override { return true; }
  Task<ApiResult<void>> Validate(const Request& request) const override {
    const Value spec = request.object["spec"];
    if (spec["signerName"].AsString() != kClientSigner) co_return ApiResult<void>();
    const auto pem = crypto::Base64Decode(spec["request"].AsString());
    if (!pem) co_return Forbid(request, "failed to parse CSR: " + pem.error().message);
    const auto subject = crypto::ReadCertificateRequest(*pem);
    if (!subject) co_return Forbid(request, "failed to parse CSR: " + subject.error().message);
    if (std::ranges::find(subject->organizations, auth::kPrivilegedGroup) !=
        subject->organizations.end()) {
      co_return Forbid(request, fmt::format("use of {} signer with {} group is not allowed",
                                            kClientSigner, auth::kPrivilegedGroup));
    }
    co_return ApiResult<void>();
  }
};

}  // namespace

std::vector<std::unique_ptr<const Plugin>> CertificatePlugins(auth::Authorizer& authorizer) {
  std::vector<std::unique_ptr<const Plugin>> plugins;
  plugins.push_back(std::make_unique<CertificateApproval>(authorizer));
  plugins.push_back(std::make_unique<CertificateSigning>(authorizer));
  plugins.push_back(std::make_unique<CertificateSubjectRestriction>());
  return plugins;
}

}  // namespace keelson::kube::access
