#include "base/status.h"

#include <array>

#include "base/utf8.h"

namespace keelson {
namespace {

constexpr char kHex[] = "0123456789abcdef";

class ObjectWriter {
 public:
  explicit ObjectWriter(std::string& out) : out_(out) { out_ += '{'; }
  void Text(std::string_view key, std::string_view value) {
    Key(key);
    AppendJsonString(out_, value);
  }
  void TextUnlessEmpty(std::string_view key, std::string_view value) {
    if (!value.empty()) Text(key, value);
  }
  void Number(std::string_view key, int64_t value) {
    Key(key);
    out_ += std::to_string(value);
  }
  void Key(std::string_view key) {
    if (!first_) out_ += ',';
    first_ = false;
    out_ += '"';
    out_ += key;
    out_ += "\":";
  }
  void End() { out_ += '}'; }

 private:
  std::string& out_;
  bool first_ = true;
};

void AppendDetails(std::string& out, const StatusDetails& details) {
  ObjectWriter object(out);
  object.TextUnlessEmpty("name", details.name);
  object.TextUnlessEmpty("group", details.group);
  object.TextUnlessEmpty("kind", details.kind);
  object.TextUnlessEmpty("uid", details.uid);
  if (!details.causes.empty()) {
    object.Key("causes");
    out += '[';
    bool first = true;
    for (const auto& cause : details.causes) {
      if (!first) out += ',';
      first = false;
      ObjectWriter item(out);
      item.TextUnlessEmpty("reason", cause.reason);
      item.TextUnlessEmpty("message", cause.message);
      item.TextUnlessEmpty("field", cause.field);
      item.End();
    }
    out += ']';
  }
  if (details.retry_after_seconds != 0) {
    object.Number("retryAfterSeconds", details.retry_after_seconds);
  }
  object.End();
}

StatusDetails DetailsOf(const GroupResource& resource, std::string_view name) {
  return StatusDetails{
      .name = std::string(name), .group = resource.group, .kind = resource.resource};
}

constexpr std::array<bool, 256> kPlainInJson = [] {
  std::array<bool, 256> plain{};
  for (unsigned char c = 0x20; c < 0x80; ++c) {
    plain[c] = c != '"' && c != '\\' && c != '<' && c != '>' && c != '&';
  }
  return plain;
}();

}  // namespace

void AppendJsonString(std::string& out, std::string_view text) {
  out += '"';
  size_t plain_from = 0;
  auto flush = [&](size_t to) { out.append(text.substr(plain_from, to - plain_from)); };
  for (size_t i = 0; i < text.size();) {
    auto c = static_cast<unsigned char>(text[i]);
    if (kPlainInJson[c]) {
      ++i;
      continue;
    }
    if (c < 0x80) {
      flush(i);
      switch (c) {
        case '"':
        case '\\':
          out += '\\';
          out += static_cast<char>(c);
          break;
        case '\b':
          out += "\\b";
          break;
        case '\f':
          out += "\\f";
          break;
        case '\n':
          out += "\\n";
          break;
        case '\r':
          out += "\\r";
          break;
        case '\t':
          out += "\\t";
          break;
        default:
          out += "\\u00";
          out += kHex[c >> 4];
          out += kHex[c & 15];
      }
      plain_from = ++i;
      continue;
    }
    const auto character = FirstCharacter(text.substr(i));
    if (!character.valid || character.code == 0x2028 || character.code == 0x2029) {
      flush(i);
      out += character.valid ? (character.code == 0x2028 ? "\\u2028" : "\\u2029") : "\\ufffd";
      plain_from = i + character.size;
    }
    i += character.size;
  }
  flush(text.size());
  out += '"';
}

std::string Status::ToJson() const {
  std::string out;
  out.reserve(160 + message.size());
  ObjectWriter object(out);
  object.Text("kind", "Status");
  object.Text("apiVersion", "v1");
  object.Key("metadata");
  ObjectWriter metadata(out);
  metadata.TextUnlessEmpty("continue", continue_token);
  metadata.End();
  object.Text("status", success ? "Success" : "Failure");
  object.TextUnlessEmpty("message", message);
  object.TextUnlessEmpty("reason", reason);
  if (details) {
    object.Key("details");
    AppendDetails(out, *details);
  }
  if (code != 0) object.Number("code", code);
  object.End();
  return out;
}

Status BadRequestStatus(std::string message) {
  return {.code = 400, .reason = "BadRequest", .message = std::move(message)};
}

Status UnauthorizedStatus(std::string message) {
  if (message.empty()) message = "not authorized";
  return {.code = 401, .reason = "Unauthorized", .message = std::move(message)};
}

Status ForbiddenStatus(const GroupResource& resource, std::string_view name, std::string_view why) {
  std::string message;
  if (resource.resource.empty()) {
    message = fmt::format("forbidden: {}", why);
  } else if (name.empty()) {
    message = fmt::format("{} is forbidden: {}", resource.ToString(), why);
  } else {
    message = fmt::format("{} \"{}\" is forbidden: {}", resource.ToString(), name, why);
  }
  return {.code = 403,
          .reason = "Forbidden",
          .message = std::move(message),
          .details = DetailsOf(resource, name)};
}

Status NotFoundStatus(const GroupResource& resource, std::string_view name) {
  return {.code = 404,
          .reason = "NotFound",
          .message = fmt::format("{} \"{}\" not found", resource.ToString(), name),
          .details = DetailsOf(resource, name)};
}

Status AlreadyExistsStatus(const GroupResource& resource, std::string_view name) {
  return {.code = 409,
          .reason = "AlreadyExists",
          .message = fmt::format("{} \"{}\" already exists", resource.ToString(), name),
          .details = DetailsOf(resource, name)};
}

Status ConflictStatus(const GroupResource& resource, std::string_view name, std::string_view why) {
  return {.code = 409,
          .reason = "Conflict",
          .message = fmt::format("Operation cannot be fulfilled on {} \"{}\": {}",
                                 resource.ToString(), name, why),
          .details = DetailsOf(resource, name)};
}

Status ExpiredStatus(std::string message) {
  return {.code = 410, .reason = "Expired", .message = std::move(message)};
}

Status MethodNotSupportedStatus(const GroupResource& resource, std::string_view action) {
  return {.code = 405,
          .reason = "MethodNotAllowed",
          .message = fmt::format("{} is not supported on resources of kind \"{}\"", action,
                                 resource.ToString()),
          .details = StatusDetails{.group = resource.group, .kind = resource.resource}};
}

Status TooManyRequestsStatus(std::string message, int retry_after_seconds) {
  return {.code = 429,
          .reason = "TooManyRequests",
          .message = std::move(message),
          .details = StatusDetails{.retry_after_seconds = retry_after_seconds}};
}

Status RequestEntityTooLargeStatus(std::string message) {
  return {.code = 413,
          .reason = "RequestEntityTooLarge",
          .message = fmt::format("Request entity too large: {}", message)};
}

Status TimeoutStatus(std::string message, int retry_after_seconds) {
  return {.code = 504,
          .reason = "Timeout",
          .message = fmt::format("Timeout: {}", message),
          .details = StatusDetails{.retry_after_seconds = retry_after_seconds}};
}

Status ServiceUnavailableStatus(std::string message) {
  return {.code = 503, .reason = "ServiceUnavailable", .message = std::move(message)};
}

Status InternalErrorStatus(std::string_view what) {
  return {.code = 500,
          .reason = "InternalError",
          .message = fmt::format("Internal error occurred: {}", what),
          .details = StatusDetails{.causes = {StatusCause{.message = std::string(what)}}}};
}

}  // namespace keelson
