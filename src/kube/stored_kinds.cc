#include "kube/stored_kinds.h"

#include "rest/object_image.h"
#include "rest/stored_value.h"
#include "storage/object_record.h"
#include "storage/object_tree.h"
#include "storage/resource_keys.h"

namespace keelson::kube {

bool IsStored(const schema::ResourceInfo& info) {
  return (info.verbs & schema::kVerbList) != 0 && (info.verbs & schema::kVerbCreate) != 0 &&
         info.list_type != nullptr && info.hub.kind.empty();
}

struct StoredKinds::Kind {
  Kind(const schema::Catalog& catalog, const schema::ResourceInfo& kind)
      : info(kind),
        resource{std::string(kind.group), std::string(kind.plural)},
        encoder(info, /*list_items_keep_type=*/false),
        reader(catalog, info, defaults, encoder),
        codec(info, encoder, reader, rest::StoredForm::kRecord) {}

  const schema::ResourceInfo& info;
  const GroupResource resource;
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

const StoredKinds::Kind* StoredKinds::Find(std::string_view key) const {
  auto after = kinds_.upper_bound(key);
  if (after == kinds_.begin()) return nullptr;
  const auto& [prefix, kind] = *std::prev(after);
  return key.starts_with(prefix) ? kind.get() : nullptr;
}

const GroupResource* StoredKinds::ResourceOf(std::string_view key) const {
  const Kind* kind = Find(key);
  return kind == nullptr ? nullptr : &kind->resource;
}

Result<Slice> StoredKinds::Convert(std::string_view key, const Slice& value,
                                   rest::StoredForm form) const {
  const Kind* kind = Find(key);
  if (kind == nullptr) return value;
  const bool record = storage::ObjectRecord::IsRecord(value.view());
  const auto is = record                            ? rest::StoredForm::kRecord
                  : value.view().starts_with("k8s") ? rest::StoredForm::kProtobuf
                                                    : rest::StoredForm::kJson;
  if (is == form) return value;
  Slice foreign = value;
  if (record) {
    TRY(auto json, storage::ObjectRecord::Json(value.view()));
    foreign = value.Sub(static_cast<size_t>(json.data() - value.data()), json.size());
  }
  TRY(auto image, kind->reader.Read(foreign));
  return rest::StoredCodec(kind->info, kind->encoder, kind->reader, form).Encode(image);
}

Result<void> StoredKinds::Check(std::string_view key, std::string_view value) const {
  auto after = kinds_.upper_bound(key);
  if (after == kinds_.begin()) return {};
  const auto& [prefix, kind] = *std::prev(after);
  if (!key.starts_with(prefix)) return {};
  if (value.starts_with("k8s:enc:")) return {};  // for others to look into
  TRY(auto object, kind->codec.Decode(Slice::Copy(value), /*revision=*/1));
  auto belongs = prefix + storage::TreeOrder{}.KeyOf(*object);
  if (belongs != key) return Fail(ErrorCode::kCorrupt, "the object belongs under {}", belongs);
  return {};
}

}  // namespace keelson::kube
