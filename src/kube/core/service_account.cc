#include "kube/core/kinds.h"

namespace keelson::kube::core {
namespace {

// Of the secrets that pods may use only the names count; all of them are in the same namespace.
void KeepSecretNames(Ref object) {
  using Names = v1::ServiceAccount::Names;
  const auto secrets = v1::ServiceAccount(object.Get()).secrets();
  bool clean = true;
  for (const auto secret : secrets) clean = clean && secret.value().members().size() <= 1;
  if (clean) return;
  Ref list = object.Field(Names::secrets);
  for (size_t i = 0; i < list.size(); ++i) {
    const Value name = list.Item(i).Get()[v1::ObjectReference::Names::name];
    const value::Member only(&v1::ObjectReference::Names::name, name);
    list.Item(i).Set(name.is_null() ? Value::EmptyObject() : object.builder().Object({&only, 1}));
  }
}

}  // namespace

constinit const KindRules kServiceAccountRules = {
    .prepare_for_create = [](const WriteScope&, Ref object) { KeepSecretNames(object); },
    .prepare_for_update = [](const WriteScope&, Ref object,
                             const Value&) { KeepSecretNames(object); },
};

}  // namespace keelson::kube::core
