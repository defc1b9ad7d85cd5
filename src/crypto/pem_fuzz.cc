// PEM text from files and from API objects (CA bundles of webhooks): parsing never crashes, and
// what was parsed is written and read back unchanged.

#include <cstdint>

#include "crypto/pem.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace keelson::crypto;
  auto blocks = ParsePem({reinterpret_cast<const char*>(data), size});
  if (!blocks) return 0;
  std::string text;
  for (const auto& block : *blocks) text += EncodePem(block.type, block.der);
  if (text.size() <= kMaxPemSize) KEELSON_CHECK(ParsePem(text) == blocks);
  return 0;
}
