// Who may have a certificate approved or signed, and for whom.

#include "kube/access/certificate_admission.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "api/catalog.h"
#include "crypto/base64.h"
#include "kube/access/testing_access.h"

namespace keelson::kube::access {
namespace {

using admission::Operation;

// Allows the named rights, "verb name", alone.
class Rights final : public auth::Authorizer {
 public:
  std::set<std::string> allowed;
  std::optional<auth::Authorization> TryAuthorize(const auth::Attributes& asked) override {
    EXPECT_EQ(asked.group, "certificates.k8s.io");
    EXPECT_EQ(asked.resource, "signers");
    const bool yes = allowed.contains(std::string(asked.verb) + " " + std::string(asked.name));
    return auth::Authorization{.decision =
                                   yes ? auth::Decision::kAllow : auth::Decision::kNoOpinion};
  }
};

// Requests for CN=jane in the organisations system:masters and dev.
constexpr std::string_view kForMasters =
    "-----BEGIN CERTIFICATE REQUEST-----\n"
    "MIHkMIGKAgEAMCgxFzAVBgNVBAoMDnN5c3RlbTptYXN0ZXJzMQ0wCwYDVQQDDARq\n"
    "YW5lMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE9YsEWG8pLL5Voz0x4lC16gTv\n"
    "Z4XTyJ3H6KmlblekK1rkil1ysXTf+3Y7o185S3YMeDVnP25ZVTyiWgP4VVk1S6AA\n"
    "MAoGCCqGSM49BAMCA0kAMEYCIQDEIJhhdsNR4UgyBjbPpRny1SvKfLy2msfOUjXi\n"
    "v93blAIhANaQYGPPCla5RVhfDcbkmOchkwPGPjJBh9hiOvuhbahL\n"
    "-----END CERTIFICATE REQUEST-----\n";
constexpr std::string_view kForDevelopers =
    "-----BEGIN CERTIFICATE REQUEST-----\n"
    "MIHYMH8CAQAwHTEMMAoGA1UECgwDZGV2MQ0wCwYDVQQDDARqYW5lMFkwEwYHKoZI\n"
    "zj0CAQYIKoZIzj0DAQcDQgAE9YsEWG8pLL5Voz0x4lC16gTvZ4XTyJ3H6Kmlblek\n"
    "K1rkil1ysXTf+3Y7o185S3YMeDVnP25ZVTyiWgP4VVk1S6AAMAoGCCqGSM49BAMC\n"
    "A0kAMEYCIQDHYIxLomWJ9MByoDuUvE9KCOwabQen75w9s3WLSQpOugIhAOgQPAu1\n"
    "EQH2vC73GMNVF+Wslbo+86EGsW4xt2dUDBpy\n"
    "-----END CERTIFICATE REQUEST-----\n";

class CertificateAdmission : public ::testing::Test {
 protected:
  CertificateAdmission() : chain_(CertificatePlugins(rights_)) {}

  // Empty when admitted.
  std::string Refusal(Operation operation, std::string_view subresource, std::string_view object,
                      std::string_view old = "null") {
    const auto user = auth::User{.name = "jane"};
    const auto parsed = value::ParseJson(object);
    const auto parsed_old = value::ParseJson(old);
    const admission::Request request{.operation = operation,
                                     .resource = "certificatesigningrequests",
                                     .info = api::kCatalog.Find("certificates.k8s.io", "v1")
                                                 ->FindResource("certificatesigningrequests"),
                                     .subresource = subresource,
                                     .name = "r",
                                     .user = &user,
                                     .object = parsed->root(),
                                     .old_object = parsed_old->root()};
    auto verdict = cluster_.Run(chain_.Validate(request));
    return verdict ? "" : verdict.error().message;
  }
  std::string RefusalToCreate(std::string_view signer, std::string_view pem) {
    return Refusal(Operation::kCreate, "",
                   R"({"spec":{"signerName":")" + std::string(signer) + R"(","request":")" +
                       crypto::Base64Encode(pem) + R"("}})");
  }

  Rights rights_;
  admission::Chain chain_;
  testing::TestCluster cluster_;
};

constexpr std::string_view kOld = R"({"spec":{"signerName":"example.com/a"}})";

TEST_F(CertificateAdmission, ApprovingNeedsTheSigner) {
  const auto approve = [&] { return Refusal(Operation::kUpdate, "approval", kOld, kOld); };
  EXPECT_EQ(approve(),
            "certificatesigningrequests.certificates.k8s.io \"r\" is forbidden: user not permitted "
            "to approve requests with signerName \"example.com/a\"");
  rights_.allowed = {"sign example.com/a", "approve example.com/b"};
  EXPECT_NE(approve(), "");
  rights_.allowed = {"approve example.com/a"};
  EXPECT_EQ(approve(), "");
  rights_.allowed = {"approve example.com/*"};
  EXPECT_EQ(approve(), "");
}

TEST_F(CertificateAdmission, TheStoredSignerCounts) {
  rights_.allowed = {"approve example.com/b"};
  EXPECT_NE(
      Refusal(Operation::kUpdate, "approval", R"({"spec":{"signerName":"example.com/b"}})", kOld),
      "");
}

TEST_F(CertificateAdmission, SigningNeedsTheSigner) {
  const auto change = [&](std::string_view status) {
    return Refusal(
        Operation::kUpdate, "status",
        R"({"spec":{"signerName":"example.com/a"},"status":)" + std::string(status) + "}", kOld);
  };
  EXPECT_EQ(change(R"({"certificate":"QQ=="})"),
            "certificatesigningrequests.certificates.k8s.io \"r\" is forbidden: user not permitted "
            "to sign requests with signerName \"example.com/a\"");
  EXPECT_NE(change(R"({"conditions":[{"type":"Failed"}]})"), "");
  EXPECT_EQ(change(R"({"conditions":[]})"), "");
  rights_.allowed = {"sign example.com/a"};
  EXPECT_EQ(change(R"({"certificate":"QQ=="})"), "");
}

TEST_F(CertificateAdmission, NobodyAsksToBeMaster) {
  EXPECT_EQ(RefusalToCreate("kubernetes.io/kube-apiserver-client", kForMasters),
            "certificatesigningrequests.certificates.k8s.io \"r\" is forbidden: use of "
            "kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed");
  EXPECT_EQ(RefusalToCreate("kubernetes.io/kube-apiserver-client", kForDevelopers), "");
  EXPECT_EQ(RefusalToCreate("example.com/a", kForMasters), "");
  EXPECT_NE(RefusalToCreate("kubernetes.io/kube-apiserver-client", "nonsense"), "");
}

}  // namespace
}  // namespace keelson::kube::access
