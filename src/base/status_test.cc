#include "base/status.h"

#include <gtest/gtest.h>

namespace keelson {
namespace {

std::string Quote(std::string_view text) {
  std::string out;
  AppendJsonString(out, text);
  return out;
}

TEST(Status, WritesFieldsInUpstreamsOrder) {
  EXPECT_EQ(NotFoundStatus({"apps", "deployments"}, "a<b").ToJson(),
            R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",)"
            R"("message":"deployments.apps \"a\u003cb\" not found","reason":"NotFound",)"
            R"("details":{"name":"a\u003cb","group":"apps","kind":"deployments"},"code":404})");
}

TEST(Status, WritesCausesAndRetryAfter) {
  Status status = TooManyRequestsStatus("try later", 1);
  status.details->causes.push_back({.reason = "r", .message = "m", .field = "f"});
  EXPECT_EQ(status.ToJson(),
            R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",)"
            R"("message":"try later","reason":"TooManyRequests","details":{"causes":)"
            R"([{"reason":"r","message":"m","field":"f"}],"retryAfterSeconds":1},"code":429})");
}

TEST(Status, SuccessNeedsNoReason) {
  Status status{.code = 200, .success = true};
  EXPECT_EQ(status.ToJson(),
            R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","code":200})");
}

struct NamedStatus {
  Status status;
  int code;
  const char* reason;
  const char* message;
};

TEST(Status, ConstructorsUseUpstreamsWords) {
  const GroupResource pods{"", "pods"};
  const NamedStatus cases[] = {
      {BadRequestStatus("bad"), 400, "BadRequest", "bad"},
      {UnauthorizedStatus(""), 401, "Unauthorized", "not authorized"},
      {ForbiddenStatus(pods, "a", "no"), 403, "Forbidden", "pods \"a\" is forbidden: no"},
      {ForbiddenStatus(pods, "", "no"), 403, "Forbidden", "pods is forbidden: no"},
      {ForbiddenStatus({}, "", "no"), 403, "Forbidden", "forbidden: no"},
      {AlreadyExistsStatus(pods, "a"), 409, "AlreadyExists", "pods \"a\" already exists"},
      {ConflictStatus(pods, "a", "changed"), 409, "Conflict",
       "Operation cannot be fulfilled on pods \"a\": changed"},
      {ExpiredStatus("old"), 410, "Expired", "old"},
      {MethodNotSupportedStatus(pods, "create"), 405, "MethodNotAllowed",
       "create is not supported on resources of kind \"pods\""},
      {RequestEntityTooLargeStatus("limit is 1"), 413, "RequestEntityTooLarge",
       "Request entity too large: limit is 1"},
      {TimeoutStatus("slow", 0), 504, "Timeout", "Timeout: slow"},
      {ServiceUnavailableStatus("down"), 503, "ServiceUnavailable", "down"},
      {InternalErrorStatus("boom"), 500, "InternalError", "Internal error occurred: boom"},
  };
  for (const auto& [status, code, reason, message] : cases) {
    EXPECT_EQ(status.code, code);
    EXPECT_EQ(status.reason, reason);
    EXPECT_EQ(status.message, message);
  }
}

TEST(Status, CarriesTheTokenToContinueWith) {
  Status status = ExpiredStatus("old");
  status.continue_token = "abc";
  EXPECT_EQ(status.ToJson(),
            R"({"kind":"Status","apiVersion":"v1","metadata":{"continue":"abc"},)"
            R"("status":"Failure","message":"old","reason":"Expired","code":410})");
}

TEST(AppendJsonString, EscapesAsGoDoes) {
  EXPECT_EQ(Quote("plain"), R"("plain")");
  EXPECT_EQ(Quote("a\"b\\c"), R"("a\"b\\c")");
  EXPECT_EQ(Quote("<&>"), R"("\u003c\u0026\u003e")");
  EXPECT_EQ(Quote("\b\f\n\r\t\x01\x7f"), "\"\\b\\f\\n\\r\\t\\u0001\x7f\"");
  EXPECT_EQ(Quote("\u2028é\u2029"), "\"\\u2028é\\u2029\"");
}

TEST(AppendJsonString, ReplacesInvalidUtf8ByteByByte) {
  EXPECT_EQ(Quote("a\xff\xfe"), R"("a\ufffd\ufffd")");
  EXPECT_EQ(Quote("\xe2\x82"), R"("\ufffd\ufffd")");
  EXPECT_EQ(Quote("\xed\xa0\x80"), R"("\ufffd\ufffd\ufffd")");  // a surrogate half
  EXPECT_EQ(Quote("\xf0\x9f\x98\x80"), "\"\xf0\x9f\x98\x80\"");
}

}  // namespace
}  // namespace keelson
