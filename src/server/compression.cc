#include "server/compression.h"

#include <libdeflate.h>

#include <algorithm>
#include <memory>

namespace keelson::server {

bool AcceptsGzip(const http::Request& request) {
  auto accepted = request.headers.Get("accept-encoding").value_or("");
  while (!accepted.empty()) {
    auto item = accepted.substr(0, accepted.find(','));
    accepted.remove_prefix(std::min(accepted.size(), item.size() + 1));
    while (!item.empty() && item.front() == ' ') item.remove_prefix(1);
    if (item == "gzip" || item.starts_with("gzip;"))
      return item.find("q=0.0") == item.npos && !item.ends_with("q=0");
  }
  return false;
}

std::string Gzip(std::string_view bytes, int level) {
  std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)> compressor(
      libdeflate_alloc_compressor(level), libdeflate_free_compressor);
  KEELSON_CHECK(compressor != nullptr);
  std::string out(libdeflate_gzip_compress_bound(compressor.get(), bytes.size()), '\0');
  const size_t size = libdeflate_gzip_compress(compressor.get(), bytes.data(), bytes.size(),
                                               out.data(), out.size());
  KEELSON_CHECK(size > 0);
  out.resize(size);
  return out;
}

Result<std::string> Gunzip(std::string_view bytes, size_t size) {
  std::unique_ptr<libdeflate_decompressor, decltype(&libdeflate_free_decompressor)> decompressor(
      libdeflate_alloc_decompressor(), libdeflate_free_decompressor);
  KEELSON_CHECK(decompressor != nullptr);
  std::string out(size, '\0');
  // With no place for another size, anything but exactly `size` bytes is an error.
  if (libdeflate_gzip_decompress(decompressor.get(), bytes.data(), bytes.size(), out.data(), size,
                                 nullptr) != LIBDEFLATE_SUCCESS) {
    return Fail(ErrorCode::kCorrupt, "not {} compressed bytes", size);
  }
  return out;
}

}  // namespace keelson::server
