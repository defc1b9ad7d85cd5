#pragma once

// Random objects of any type, for property tests and fuzzing. Internal to tests.

#include <cstdint>
#include <random>
#include <string>

#include "schema/type.h"
#include "value/document.h"

namespace keelson::schema::testing {

class RandomObject {
 public:
  RandomObject(value::Arena& arena, uint64_t seed) : arena_(arena), random_(seed) {}

  // A value of the type, in no particular form: fields out of order, zeros where nothing need be.
  value::Value Make(const Type& type, int depth = 0);

 private:
  uint32_t Below(uint32_t bound) { return static_cast<uint32_t>(random_() % bound); }
  std::string Text();
  value::Value String(std::string_view text) {
    return value::Value::String(arena_.CopyString(text));
  }
  value::Value Struct(const Type& type, int depth);
  value::Value Map(const Type& type, int depth);
  value::Value List(const Type& type, int depth);

  value::Arena& arena_;
  std::mt19937_64 random_;
};

}  // namespace keelson::schema::testing
