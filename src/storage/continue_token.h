#pragma once

// Continue tokens: where the next page of a list starts, and as of which revision.
//
//   base64url({"v":"meta.k8s.io/v1","rv":<revision>,"start":"<key below the listed prefix>"})
//
// A revision of -1 asks to go on at the latest state, which is what a client is offered when the
// revision it was paging at has been compacted.

#include <string>
#include <string_view>

#include "base/result.h"
#include "kv/types.h"

namespace keelson::storage {

inline constexpr kv::Revision kContinueAtLatest = -1;

struct ContinuePoint {
  kv::Revision revision = 0;
  std::string start;  // relative to what is listed, without a leading slash
};

// Fails with kInvalid and upstream's message.
Result<ContinuePoint> DecodeContinue(std::string_view token);

// `start` is written as it is; upstream's cache leads with a slash, its store does not.
std::string EncodeContinue(kv::Revision revision, std::string_view start);

}  // namespace keelson::storage
