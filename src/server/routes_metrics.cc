#include <zlib.h>

#include "server/reply.h"
#include "server/routes.h"

namespace keelson::server {
namespace {

constexpr std::string_view kContentType =
    "text/plain; version=0.0.4; charset=utf-8; escaping=underscores";

std::string Gzip(std::string_view text) {
  z_stream stream{};
  constexpr int kGzipWindow = 15 + 16;
  KEELSON_CHECK(
      deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  KEELSON_CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

bool AcceptsGzip(const http::Request& request) {
  auto accepted = request.headers.Get("accept-encoding").value_or("");
  while (!accepted.empty()) {
    auto item = accepted.substr(0, accepted.find(','));
    accepted.remove_prefix(std::min(accepted.size(), item.size() + 1));
    while (!item.empty() && item.front() == ' ') item.remove_prefix(1);
    if (item == "gzip" || item.starts_with("gzip;"))
      return item.find("q=0.0") == item.npos && !item.ends_with("q=0");
  }
  return false;
}

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
      text = Gzip(text);
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
