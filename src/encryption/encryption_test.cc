#include "encryption/encryption.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "encryption/providers.h"

namespace keelson::encryption {
namespace {

using ::testing::HasSubstr;

const GroupResource kSecrets{.group = "", .resource = "secrets"};
constexpr std::string_view kKey = "/registry/secrets/default/a";

constexpr std::string_view kSecret16 = "MDEyMzQ1Njc4OWFiY2RlZg==";
constexpr std::string_view kSecret32 = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";

std::string Text(std::string_view providers, std::string_view resources = "[secrets]") {
  return fmt::format(
      "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n"
      "- resources: {}\n  providers:\n{}",
      resources, providers);
}
std::string Keys(std::string_view provider, std::vector<std::string> names,
                 std::string_view secret = kSecret32) {
  std::vector<std::string> keys;
  for (const auto& name : names)
    keys.push_back(fmt::format("{{name: {}, secret: {}}}", name, secret));
  return fmt::format("  - {}: {{keys: [{}]}}\n", provider, fmt::join(keys, ", "));
}
const std::string kIdentity = "  - identity: {}\n";

std::unique_ptr<Encryption> Make(const std::string& text, std::string root = "/registry") {
  auto made = Encryption::Create(text, std::move(root));
  KEELSON_CHECK(made);
  return *std::move(made);
}

std::string FailureOf(const std::string& text) {
  auto parsed = Configuration::Parse(text);
  return parsed ? "" : parsed.error().message;
}

TEST(Encryption, EveryProviderReadsWhatItWrites) {
  for (std::string_view provider : {"aescbc", "aesgcm", "secretbox"}) {
    auto encryption = Make(Text(Keys(provider, {"k1"})));
    const auto* transformer = encryption->For(kSecrets);
    for (size_t size : {0, 1, 15, 16, 17, 100'000}) {
      Slice value = Slice::Own(std::string(size, 'v'));
      auto stored = transformer->ToStorage(kKey, value).value();
      EXPECT_TRUE(stored.view().starts_with(fmt::format("k8s:enc:{}:v1:k1:", provider)));
      auto again = transformer->ToStorage(kKey, value).value();
      EXPECT_NE(stored.view(), again.view());
      auto read = transformer->FromStorage(kKey, stored);
      ASSERT_TRUE(read) << read.error().message;
      EXPECT_EQ(read->value.view(), value.view());
      EXPECT_FALSE(read->stale);
    }
  }
}

TEST(Encryption, NoticesAlteredValues) {
  for (std::string_view provider : {"aesgcm", "secretbox"}) {
    auto encryption = Make(Text(Keys(provider, {"k1"})));
    auto stored =
        std::string(encryption->For(kSecrets)->ToStorage(kKey, Slice::Static("v"))->view());
    for (size_t i = std::string_view("k8s:enc::v1:k1:").size() + provider.size(); i < stored.size();
         ++i) {
      auto altered = stored;
      altered[i] ^= 1;
      EXPECT_FALSE(encryption->For(kSecrets)->FromStorage(kKey, Slice::Own(altered)));
    }
  }
  // Of one provider also a value that was moved.
  auto encryption = Make(Text(Keys("aesgcm", {"k1"})));
  auto stored = encryption->For(kSecrets)->ToStorage(kKey, Slice::Static("v")).value();
  EXPECT_FALSE(encryption->For(kSecrets)->FromStorage("/registry/secrets/default/b", stored));
}

TEST(Encryption, KeysAreRotatedByPuttingANewOneFirst) {
  auto encryption = Make(Text(Keys("aescbc", {"old"}) + kIdentity));
  const auto* transformer = encryption->For(kSecrets);
  Slice value = Slice::Static("v");
  auto old = transformer->ToStorage(kKey, value).value();
  ASSERT_TRUE(encryption->Change(Text(Keys("aescbc", {"new", "old"}))));
  auto read = transformer->FromStorage(kKey, old).value();
  EXPECT_EQ(read.value.view(), "v");
  EXPECT_TRUE(read.stale);
  auto fresh = transformer->ToStorage(kKey, value).value();
  EXPECT_THAT(std::string(fresh.view()), HasSubstr(":new:"));
  ASSERT_TRUE(encryption->Change(Text(Keys("aescbc", {"new"}))));
  EXPECT_THAT(transformer->FromStorage(kKey, old).error().message,
              HasSubstr("no matching prefix found"));
  EXPECT_FALSE(encryption->Change("nonsense"));
  EXPECT_TRUE(transformer->FromStorage(kKey, fresh));
}

TEST(Encryption, PlainValuesAreReadWhereIdentityIsNamed) {
  auto encryption = Make(Text(Keys("secretbox", {"k"}) + kIdentity));
  auto plain = encryption->For(kSecrets)->FromStorage(kKey, Slice::Static("k8s\0..."));
  ASSERT_TRUE(plain);
  EXPECT_TRUE(plain->stale);
  // Not what somebody else has encrypted.
  EXPECT_FALSE(encryption->For(kSecrets)->FromStorage(kKey, Slice::Static("k8s:enc:kms:v2:x:")));
  auto strict = Make(Text(Keys("secretbox", {"k"})));
  EXPECT_FALSE(strict->For(kSecrets)->FromStorage(kKey, Slice::Static("plain")));
  // Other resources are left alone.
  auto other = encryption->For({.group = "", .resource = "configmaps"});
  EXPECT_EQ(other->ToStorage(kKey, Slice::Static("v"))->view(), "v");
}

TEST(Encryption, TheKeyThatIsAuthenticatedIsTheOneInTheStore) {
  auto here = Make(Text(Keys("aesgcm", {"k"})), "/elsewhere");
  auto stored = here->For(kSecrets)->ToStorage(kKey, Slice::Static("v")).value();
  ProviderChain chain(Configuration::Parse(Text(Keys("aesgcm", {"k"})))->ProvidersFor(kSecrets));
  EXPECT_TRUE(chain.FromStorage("/elsewhere/secrets/default/a", stored));
  EXPECT_FALSE(chain.FromStorage(kKey, stored));
}

TEST(EncryptionConfiguration, TheNearestRuleCounts) {
  auto parsed =
      Configuration::Parse(Text(Keys("aescbc", {"own"})) + "- resources: [\"*.\"]\n  providers:\n" +
                           Keys("aescbc", {"core"}) + "- resources: [\"*.*\"]\n  providers:\n" +
                           Keys("aescbc", {"all"}));
  ASSERT_TRUE(parsed) << parsed.error().message;
  auto key = [&](std::string group, std::string resource) {
    return parsed->ProvidersFor({std::move(group), std::move(resource)})[0].keys[0].name;
  };
  EXPECT_EQ(key("", "secrets"), "own");
  EXPECT_EQ(key("", "pods"), "core");
  EXPECT_EQ(key("apps", "deployments"), "all");
}

TEST(EncryptionConfiguration, SaysWhatIsWrong) {
  EXPECT_THAT(FailureOf("kind: Pod"), HasSubstr("it is not an EncryptionConfiguration"));
  EXPECT_THAT(FailureOf("apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\n"),
              HasSubstr("resources: Required value: at least one resources is required"));
  EXPECT_THAT(FailureOf(Text("")), HasSubstr("resources[0].providers: Required value: at least one "
                                             "resources[0].providers is required"));
  EXPECT_THAT(FailureOf(Text(kIdentity, "[Secrets]")),
              HasSubstr("resources[0].resources[0]: Invalid value: \"Secrets\": resource name "
                        "should not contain capital letters"));
  EXPECT_THAT(FailureOf(Text(kIdentity, "[\"*\"]")), HasSubstr("use '*.' to encrypt"));
  EXPECT_THAT(FailureOf(Text(kIdentity, "[secrets, \"*.\"]")), HasSubstr("will be masked"));
  EXPECT_THAT(FailureOf(Text(kIdentity, "[secrets, secrets]")), HasSubstr("multiple times"));
  EXPECT_THAT(FailureOf(Text(kIdentity, "[\"*.*\"]") + "- resources: [secrets]\n  providers:\n" +
                        kIdentity),
              HasSubstr("is masked by earlier rule \"*.*\""));
  EXPECT_THAT(FailureOf(Text("  - aescbc: {}\n")),
              HasSubstr("resources[0].providers[0].aescbc.keys: Required value: at least one keys "
                        "is required"));
  EXPECT_THAT(FailureOf(Text(Keys("secretbox", {"k"}, kSecret16))),
              HasSubstr("resources[0].providers[0].secretbox.keys[0].secret: Invalid value: "
                        "\"REDACTED\": secret is not of the expected length, got 16, expected one "
                        "of [32]"));
  EXPECT_THAT(FailureOf(Text(Keys("aesgcm", {"k"}, "\"!!!\""))), HasSubstr("base64"));
  EXPECT_THAT(FailureOf(Text("  - {}\n")), HasSubstr("does not contain any"));
  EXPECT_THAT(FailureOf(Text("  - {identity: {}, aescbc: {}}\n")), HasSubstr("more than one"));
}

}  // namespace
}  // namespace keelson::encryption
