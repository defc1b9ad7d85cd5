#include "kube/relay/targets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/relay/kubelet.h"
#include "kube/relay/relay.h"
#include "value/json.h"

namespace keelson::kube {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;

value::Document Object(std::string_view json) { return *value::ParseJson(json); }

TEST(ProxyName, IsNameWithPortAndScheme) {
  struct Case {
    std::string_view text, scheme, name, port;
  };
  for (const Case& c : {Case{"a", "", "a", ""}, Case{"a:80", "", "a", "80"},
                        Case{"https:a:web", "https", "a", "web"}, Case{"http:a:", "http", "a", ""},
                        Case{":a:80", "", "a", "80"}}) {
    auto name = ParseProxyName(c.text);
    ASSERT_TRUE(name) << c.text;
    EXPECT_EQ(name->scheme, c.scheme);
    EXPECT_EQ(name->name, c.name);
    EXPECT_EQ(name->port, c.port);
  }
  for (auto text : {"", ":80", "ftp:a:80", "a:b:c:d", "https::1"}) {
    EXPECT_FALSE(ParseProxyName(text)) << text;
  }
}

TEST(Kubelet, IsReachedByThePreferredKindOfAddress) {
  KubeletOptions options;
  auto node = Object(R"({"status":{"addresses":[{"type":"InternalIP","address":"10.0.0.1"},
      {"type":"Hostname","address":"n1"},{"type":"Hostname","address":"n2"}],
      "daemonEndpoints":{"kubeletEndpoint":{"Port":10251}}}})");
  EXPECT_EQ(FindKubelet(node.root(), options)->authority(), "n1:10251");
  options.preferred_address_types = {"ExternalIP", "InternalIP"};
  EXPECT_EQ(FindKubelet(node.root(), options)->authority(), "10.0.0.1:10251");
  auto six = Object(R"({"status":{"addresses":[{"type":"InternalIP","address":"fd00::1"}]}})");
  EXPECT_EQ(FindKubelet(six.root(), options)->authority(), "[fd00::1]:10250");
}

TEST(Kubelet, WithoutSuchAnAddressIsToldWithThoseThereAre) {
  KubeletOptions options;
  options.preferred_address_types = {"ExternalIP"};
  auto node = Object(R"({"status":{"addresses":[{"type":"Hostname","address":"n1"}]}})");
  auto none = FindKubelet(node.root(), options);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, 500);
  EXPECT_EQ(none.error().message, "no preferred addresses found; known addresses: [{Hostname n1}]");
  EXPECT_EQ(FindKubelet(Object("{}").root(), options).error().message,
            "no preferred addresses found; known addresses: []");
}

TEST(PickContainer, TakesTheOnlyOneOrTheOneNamed) {
  auto one = Object(R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"a"}],
      "initContainers":[{"name":"i"}],"ephemeralContainers":[{"name":"e"}]}})");
  EXPECT_EQ(PickContainer(one.root(), "").value(), "a");
  EXPECT_EQ(PickContainer(one.root(), "i").value(), "i");
  EXPECT_EQ(PickContainer(one.root(), "e").value(), "e");
  EXPECT_EQ(PickContainer(one.root(), "zz").error().message, "container zz is not valid for pod p");
  auto two = Object(R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"a"},{"name":"b"}],
      "initContainers":[{"name":"i"}]}})");
  EXPECT_EQ(PickContainer(two.root(), "").error().message,
            "a container name must be specified for pod p, choose one of: [i a b]");
}

TEST(LogQuery, PassesOnWhatTheKubeletUnderstands) {
  EXPECT_EQ(LogQuery(http::Query(""), "p").value(), "");
  EXPECT_EQ(LogQuery(http::Query("tailLines=5&follow=true&container=c&timestamps=1&previous=false"
                                 "&sinceTime=2024-01-01T00:00:00Z"),
                     "p")
                .value(),
            "follow=true&sinceTime=2024-01-01T00%3A00%3A00Z&tailLines=5&timestamps=true");
}

TEST(LogQuery, RefusesWhatMakesNoSense) {
  EXPECT_EQ(LogQuery(http::Query("tailLines=-1"), "p").error().message,
            "PodLogOptions \"p\" is invalid: tailLines: Invalid value: -1: must be greater than or "
            "equal to 0");
  EXPECT_EQ(
      LogQuery(http::Query("sinceSeconds=1&sinceTime=2024-01-01T00:00:00Z"), "p").error().message,
      "PodLogOptions \"p\" is invalid: []: Forbidden: at most one of `sinceTime` or "
      "`sinceSeconds` may be specified");
  EXPECT_EQ(LogQuery(http::Query("limitBytes=0"), "p").error().code, 422);
  EXPECT_EQ(LogQuery(http::Query("tailLines=many"), "p").error().code, 400);
}

