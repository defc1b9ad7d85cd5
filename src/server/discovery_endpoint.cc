#include "server/discovery_endpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "rest/media_type.h"
#include "rest/render.h"
#include "server/reply.h"

namespace keelson::server {
namespace {

constexpr std::string_view kAggregatedType = ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

rest::OutputRequest OutputRequestOf(const RequestContext& context) {
  return {.accept = context.request.headers.Get("accept").value_or(""),
          .user_agent = context.request.headers.Get("user-agent").value_or(""),
          .raw_query = context.request.raw_query};
}

// Versions of a group that is there already join it.
void Merge(std::vector<rest::DiscoveryGroup>& groups, std::vector<rest::DiscoveryGroup> more) {
  for (auto& group : more) {
    auto there = std::ranges::find(groups, group.name, &rest::DiscoveryGroup::name);
    if (there == groups.end()) {
      groups.push_back(std::move(group));
    } else {
      std::ranges::move(group.versions, std::back_inserter(there->versions));
    }
  }
}

}  // namespace

void SendDiscovery(RequestContext& context, const schema::Type& type, std::string body) {
  auto media = rest::NegotiateDiscovery(OutputRequestOf(context));
  if (!media) return SendStatus(context, media.error());
  const rest::OutputMedia form{.format = media->format, .pretty = media->pretty};
  auto rendered = rest::RenderObject(type, Slice::Own(std::move(body)), form);
  if (!rendered) return SendStatus(context, rendered.error());
  context.response.headers().AddView("content-type", rest::MediaTypeOf(media->format));
  context.response.Send(200, *std::move(rendered));
}

bool WantsAggregated(const RequestContext& context) {
  auto media = rest::NegotiateDiscovery(OutputRequestOf(context));
  return media && media->aggregated;
}

void SendAggregated(RequestContext& context, const AggregatedAnswer& answer) {
  auto media = rest::NegotiateDiscovery(OutputRequestOf(context));
  if (!media) return SendStatus(context, media.error());
  auto& headers = context.response.headers();
  headers.Set("cache-control", "public");
  headers.Set("etag", answer.etag);
  headers.Set("vary", "Accept");
  if (context.request.headers.Get("if-none-match") == answer.etag) {
    return context.response.Send(304, {});
  }
  const rest::OutputMedia form{.format = media->format, .pretty = media->pretty};
  auto body = rest::RenderObject(*answer.type, answer.body, form);
  if (!body) return SendStatus(context, body.error());
  headers.Set("content-type",
              fmt::format("{}{}", rest::MediaTypeOf(media->format), kAggregatedType));
  context.response.Send(200, *std::move(body));
}

GroupListEndpoint::GroupListEndpoint(const schema::Catalog& catalog,
                                     std::vector<rest::DiscoveryGroup> groups,
                                     const DiscoverySource* more)
    : groups_(std::move(groups)),
      more_(more),
      list_type_(catalog.Find("meta.k8s.io", "v1")->FindType("APIGroupList")) {
  if (const auto* aggregated = catalog.Find("apidiscovery.k8s.io", "v2")) {
    aggregated_type_ = aggregated->FindType("APIGroupDiscoveryList");
  }
}

std::shared_ptr<const GroupListEndpoint::Rendered> GroupListEndpoint::Render() const {
  auto rendered = std::make_shared<Rendered>();
  auto groups = groups_;
  DiscoverySource::Groups more;
  if (more_ != nullptr) {
    // Read first: a change made meanwhile is then seen the next time.
    rendered->version = more_->version();
    more = more_->Current();
    Merge(groups, std::move(more.groups));
  }
  rendered->list = rest::RenderApiGroupList(groups);
  auto aggregated = rest::RenderAggregated(groups);
  rendered->aggregated = {.type = aggregated_type_,
                          .body = Slice::Own(std::move(aggregated.body)),
                          .etag = std::move(aggregated.etag)};
  return rendered;
}

std::shared_ptr<const GroupListEndpoint::Rendered> GroupListEndpoint::Current() {
  std::lock_guard lock(mutex_);
  if (rendered_ == nullptr || (more_ != nullptr && rendered_->version != more_->version())) {
    rendered_ = Render();
  }
  return rendered_;
}

Pending GroupListEndpoint::Serve(RequestContext& context) {
  const auto current = Current();
  if (WantsAggregated(context)) {
    SendAggregated(context, current->aggregated);
  } else {
    SendDiscovery(context, *list_type_, current->list);
  }
  return std::nullopt;
}

}  // namespace keelson::server
