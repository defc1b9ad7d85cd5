#include "server/compression.h"
#include "server/reply.h"
#include "server/routes.h"

namespace keelson::server {
namespace {

constexpr std::string_view kContentType =
    "text/plain; version=0.0.4; charset=utf-8; escaping=underscores";
constexpr int kLevel = 1;  // scraped every few seconds

class Metrics final : public Endpoint {
 public:
  Metrics(metrics::Registry& registry, const Clock& clock, bool reset)
      : registry_(registry),
        reset_(reset),
        start_(std::to_string(
            std::chrono::duration_cast<std::chrono::seconds>(clock.WallNow().time_since_epoch())
                .count())) {}

  Pending Serve(RequestContext& context) override {
    if (reset_ && context.request.method == "DELETE") {
      registry_.Reset();
      SendBody(context, 200, "text/plain; charset=utf-8", "metrics reset\n");
      return std::nullopt;
    }
    auto text = registry_.Text();
    auto& headers = context.response.headers();
    if (AcceptsGzip(context.request)) {
      headers.AddView("Content-Encoding", "gzip");
      text = Gzip(text, kLevel);
    }
    headers.Add("Process-Start-Time-Unix", start_);
    SendBody(context, 200, kContentType, std::move(text));
    return std::nullopt;
  }

 private:
  metrics::Registry& registry_;
  const bool reset_;
  const std::string start_;
};

}  // namespace

std::shared_ptr<Endpoint> MetricsEndpoint(metrics::Registry& registry, const Clock& clock,
                                          bool reset) {
  return std::make_shared<Metrics>(registry, clock, reset);
}

}  // namespace keelson::server