TEST(StreamQuery, NamesStreamsAsTheKubeletDoes) {
  EXPECT_EQ(StreamQuery(http::Query("command=sh&command=-c&command=a+b&stdin=true&tty=1&stdout=1"
                                    "&stderr=0"),
                        true),
            "command=sh&command=-c&command=a+b&input=1&output=1&tty=1");
  EXPECT_EQ(StreamQuery(http::Query("command=sh&stdout=1"), false), "output=1");
  EXPECT_EQ(PortForwardQuery(http::Query("ports=80&ports=443")), "port=80%2C443");
}

TEST(PodOrigin, NeedsAnAddressThatOthersReach) {
  auto pod = Object(R"({"spec":{"containers":[{},{"ports":[{"containerPort":8080}]}]},
      "status":{"podIPs":[{"ip":"10.0.0.7"}]}})");
  EXPECT_EQ(PodOrigin(pod.root(), {"", "p", ""}).value(), "http://10.0.0.7:8080");
  EXPECT_EQ(PodOrigin(pod.root(), {"https", "p", "9"}).value(), "https://10.0.0.7:9");
  for (auto ip : {"127.0.0.1", "169.254.169.254", "0.0.0.0", "224.0.0.1", "255.255.255.255", "::1",
                  "fe80::1", "ff02::1", "", "name"}) {
    auto bad = Object(fmt::format(R"({{"status":{{"podIPs":[{{"ip":"{}"}}]}}}})", ip));
    EXPECT_EQ(PodOrigin(bad.root(), {}).error().message, "address not allowed") << ip;
  }
}

TEST(ServiceProxy, FindsPortsByNumberAndAddressesByPort) {
  auto service = Object(R"({"spec":{"ports":[{"name":"web","port":80},{"name":"x","port":81}]}})");
  EXPECT_EQ(ServicePortName(service.root(), {"", "s", "80"}).value(), "web");
  EXPECT_EQ(ServicePortName(service.root(), {"", "s", "web"}).value(), "web");
  EXPECT_EQ(ServicePortName(service.root(), {"", "s", "9"}).error().message,
            "no service port 9 found for service \"s\"");
  auto endpoints = Object(R"({"subsets":[{"ports":[{"name":"web","port":8080}],"addresses":[
      {"ip":"10.0.0.1","targetRef":{"kind":"Pod","name":"a","namespace":"n"}},
      {"ip":"10.0.0.2"}]},{"ports":[{"name":"x","port":1}]}]})");
  EXPECT_THAT(EndpointChoices(endpoints.root(), "web"),
              ElementsAre(Field(&EndpointChoice::ip, "10.0.0.1")));
  EXPECT_TRUE(EndpointChoices(endpoints.root(), "x").empty());
}

TEST(KubeletRefusal, IsToldAsUpstreamTellsIt) {
  EXPECT_EQ(KubeletRefusal(500, "p", "boom").message, "Internal error occurred: boom");
  EXPECT_EQ(KubeletRefusal(400, "p", "container \"c\" in pod \"p\" is waiting").message,
            "container \"c\" in pod \"p\" is waiting");
  EXPECT_EQ(KubeletRefusal(404, "p", "x").message,
            "the server could not find the requested resource ( pods/log p)");
  EXPECT_EQ(KubeletRefusal(502, "p", "x").message,
            "an error on the server (\"x\") has prevented the request from succeeding ( pods/log "
            "p)");
  EXPECT_EQ(KubeletRefusal(403, "p", "Forbidden (user=u)").message,
            "Forbidden (user=u) ( pods/log p)");
}

TEST(RewriteLocation, KeepsTheClientBehindTheProxy) {
  const std::string_view origin = "http://10.0.0.7:80";
  auto rewrite = [&](std::string_view to) {
    return RewriteLocation(to, origin, "api:6443", "/p/proxy");
  };
  EXPECT_EQ(rewrite("/login"), "https://api:6443/p/proxy/login");
  EXPECT_EQ(rewrite("http://10.0.0.7:80/login"), "https://api:6443/p/proxy/login");
  EXPECT_EQ(rewrite("/p/proxy/x"), "https://api:6443/p/proxy/x");
  EXPECT_EQ(rewrite("next"), "next");
  EXPECT_EQ(rewrite("https://example.com/x"), "https://example.com/x");
}

}  // namespace
}  // namespace keelson::kube
