#include "options.h"

#include <fmt/format.h>

#include <charconv>

#include "base/quote.h"

namespace keelson::app {
namespace {

class Level final : public flags::Value {
 public:
  explicit Level(uint64_t& target) : target_(target) {}
  std::string_view type() const override { return "Level"; }
  Result<void> Set(std::string_view text) override {
    uint32_t level = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), level);
    if (error == std::errc::result_out_of_range) {
      return Fail(ErrorCode::kInvalid, "strconv.ParseUint: parsing {}: value out of range",
                  Quote(text));
    }
    if (error != std::errc() || end != text.data() + text.size()) {
      return Fail(ErrorCode::kInvalid, "strconv.ParseUint: parsing {}: invalid syntax",
                  Quote(text));
    }
    target_ = level;
    return {};
  }
  std::string Text() const override { return std::to_string(target_); }

 private:
  uint64_t& target_;
};

class Version final : public flags::Value {
 public:
  explicit Version(std::string& target) : target_(target) {}
  std::string_view type() const override { return "version"; }
  std::string_view implied() const override { return "true"; }
  Result<void> Set(std::string_view text) override {
    if (text != "true" && text != "raw" && text != "false") {
      return Fail(ErrorCode::kInvalid, "strconv.ParseBool: parsing {}: invalid syntax",
                  Quote(text));
    }
    target_ = text == "false" ? "" : text;
    return {};
  }
  std::string Text() const override { return target_; }

 private:
  std::string& target_;
};

class Help final : public flags::Value {
 public:
  explicit Help(bool& target) : target_(target) {}
  std::string_view type() const override { return "bool"; }
  std::string_view implied() const override { return "true"; }
  Result<void> Set(std::string_view text) override {
    target_ = text != "false";
    return {};
  }
  std::string Text() const override { return target_ ? "true" : "false"; }

 private:
  bool& target_;
};

}  // namespace

void Options::AddFlags(flags::FlagSet& flags) {
  flags.BeginSection("Generic");
  run.AddFlags(flags);
  flags.BeginSection("Storage");
  storage.AddFlags(flags);
  flags.BeginSection("Etcd");
  storage.etcd.AddFlags(flags);
  flags.BeginSection("Secure serving");
  serving.AddFlags(flags);
  flags.BeginSection("Features");
  features.AddFlags(flags);
  flags.BeginSection("Authentication");
  access.AddAuthenticationFlags(flags);
  access.AddProviderFlags(flags);
  flags.BeginSection("Authorization");
  access.AddAuthorizationFlags(flags);
  flags.BeginSection("Admission");
  flags.StringSlice("enable-admission-plugins", admission.enable,
                    fmt::format("Admission plugins to run besides those that run by default ({}). "
                                "All there are: {}. The order does not matter.",
                                fmt::join(kube::plugins::DefaultPluginNames(), ", "),
                                fmt::join(kube::plugins::PluginNames(), ", ")));
  flags.StringSlice("disable-admission-plugins", admission.disable,
                    "Admission plugins not to run although they would by default.");
  flags.BeginSection("Misc");
  kubelet.AddFlags(flags);
  cluster.AddFlags(flags);
  flags.BeginSection("Logs");
  flags.Add("v", 'v', std::make_unique<Level>(verbosity), "number for the log level verbosity");
  flags.BeginSection("Global");
  flags.Add("help", 'h', std::make_unique<Help>(help), "help for keelson");
  flags.Add("version", 0, std::make_unique<Version>(version),
            "--version, --version=raw prints version information and quits");
}

std::vector<std::string> Options::Validate() const {
  auto errors = run.Validate();
  for (auto& error : serving.Validate()) errors.push_back(std::move(error));
  for (auto& error : storage.Validate()) errors.push_back(std::move(error));
  for (auto& error : access.Validate()) errors.push_back(std::move(error));
  for (auto& error : cluster.Validate()) errors.push_back(std::move(error));
  for (auto& error : kube::plugins::CheckOptions(admission)) errors.push_back(std::move(error));
  return errors;
}

}  // namespace keelson::app
