#pragma once

// From a request's body to a typed object, or to the sentence that says why not.
//
// A body may leave out kind and apiVersion; what it then is follows from the URL. Everything that
// can be wrong with it is answered 400 in upstream's words, which quote the beginning of the body.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "rest/media_type.h"
#include "rest/options.h"
#include "schema/resource.h"
#include "value/document.h"

namespace keelson::rest {

// What the URL asks for.
struct ExpectedBody {
  schema::GroupVersionKind kind;
  const schema::Type* type = nullptr;
};

struct DecodedBody {
  value::Document object;             // canonical, with kind and apiVersion
  std::vector<std::string> warnings;  // unknown and repeated fields, when they are to be warned of
};

ApiResult<DecodedBody> DecodeBody(const schema::Catalog& catalog, const ExpectedBody& expected,
                                  Format format, std::string_view body, FieldValidation validation);

// Why an object of the given kind cannot be taken for the expected one, in upstream's words;
// nothing when it is of that kind.
std::optional<std::string> KindMisfit(const schema::Catalog& catalog,
                                      const schema::GroupVersionKind& given,
                                      const schema::GroupVersionKind& expected);
// A kind from its two fields; views into them.
schema::GroupVersionKind KindOf(std::string_view api_version, std::string_view kind);

// "group/version" or "version".
std::string ApiVersionText(std::string_view group, std::string_view version);
// Upstream's internal package of a group, which some of its sentences name: core, apps, rbac.
std::string_view InternalPackage(std::string_view group);

// At most 3 MiB, as upstream; more is answered 413.
inline constexpr size_t kMaxBodyBytes = 3 * 1024 * 1024;
Status BodyTooLargeStatus();

}  // namespace keelson::rest
