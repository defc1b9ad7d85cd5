// What a quantity writes, it reads back as the same amount and writes the same way again.

#include "value/quantity.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace keelson::value;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  std::string buffer;
  auto quantity = Quantity::Parse(text);
  auto canonical = CanonicalQuantity(text, buffer);
  KEELSON_CHECK(quantity.has_value() == canonical.has_value());
  if (!quantity) return 0;
  std::string written = quantity->ToString();
  KEELSON_CHECK(written == *canonical);
  // Past the largest suffix upstream drops it, so such amounts do not read back.
  if (quantity->format() != Quantity::Format::kDecimalExponent &&
      quantity->Compare(Quantity(1, Quantity::Format::kDecimalSI, 20)) < 0 &&
      quantity->Compare(Quantity(-1, Quantity::Format::kDecimalSI, 20)) > 0) {
    auto again = Quantity::Parse(written);
    KEELSON_CHECK(again.has_value());
    KEELSON_CHECK(again->Compare(*quantity) == 0);
  }
  Quantity sum = *quantity;
  sum.Sub(*quantity);
  KEELSON_CHECK(sum.IsZero());
  return 0;
}
