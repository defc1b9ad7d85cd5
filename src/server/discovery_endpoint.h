#pragma once

// Discovery over HTTP: /apis, which lists the groups of all servers in the chain, and how any
// discovery document is sent.

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "rest/discovery.h"
#include "schema/resource.h"
#include "server/endpoint.h"

namespace keelson::server {

// Groups that come and go while the server runs. Any thread.
class DiscoverySource {
 public:
  struct Groups {
    std::vector<rest::DiscoveryGroup> groups;
    std::shared_ptr<const void> owner;  // of what the groups point to
  };

  virtual ~DiscoverySource() = default;
  // Another number whenever Current() tells something else.
  virtual uint64_t version() const = 0;
  virtual Groups Current() const = 0;
};

// Sends a document in the form the client accepts. `type` is for its protobuf form.
void SendDiscovery(RequestContext& context, const schema::Type& type, std::string body);

// One aggregated answer, or 304 for who has it.
struct AggregatedAnswer {
  const schema::Type* type = nullptr;
  Slice body;
  std::string etag;
};
bool WantsAggregated(const RequestContext& context);
void SendAggregated(RequestContext& context, const AggregatedAnswer& answer);

// The path /apis. What it says is made when somebody asks after a change.
class GroupListEndpoint final : public Endpoint {
 public:
  // `groups` are always there; `more` may be null and otherwise outlives this, like the catalog.
  GroupListEndpoint(const schema::Catalog& catalog, std::vector<rest::DiscoveryGroup> groups,
                    const DiscoverySource* more);

  Pending Serve(RequestContext& context) override;

 private:
  struct Rendered {
    uint64_t version = 0;
    std::string list;
    AggregatedAnswer aggregated;
  };
  std::shared_ptr<const Rendered> Current();
  std::shared_ptr<const Rendered> Render() const;

  const std::vector<rest::DiscoveryGroup> groups_;
  const DiscoverySource* const more_;
  const schema::Type* list_type_;
  const schema::Type* aggregated_type_ = nullptr;
  std::mutex mutex_;
  std::shared_ptr<const Rendered> rendered_;
};

}  // namespace keelson::server
