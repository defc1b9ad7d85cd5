#include "server/request_info.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace keelson::server {
namespace {

// method path?query -> "verb group/version namespace resource/name/subresource", or the path's
// verb.
std::string Parse(std::string_view method, std::string_view target) {
  auto question = target.find('?');
  http::Query query(question == std::string_view::npos ? "" : target.substr(question + 1));
  RequestInfo info;
  auto parsed = ParseRequestInfo(method, target.substr(0, question), query, info);
  if (!parsed) return "error: " + parsed.error().message;
  if (!info.is_resource_request) return std::string(info.verb) + " " + std::string(info.path);
  auto text = fmt::format("{} {}/{} ns={} {}/{}/{}", info.verb, info.api_group, info.api_version,
                          info.ns, info.resource, info.name, info.subresource);
  if (!info.field_selector.empty()) text += fmt::format(" f={}", info.field_selector);
  if (!info.label_selector.empty()) text += fmt::format(" l={}", info.label_selector);
  return text;
}

TEST(RequestInfo, ResourcePaths) {
  EXPECT_EQ(Parse("GET", "/api/v1/namespaces"), "list /v1 ns= namespaces//");
  EXPECT_EQ(Parse("GET", "/api/v1/namespaces/other"), "get /v1 ns=other namespaces/other/");
  EXPECT_EQ(Parse("GET", "/api/v1/namespaces/other/pods"), "list /v1 ns=other pods//");
  EXPECT_EQ(Parse("GET", "/api/v1/namespaces/other/pods/foo"), "get /v1 ns=other pods/foo/");
  EXPECT_EQ(Parse("HEAD", "/api/v1/namespaces/other/pods/foo"), "get /v1 ns=other pods/foo/");
  EXPECT_EQ(Parse("HEAD", "/api/v1/namespaces/other/pods"), "list /v1 ns=other pods//");
  EXPECT_EQ(Parse("GET", "/api/v1/pods"), "list /v1 ns= pods//");
  EXPECT_EQ(Parse("POST", "/api/v1/pods"), "create /v1 ns= pods//");
  EXPECT_EQ(Parse("GET", "/api/v1/nodes/n1/proxy/metrics"), "get /v1 ns= nodes/n1/proxy");
  EXPECT_EQ(Parse("PUT", "/api/v1/namespaces/other/finalize"),
            "update /v1 ns=other namespaces/other/finalize");
  EXPECT_EQ(Parse("PUT", "/api/v1/namespaces/other/status"),
            "update /v1 ns=other namespaces/other/status");
  EXPECT_EQ(Parse("PATCH", "/apis/apps/v1/namespaces/a/deployments/d/scale"),
            "patch apps/v1 ns=a deployments/d/scale");
  EXPECT_EQ(Parse("DELETE", "/api/v1/namespaces/a/pods"), "deletecollection /v1 ns=a pods//");
  EXPECT_EQ(Parse("DELETE", "/api/v1/namespaces/a/pods/b"), "delete /v1 ns=a pods/b/");
  EXPECT_EQ(Parse("FOO", "/api/v1/pods"), " /v1 ns= pods//");
}

TEST(RequestInfo, VerbInPath) {
  EXPECT_EQ(Parse("GET", "/api/v1/watch/pods"), "watch /v1 ns= pods//");
  EXPECT_EQ(Parse("GET", "/api/v1/watch/namespaces/other/pods"), "watch /v1 ns=other pods//");
  EXPECT_EQ(Parse("GET", "/api/v1/proxy/namespaces/other/pods/foo/x"),
            "proxy /v1 ns=other pods/foo/");
  EXPECT_EQ(Parse("GET", "/api/v1/watch"),
            "error: unable to determine kind and namespace from url, /api/v1/watch");
  EXPECT_EQ(Parse("GET", "/apis/apps/v1/proxy"),
            "error: unable to determine kind and namespace from url, /apis/apps/v1/proxy");
}

TEST(RequestInfo, WatchAndSelectorsFromTheQuery) {
  EXPECT_EQ(Parse("GET", "/api/v1/pods?watch=true"), "watch /v1 ns= pods//");
  EXPECT_EQ(Parse("GET", "/api/v1/pods?watch"), "watch /v1 ns= pods//");
  EXPECT_EQ(Parse("GET", "/api/v1/pods?watch=1&limit=x"), "watch /v1 ns= pods//");
  EXPECT_EQ(Parse("GET", "/api/v1/pods?watch=0"), "list /v1 ns= pods//");
  EXPECT_EQ(Parse("GET", "/api/v1/pods?watch=False"), "list /v1 ns= pods//");
  EXPECT_EQ(Parse("GET", "/api/v1/pods/a?watch=true"), "get /v1 ns= pods/a/");
  EXPECT_EQ(Parse("GET", "/api/v1/pods?fieldSelector=metadata.name%3Dfoo&labelSelector=a%3Db"),
            "list /v1 ns= pods/foo/ f=metadata.name=foo l=a=b");
  EXPECT_EQ(Parse("GET", "/api/v1/pods?fieldSelector=spec.nodeName=x,metadata.name==foo"),
            "list /v1 ns= pods/foo/ f=spec.nodeName=x,metadata.name==foo");
  EXPECT_EQ(Parse("GET", "/api/v1/pods?fieldSelector=metadata.name!=foo"),
            "list /v1 ns= pods// f=metadata.name!=foo");
  EXPECT_EQ(Parse("GET", "/api/v1/pods?fieldSelector=metadata.name=a/b"),
            "list /v1 ns= pods// f=metadata.name=a/b");
  EXPECT_EQ(Parse("GET", "/api/v1/pods?fieldSelector=metadata.name=foo&limit=x"),
            "list /v1 ns= pods// f=metadata.name=foo");
  EXPECT_EQ(Parse("GET", "/api/v1/pods?fieldSelector=metadata.name=a%5C,b"),
            "list /v1 ns= pods/a,b/ f=metadata.name=a\\,b");
  EXPECT_EQ(Parse("DELETE", "/api/v1/pods?labelSelector=a"), "deletecollection /v1 ns= pods// l=a");
  EXPECT_EQ(Parse("GET", "/api/v1/watch/pods?labelSelector=a"), "watch /v1 ns= pods//");
}

TEST(RequestInfo, NonResourcePaths) {
  EXPECT_EQ(Parse("GET", "/"), "get /");
  EXPECT_EQ(Parse("GET", ""), "get ");
  EXPECT_EQ(Parse("POST", "/healthz"), "post /healthz");
  EXPECT_EQ(Parse("GET", "/api"), "get /api");
  EXPECT_EQ(Parse("GET", "/api/v1"), "get /api/v1");
  EXPECT_EQ(Parse("GET", "/api/v1/"), "get /api/v1/");
  EXPECT_EQ(Parse("GET", "/apis/apps"), "get /apis/apps");
  EXPECT_EQ(Parse("GET", "/apis/apps/v1"), "get /apis/apps/v1");
  EXPECT_EQ(Parse("Foo", "/other/v1/pods/x"), "foo /other/v1/pods/x");
}

TEST(RequestInfo, EmptyPartsCountAsUpstreamCountsThem) {
  EXPECT_EQ(Parse("GET", "/api/v1//pods"), "get /v1 ns= /pods/");
  EXPECT_EQ(Parse("GET", "//api/v1/pods//"), "list /v1 ns= pods//");
}

TEST(RequestInfo, PartsAndLongRunning) {
  http::Query query("");
  RequestInfo info;
  ASSERT_TRUE(ParseRequestInfo("GET", "/api/v1/namespaces/a/pods/b/proxy/x/y", query, info));
  EXPECT_EQ(info.Part(3), "x");
  EXPECT_EQ(info.Part(4), "y");
  EXPECT_EQ(info.Part(5), "");
  EXPECT_TRUE(IsLongRunning(info));
  EXPECT_EQ(ScopeOf(info), "resource");
  RequestInfo profile;
  ASSERT_TRUE(ParseRequestInfo("GET", "/debug/pprof/profile", query, profile));
  EXPECT_TRUE(IsLongRunning(profile));
  EXPECT_EQ(ScopeOf(profile), "");
}

RC_GTEST_PROP(RequestInfo, FindsWhatAPathWasMadeOf, ()) {
  auto word = rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::inRange('a', 'n')));
  auto group = *word, version = *word, ns = *word, resource = *word, name = *word, sub = *word;
  RC_PRE(resource != "namespaces" && version != "watch");
  auto path = "/apis/" + group + "/" + version + "/namespaces/" + ns + "/" + resource + "/" + name +
              "/" + sub;
  RequestInfo info;
  http::Query query("");
  RC_ASSERT(ParseRequestInfo("GET", path, query, info).has_value());
  RC_ASSERT(info.api_group == group && info.api_version == version && info.ns == ns);
  RC_ASSERT(info.resource == resource && info.name == name && info.subresource == sub);
}

}  // namespace
}  // namespace keelson::server
