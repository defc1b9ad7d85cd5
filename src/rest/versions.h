#pragma once

// Kinds that are served in several versions and stored in one (autoscaling/v1 and v2, events).

#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/status.h"
#include "patch/updater.h"
#include "rest/projection.h"
#include "rest/resource.h"
#include "schema/convert.h"
#include "schema/resource.h"

namespace keelson::rest {

// All versions of a kind, for owners who wrote in different ones.
class KindVersions final : public patch::VersionConverter {
 public:
  // All outlive it.
  KindVersions(const schema::TableConverter& converter,
               std::vector<const schema::ResourceInfo*> versions)
      : converter_(converter), versions_(std::move(versions)) {}

  const schema::Type* TypeIn(std::string_view api_version) const override;
  Result<value::Document> Convert(const value::Document& object,
                                  std::string_view api_version) const override;

 private:
  const schema::TableConverter& converter_;
  const std::vector<const schema::ResourceInfo*> versions_;
};

// Shows stored objects in one version.
class VersionProjection final : public Projection {
 public:
  // Both outlive it. `shown` and `stored` are versions of the kind.
  VersionProjection(const KindVersions& versions, const schema::ResourceInfo& shown,
                    const schema::ResourceInfo& stored);

  const schema::Type& type() const override { return *shown_.type; }
  schema::GroupVersionKind kind() const override {
    return {shown_.group, shown_.version, shown_.kind};
  }
  ApiResult<value::Document> Show(const value::Document& stored) const override;
  ApiResult<value::Document> Put(const value::Document& shown,
                                 const value::Document* stored) const override;
  const patch::VersionConverter* versions() const override { return &versions_; }

 private:
  const KindVersions& versions_;
  const schema::ResourceInfo& shown_;
  const std::string shown_version_;
  const std::string stored_version_;
};

// Stored JSON as the endpoint shows it; the same bytes when that is no different.
ApiResult<Slice> Shown(const ResourceSpec& spec, const Slice& json);

}  // namespace keelson::rest
