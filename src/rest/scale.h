#pragma once

// The scale subresource: a replica count and a selector, read from and written to fixed paths of
// the object.

#include <string>
#include <string_view>
#include <vector>

#include "patch/scale_fields.h"
#include "rest/projection.h"
#include "schema/resource.h"

namespace keelson::rest {

struct ScalePaths {
  std::vector<std::string> spec_replicas{"spec", "replicas"};
  std::vector<std::string> status_replicas{"status", "replicas"};
  // A label selector, a map of labels, or text; shown as text. Empty when there is none.
  std::vector<std::string> selector{"spec", "selector"};
};

class ScaleProjection final : public Projection {
 public:
  // `scale` is autoscaling/v1 Scale; outlives this, as `resource` does.
  ScaleProjection(const schema::ResourceInfo& resource, const schema::Type& scale,
                  ScalePaths paths = {});

  const schema::Type& type() const override { return scale_; }
  schema::GroupVersionKind kind() const override { return {"autoscaling", "v1", "Scale"}; }
  ApiResult<value::Document> Show(const value::Document& stored) const override;
  ApiResult<value::Document> Live(const value::Document& stored) const override;
  ApiResult<value::Document> Put(const value::Document& shown,
                                 const value::Document* stored) const override;

 private:
  const schema::Type& resource_type_;
  const schema::Type& scale_;
  const ScalePaths paths_;
  const std::string api_version_;  // of the resource
  const patch::ReplicasPaths replicas_;
};

// A label selector as text: app=web,tier in (a,b),!old. Empty when it selects everything.
std::string SelectorText(const value::Value& selector);

}  // namespace keelson::rest
