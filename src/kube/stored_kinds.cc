#include "kube/stored_kinds.h"

#include "rest/object_image.h"
#include "rest/stored_value.h"
#include "storage/object_tree.h"
#include "storage/resource_keys.h"

namespace keelson::kube {

bool IsStored(const schema::ResourceInfo& info) {
  return (info.verbs & schema::kVerbList) != 0 && (info.verbs & schema::kVerbCreate) != 0 &&
         info.list_type != nullptr && info.hub.kind.empty();
}

struct StoredKinds::Kind {
  Kind(const schema::Catalog& catalog, const schema::ResourceInfo& info)
      : encoder(info, /*list_items_keep_type=*/false),
        reader(catalog, info, defaults, encoder),
        codec(info, encoder, reader, rest::StoredForm::kRecord) {}

  const schema::DefaultHooks defaults;
  const rest::ImageEncoder encoder;
  const rest::StoredReader reader;
  const rest::StoredCodec codec;
};

StoredKinds::StoredKinds(const schema::Catalog& catalog) {
  for (const auto& version : catalog.group_versions()) {
    for (const auto& info : version.resources) {
      if (!IsStored(info)) continue;
      const GroupResource resource{std::string(info.group), std::string(info.plural)};
      auto prefix = std::string(storage::kRegistryRoot) +
                    storage::ResourcePrefix(resource, /*built_in=*/true) + "/";
      kinds_.try_emplace(std::move(prefix), std::make_unique<Kind>(catalog, info));
    }
  }
}

StoredKinds::~StoredKinds() = default;

Result<void> StoredKinds::Check(std::string_view key, std::string_view value) const {
  auto after = kinds_.upper_bound(key);
  if (after == kinds_.begin()) return {};
  const auto& [prefix, kind] = *std::prev(after);
  if (!key.starts_with(prefix)) return {};
  TRY(auto object, kind->codec.Decode(Slice::Copy(value), /*revision=*/1));
  auto belongs = prefix + storage::TreeOrder{}.KeyOf(*object);
  if (belongs != key) return Fail(ErrorCode::kCorrupt, "the object belongs under {}", belongs);
  return {};
}

}  // namespace keelson::kube
