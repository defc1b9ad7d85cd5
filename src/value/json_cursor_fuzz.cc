// Arbitrary bytes through the cursor and the projection: they promise to stay inside and to end.
// Of JSON that is not too deep, a part must come out as it went in.

#include <cstdint>
#include <string>

#include "value/json.h"
#include "value/projection.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace keelson::value;
  const std::string text(reinterpret_cast<const char*>(data), size);
  JsonCursor cursor(text);
  while (!cursor.at_end()) cursor.Skip();

  constexpr std::string_view kPaths[] = {"a", "b.c", "b.d.e"};
  auto arena = Arena::Make();
  std::string_view metadata;
  const Projection projection(kPaths);
  const Value parts = projection.Read(text, *arena, &metadata);
  const std::string written = ToJson(parts);
  auto document = ParseJson(text);
  if (!document || !document->root().is_object()) return 0;
  const std::string compact = ToJson(document->root());
  if (compact.size() > 100) return 0;
  const Value again = projection.Read(compact, *arena);
  KEELSON_CHECK(document->root()["a"] == again["a"]);
  return 0;
}
