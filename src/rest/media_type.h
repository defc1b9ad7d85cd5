#pragma once

// Which form a request's body has and which form its answer must have.
//
// Upstream decides in two places: the router compares the Accept header with what a route offers,
// then the handler picks a serializer and reads the media type's parameters. Both steps and both
// texts are kept, because clients see them.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/status.h"

namespace keelson::rest {

enum class Format : uint8_t { kJson, kYaml, kProtobuf };

std::string_view MediaTypeOf(Format format);

// What the answer shows of an object.
enum class Shape : uint8_t {
  kObject,
  kTable,
  kPartialObjectMetadata,
  kPartialObjectMetadataList,
};

struct OutputMedia {
  Format format = Format::kJson;
  Shape shape = Shape::kObject;
  bool beta_meta = false;  // shape asked for in meta.k8s.io/v1beta1
  bool pretty = false;
};

// What an endpoint can give.
struct OutputOffer {
  bool table = true;       // server-printed tables
  bool partial = true;     // PartialObjectMetadata and its list
  bool protobuf = true;    // false for custom resources
  bool watch = false;      // the route also streams (lists do)
  bool streaming = false;  // this very request streams
};

struct OutputRequest {
  std::string_view accept;
  std::string_view user_agent;
  std::string_view raw_query;
};

// Fails with 406.
ApiResult<OutputMedia> NegotiateOutput(const OutputRequest& request, const OutputOffer& offer);

// The form of a request body; an empty Content-Type means JSON. Fails with 415.
ApiResult<Format> NegotiateInput(std::string_view content_type, bool protobuf = true);

enum class PatchType : uint8_t { kJsonPatch, kMergePatch, kStrategicMergePatch, kApply };

// Fails with 415. Custom resources have no strategic merge patch.
ApiResult<PatchType> NegotiatePatch(std::string_view content_type, bool strategic = true);

// The place in `offered` of the first media type that the best clause of `accept` allows; an empty
// `accept` allows all. Nothing when none of them is wanted.
std::optional<size_t> PickMediaType(std::string_view accept,
                                    std::span<const std::string_view> offered);

// What a client of /api and /apis wants: one group at a time, or everything in one document.
struct DiscoveryMedia {
  Format format = Format::kJson;
  bool aggregated = false;
  bool pretty = false;
};

// Fails with 406.
ApiResult<DiscoveryMedia> NegotiateDiscovery(const OutputRequest& request);

}  // namespace keelson::rest
