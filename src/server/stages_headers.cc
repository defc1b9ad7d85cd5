// Stages that set headers of the answer and leave the request alone.

#include <re2/re2.h>

#include <random>

#include "base/ids.h"
#include "server/stages.h"

namespace keelson::server {
namespace {

class Hsts final : public Stage {
 public:
  explicit Hsts(const std::vector<std::string>& directives)
      : value_(fmt::format("{}", fmt::join(directives, "; "))) {}
  std::string_view name() const override { return "HSTS"; }
  Verdict Before(RequestContext& context) override {
    context.response.headers().AddView("Strict-Transport-Security", value_);
    return Verdict::kPass;
  }

 private:
  const std::string value_;
};

class CacheControl final : public Stage {
 public:
  std::string_view name() const override { return "CacheControl"; }
  Verdict Before(RequestContext& context) override {
    context.response.headers().AddView("Cache-Control", "no-cache, private");
    return Verdict::kPass;
  }
};

class ProbabilisticGoaway final : public Stage {
 public:
  explicit ProbabilisticGoaway(double chance) : chance_(chance) {}
  std::string_view name() const override { return "ProbabilisticGoaway"; }
  Verdict Before(RequestContext& context) override {
    if (context.request.protocol == http::Protocol::kHttp2) {
      thread_local std::minstd_rand generator(static_cast<uint32_t>(RandomUint64()));
      if (std::uniform_real_distribution<>()(generator) < chance_) {
        context.response.CloseConnection();
      }
    }
    return Verdict::kPass;
  }

 private:
  const double chance_;
};

class Cors final : public Stage {
 public:
  explicit Cors(std::vector<std::unique_ptr<RE2>> origins) : origins_(std::move(origins)) {}
  std::string_view name() const override { return "CORS"; }
  Verdict Before(RequestContext& context) override {
    auto origin = context.request.headers.Get("origin");
    if (!origin || origin->empty() || !Allowed(*origin)) return Verdict::kPass;
    auto& headers = context.response.headers();
    headers.Add("Access-Control-Allow-Origin", *origin);
    headers.AddView("Access-Control-Allow-Methods", "POST, GET, OPTIONS, PUT, DELETE, PATCH");
    headers.AddView("Access-Control-Allow-Headers",
                    "Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, "
                    "X-Requested-With, If-Modified-Since");
    headers.AddView("Access-Control-Expose-Headers", "Date");
    headers.AddView("Access-Control-Allow-Credentials", "true");
    if (context.request.method != "OPTIONS") return Verdict::kPass;
    context.response.Send(204, {});
    return Verdict::kAnswer;
  }

 private:
  bool Allowed(std::string_view origin) const {
    for (const auto& pattern : origins_) {
      if (RE2::PartialMatch(re2::StringPiece(origin.data(), origin.size()), *pattern)) return true;
    }
    return false;
  }

  std::vector<std::unique_ptr<RE2>> origins_;
};

}  // namespace

StagePtr HstsStage(const std::vector<std::string>& directives) {
  return std::make_unique<Hsts>(directives);
}

StagePtr CacheControlStage() { return std::make_unique<CacheControl>(); }

StagePtr ProbabilisticGoawayStage(double chance) {
  return std::make_unique<ProbabilisticGoaway>(chance);
}

Result<StagePtr> CorsStage(const std::vector<std::string>& allowed_origins) {
  std::vector<std::unique_ptr<RE2>> patterns;
  for (const auto& origin : allowed_origins) {
    auto pattern = std::make_unique<RE2>(origin, RE2::Quiet);
    if (!pattern->ok()) {
      return Fail(ErrorCode::kInvalid, "error parsing regexp: {}", pattern->error());
    }
    patterns.push_back(std::move(pattern));
  }
  return std::make_unique<Cors>(std::move(patterns));
}

}  // namespace keelson::server
