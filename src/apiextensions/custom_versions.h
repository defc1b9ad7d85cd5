#pragma once

// Custom kinds that are served in several versions and stored in one.
//
// Without a webhook a version differs from another in its name alone; what its schema does not know
// is left out. Conversion by webhook is refused by name: such kinds are served in the version they
// are stored in.

#include <string>
#include <string_view>
#include <vector>

#include "apiextensions/custom_strategy.h"
#include "base/status.h"
#include "patch/updater.h"
#include "rest/projection.h"
#include "schema/resource.h"

namespace keelson::apiextensions {

// All versions of a kind, for owners who wrote in different ones.
class CustomVersions final : public patch::VersionConverter {
 public:
  // `by_webhook` says that the definition asks for a webhook.
  explicit CustomVersions(bool by_webhook) : by_webhook_(by_webhook) {}
  // `info` outlives this. Before anything is converted.
  void Add(const schema::ResourceInfo& info);

  const schema::Type* TypeIn(std::string_view api_version) const override;
  Result<value::Document> Convert(const value::Document& object,
                                  std::string_view api_version) const override;

 private:
  struct Version {
    std::string api_version;
    const schema::ResourceInfo* info;
  };
  const Version* Find(std::string_view api_version) const;

  const bool by_webhook_;
  std::vector<Version> versions_;
};

// Shows stored objects in one version, and judges by its rules what is written in it.
class CustomProjection final : public rest::Projection {
 public:
  // All outlive it. `shown` and `stored` are versions of the kind.
  CustomProjection(const CustomVersions& versions, const VersionRules& rules,
                   const schema::ResourceInfo& shown, const schema::ResourceInfo& stored);

  const schema::Type& type() const override { return *shown_.type; }
  schema::GroupVersionKind kind() const override {
    return {shown_.group, shown_.version, shown_.kind};
  }
  ApiResult<value::Document> Show(const value::Document& stored) const override;
  ApiResult<value::Document> Put(const value::Document& shown,
                                 const value::Document* stored) const override;
  const patch::VersionConverter* versions() const override { return &versions_; }

 private:
  const CustomVersions& versions_;
  const VersionRules& rules_;
  const schema::ResourceInfo& shown_;
  const schema::ResourceInfo& stored_;
  const std::string shown_version_;
  const std::string stored_version_;
};

}  // namespace keelson::apiextensions
