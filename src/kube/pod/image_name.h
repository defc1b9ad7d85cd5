#pragma once

// Names of container images: what decides whether a node asks its registry each time.

#include <string_view>

namespace keelson::kube::pod {

// Whether the name means the tag "latest", by saying so or by giving neither tag nor digest. A name
// that is none means nothing.
//
//   name   = [ domain "/" ] component { "/" component } [ ":" tag ] [ "@" digest ]
bool MeansLatest(std::string_view image);

}  // namespace keelson::kube::pod
