// Whatever the text and however it is cut, zlib must get it back. The first bytes say how to cut.

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "rest/gzip_stream.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const size_t piece = 1 + data[0] * size_t{97};
  const size_t copies = 1 + data[1];
  const std::string_view once(reinterpret_cast<const char*>(data) + 2, size - 2);
  std::string text;
  for (size_t i = 0; i < copies && text.size() < 1'000'000; ++i) text += once;

  keelson::rest::GzipStream stream;
  std::string compressed;
  for (size_t at = 0; at < text.size(); at += piece) {
    stream.Append(std::string_view(text).substr(at, piece), compressed);
  }
  stream.Finish(compressed);

  std::string back(text.size() + 1, '\0');
  z_stream inflater{};
  KEELSON_CHECK(inflateInit2(&inflater, 15 + 16) == Z_OK);
  inflater.next_in = reinterpret_cast<Bytef*>(compressed.data());
  inflater.avail_in = static_cast<uInt>(compressed.size());
  inflater.next_out = reinterpret_cast<Bytef*>(back.data());
  inflater.avail_out = static_cast<uInt>(back.size());
  KEELSON_CHECK(inflate(&inflater, Z_FINISH) == Z_STREAM_END);
  back.resize(inflater.total_out);
  inflateEnd(&inflater);
  KEELSON_CHECK(back == text);
  return 0;
}
