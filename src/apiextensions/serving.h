#pragma once

// Serving: a custom kind made ready to answer requests. Its schemas compiled, its store open, one
// handler for each version and subresource. Belongs to a CustomKind, which opens it at first use.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiextensions/custom_codec.h"
#include "apiextensions/custom_kind.h"
#include "apiextensions/custom_strategy.h"
#include "apiextensions/custom_versions.h"
#include "base/result.h"
#include "rest/object_image.h"
#include "rest/resource.h"
#include "rest/scale.h"
#include "rest/table.h"
#include "schema/crd.h"
#include "storage/object_store.h"
#include "value/json_path.h"

namespace keelson::apiextensions {

class Serving {
 public:
  // Both outlive it.
  static Result<std::unique_ptr<const Serving>> Create(const CustomKind& kind,
                                                       const KindParts& parts);
  ~Serving();

  // Null for what is not served.
  const rest::ResourceHandler* Find(std::string_view version, std::string_view subresource) const;
  const rest::ResourceSpec& stored() const { return *stored_spec_; }
  void EndWatches() const { store_->cache().hub().EndAll(); }

 private:
  struct Version;

  Serving(const CustomKind& kind, const KindParts& parts, bool by_webhook);
  Result<void> AddVersion(const value::Value& definition, const value::Value& version);
  void AddColumns(const value::Value& columns, Version& to);
  void OpenStore(const value::Value& definition);
  void Serve(Version& version);

  const CustomKind& kind_;
  const KindParts& parts_;
  const value::ArenaRef arena_;  // of texts that views point to
  const schema::DefaultHooks no_hooks_;
  CustomVersions converter_;
  std::vector<std::unique_ptr<Version>> versions_;
  Version* stored_ = nullptr;
  schema::ResourceInfo store_info_;  // the stored version, with the fields of all of them
  std::vector<schema::SelectableField> store_fields_;
  std::unique_ptr<const rest::ImageEncoder> encoder_;
  std::unique_ptr<const CustomReader> reader_;
  std::unique_ptr<const CustomCodec> codec_;
  std::unique_ptr<storage::ObjectStore> store_;
  const rest::ResourceSpec* stored_spec_ = nullptr;
  rest::ResourceSpec unserved_spec_;  // when the stored version is not served
};

}  // namespace keelson::apiextensions
