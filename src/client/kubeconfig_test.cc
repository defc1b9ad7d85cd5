#include "client/kubeconfig.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

namespace keelson::client {
namespace {

TEST(Kubeconfig, LeadsToTheCurrentContext) {
  auto target = ReadKubeconfig(R"(
current-context: c
contexts: [{name: c, context: {cluster: k, user: u}}]
clusters: [{name: k, cluster: {server: "https://s", tls-server-name: name}}]
users: [{name: u, user: {token: secret}}]
)",
                               "");
  ASSERT_TRUE(target.has_value());
  EXPECT_EQ(target->server, "https://s");
  EXPECT_EQ(target->options.server_name, "name");
  http::Headers headers;
  EXPECT_TRUE(target->options.authorize(headers).has_value());
  EXPECT_EQ(headers.Get("authorization"), "Bearer secret");
  EXPECT_FALSE(ReadKubeconfig("{}", "").has_value());
}

TEST(Kubeconfig, FilesAreFoundBesideIt) {
  std::string folder = ::testing::TempDir() + "kubeconfig-XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  std::ofstream(folder + "/token") << "secret\n";
  std::ofstream(folder + "/ca.crt") << "roots";
  std::ofstream(folder + "/config") << R"(
current-context: c
contexts: [{name: c, context: {cluster: k, user: u}}]
clusters: [{name: k, cluster: {server: "https://s", certificate-authority: ca.crt}}]
users: [{name: u, user: {tokenFile: token}}]
)";
  auto target = ReadKubeconfigFile(folder + "/config");
  std::filesystem::remove_all(folder);
  ASSERT_TRUE(target.has_value()) << target.error().message;
  EXPECT_EQ(target->options.tls.ca_pem, "roots");
  http::Headers headers;
  ASSERT_TRUE(target->options.authorize(headers).has_value());
  EXPECT_EQ(headers.Get("authorization"), "Bearer secret");
  EXPECT_FALSE(ReadKubeconfigFile(folder + "/config").has_value());
}

}  // namespace
}  // namespace keelson::client
