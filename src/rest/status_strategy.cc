#include "rest/status_strategy.h"

#include "rest/prepare.h"

namespace keelson::rest {

StatusStrategy::StatusStrategy(const Strategy& main, const schema::ResourceInfo& stored)
    : main_(main) {
  for (const auto& field : stored.type->fields()) {
    const auto name = field.text();
    if (name != "kind" && name != "apiVersion" && name != "metadata" && name != "status") {
      kept_.push_back(name);
    }
  }
}

void StatusStrategy::PrepareForUpdate(const WriteScope& scope, value::Ref object,
                                      const value::Value& old) const {
  for (auto field : kept_) Restore(object, field, old);
  main_.PrepareForUpdate(scope, object, old);
}

}  // namespace keelson::rest
