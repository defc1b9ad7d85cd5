#pragma once

// What a cluster begins with, created when the server has started.
//
// Each part is a post-start hook with upstream's name, so the server is ready only when all of it
// is there. What exists stays as it is, except the addresses under which this server itself is
// reached. Objects are written by the server itself, past admission and all at once: on an empty
// store that costs as many syncs as a single object does.

#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/gate.h"
#include "base/ip_address.h"
#include "base/result.h"
#include "kube/bootstrap/objects.h"
#include "rest/resource.h"
#include "rest/strategy.h"
#include "server/generic_api_server.h"

namespace keelson::kube::bootstrap {

struct Options {
  std::vector<IpPrefix> cluster_ip_ranges;
  ServerAddress server;
  std::string hostname;
  // --endpoint-reconciler-type other than none: list this server as an endpoint of "kubernetes".
  bool publish_endpoints = true;
};

// The resources that objects are created in.
struct Resources {
  rest::ResourceSpec namespaces;
  rest::ResourceSpec services;
  rest::ResourceSpec endpoints;
  rest::ResourceSpec endpoint_slices;
  rest::ResourceSpec service_cidrs;
  rest::ResourceSpec ip_addresses;
  rest::ResourceSpec priority_classes;
  rest::ResourceSpec priority_levels;
  rest::ResourceSpec flow_schemas;
  rest::ResourceSpec config_maps;
  rest::ResourceSpec leases;
};

class Bootstrap {
 public:
  Bootstrap(Options options, Resources resources, Clock& clock);

  // Hooks that run this; it outlives the server.
  Result<void> AddHooks(server::GenericApiServer& server);

 private:
  // Objects that are complete as they are, status included.
  class WholeObjects final : public rest::Strategy {
   public:
    bool KeepsStatusOnCreate() const override { return true; }
  };
  class CountedObjects final : public rest::Strategy {
   public:
    bool KeepsStatusOnCreate() const override { return true; }
    bool CountsGeneration() const override { return true; }
  };

  // Creates what is not there.
  Task<Result<void>> CreateAll(const rest::ResourceSpec& spec,
                               std::vector<value::Document> objects);
  Task<void> CreateOne(const rest::ResourceSpec& spec, value::Document object,
                       Result<void>& result);
  Task<Result<void>> FlowControl();
  Task<Result<void>> KubernetesServiceAndEndpoints();
  // The service "kubernetes", and before it what a start that was cut short may have left of it.
  Task<void> CreateService(Result<void>& result);
  // Makes `field` of the object what it is in `wanted`, creating the object when it is missing.
  Task<Result<void>> Publish(const rest::ResourceSpec& spec, value::Document wanted,
                             std::string_view field);
  Task<Result<void>> Unpublish();

  const WholeObjects whole_;
  const CountedObjects counted_;
  const Options options_;
  Resources resources_;
  Clock& clock_;
};

}  // namespace keelson::kube::bootstrap
