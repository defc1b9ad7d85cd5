// /debug/pprof: the profiles of src/profile under the paths and headers that pprof's tools expect.

#include <charconv>

#include "profile/profile.h"
#include "server/reply.h"
#include "server/routes.h"

namespace keelson::server {
namespace {

constexpr std::string_view kPrefix = "/debug/pprof/";

void SendProfile(RequestContext& context, std::string_view name, Result<std::string> profile) {
  auto& headers = context.response.headers();
  if (!profile) {
    headers.AddView("X-Go-Pprof", "1");
    int code = profile.error().code == ErrorCode::kUnsupported ? 404 : 500;
    SendError(context, code, profile.error().message);
    return;
  }
  headers.AddView("X-Content-Type-Options", "nosniff");
  headers.Add("Content-Disposition", fmt::format("attachment; filename=\"{}\"", name));
  SendBody(context, 200, "application/octet-stream", *std::move(profile));
}

// ?seconds=N; what is no positive number means 30, as upstream takes it.
Duration SecondsOf(RequestContext& context) {
  auto text = context.query().Get("seconds").value_or("");
  int64_t seconds = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  bool valid = error == std::errc() && end == text.data() + text.size() && seconds > 0;
  return std::chrono::seconds(valid ? std::min<int64_t>(seconds, 3600) : 30);
}

Task<void> Cpu(RequestContext& context) {
  auto profile =
      co_await profile::CpuProfile(SecondsOf(context), context.exchange.cancelled.get_token());
  SendProfile(context, "profile", std::move(profile));
}

Task<void> Heap(RequestContext& context) {
  SendProfile(context, "heap", co_await profile::HeapProfile(profile::HeapView::kInUse));
}

Task<void> Allocs(RequestContext& context) {
  SendProfile(context, "allocs", co_await profile::HeapProfile(profile::HeapView::kAllocated));
}

// Upstream's goroutines are threads here; the name is what tools ask for.
Task<void> Threads(RequestContext& context) {
  if (context.query().Get("debug").value_or("0") == "0") {
    SendProfile(context, "goroutine", co_await profile::ThreadProfile());
    co_return;
  }
  auto list = co_await profile::ThreadList();
  if (!list) {
    SendProfile(context, "goroutine", std::move(list));
    co_return;
  }
  context.response.headers().AddView("X-Content-Type-Options", "nosniff");
  SendBody(context, 200, "text/plain; charset=utf-8", *std::move(list));
}

Task<void> Symbol(RequestContext& context) {
  constexpr size_t kLimit = 1 << 20;
  std::string addresses(context.request.raw_query);
  if (context.request.method == "POST") {
    auto body = co_await context.exchange.body->ReadAll(kLimit);
    addresses = body.value_or("");
  }
  auto answer = co_await profile::Symbol(std::move(addresses));
  context.response.headers().AddView("X-Content-Type-Options", "nosniff");
  SendBody(context, 200, "text/plain; charset=utf-8", answer.value_or(""));
}

Task<void> Trace(RequestContext& context) {
  SendProfile(context, "trace", profile::Trace());
  co_return;
}

constexpr std::string_view kIndex =
    "<html>\n<head>\n<title>/debug/pprof/</title>\n</head>\n<body>\n/debug/pprof/\n<br>\n"
    "<p>Set debug=1 as a query parameter to export in legacy text format</p>\n<br>\n"
    "Types of profiles available:\n<table>\n"
    "<tr><td><a href='allocs'>allocs</a></td><td>Every allocation since the start, "
    "sampled</td></tr>\n"
    "<tr><td><a href='goroutine?debug=1'>goroutine</a></td><td>What each thread is "
    "doing</td></tr>\n"
    "<tr><td><a href='heap'>heap</a></td><td>Memory in use, sampled</td></tr>\n"
    "<tr><td><a href='profile'>profile</a></td><td>CPU time over ?seconds=30</td></tr>\n"
    "</table>\n</body>\n</html>\n";

class Profiles final : public Endpoint {
 public:
  Pending Serve(RequestContext& context) override {
    auto name = context.path.substr(kPrefix.size());
    for (const auto& [known, task] : kTasks) {
      if (name == known) return task(context);
    }
    if (!name.empty()) {
      context.response.headers().AddView("X-Go-Pprof", "1");
      SendError(context, 404, "Unknown profile");
    } else {
      context.response.headers().AddView("X-Content-Type-Options", "nosniff");
      SendBody(context, 200, "text/html; charset=utf-8", std::string(kIndex));
    }
    return std::nullopt;
  }

 private:
  static constexpr std::pair<std::string_view, Task<void> (*)(RequestContext&)> kTasks[] = {
      {"profile", Cpu},     {"heap", Heap},     {"allocs", Allocs}, {"goroutine", Threads},
      {"threads", Threads}, {"symbol", Symbol}, {"trace", Trace},
  };
};

}  // namespace

void InstallProfiling(PathMux& mux) {
  mux.Handle("/debug/pprof", std::make_shared<FunctionEndpoint>([](RequestContext& context) {
               context.response.headers().AddView("Location", "/debug/pprof/");
               SendBody(context, 302, "text/html; charset=utf-8",
                        "<a href=\"/debug/pprof/\">Found</a>.\n\n");
             }),
             Listed::kNo);
  mux.HandlePrefix(std::string(kPrefix), std::make_shared<Profiles>(), Listed::kNo);
}

}  // namespace keelson::server
