#include "kv/types.h"

namespace keelson::kv {

KeyRange KeyRange::Prefix(std::string_view prefix) {
  // The smallest key greater than all with the prefix: the last byte that can be raised, raised.
  std::string end(prefix);
  while (!end.empty() && static_cast<unsigned char>(end.back()) == 0xff) end.pop_back();
  if (!end.empty()) ++end.back();
  return {std::string(prefix), std::move(end)};
}

bool Compare::Holds(const KeyValue& current) const {
  int64_t actual = 0;
  switch (target) {
    case Target::kModRevision:
      actual = current.mod_revision;
      break;
    case Target::kCreateRevision:
      actual = current.create_revision;
      break;
    case Target::kVersion:
      actual = current.version;
      break;
    case Target::kLease:
      actual = current.lease;
      break;
  }
  switch (relation) {
    case Relation::kEqual:
      return actual == operand;
    case Relation::kNotEqual:
      return actual != operand;
    case Relation::kLess:
      return actual < operand;
    case Relation::kGreater:
      return actual > operand;
  }
  return false;
}

}  // namespace keelson::kv
