#include "base/flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace keelson::flags {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

struct Options {
  bool profiling = true;
  bool sharing = false;
  std::string cert_dir = "/var/run/kubernetes";
  int64_t limit = 400;
  uint64_t port = 10250;
  double chance = 0;
  Duration timeout = std::chrono::minutes(1);
  std::string address = "0.0.0.0";
  std::vector<std::string> origins;
  std::vector<std::string> issuers;
  StringMap config;
  uint64_t verbosity = 0;
};

class LevelValue final : public Value {
 public:
  explicit LevelValue(uint64_t& target) : target_(target) {}
  std::string_view type() const override { return "Level"; }
  Result<void> Set(std::string_view text) override {
    target_ = text.size();
    return {};
  }
  std::string Text() const override { return std::to_string(target_); }

 private:
  uint64_t& target_;
};

// A parsed command line: what came out, or the error's text.
struct Parsed {
  explicit Parsed(std::vector<std::string_view> arguments) : flags("keelson") {
    flags.BeginSection("Generic");
    flags.Bool("profiling", options.profiling, "Enable profiling");
    flags.Bool("permit-port-sharing", options.sharing, "Share");
    flags.String("cert-dir", options.cert_dir, "The directory.\nTwo lines");
    flags.Int("max-requests-inflight", options.limit, "Limit");
    flags.Uint("kubelet-port", options.port, "Port");
    flags.Float("goaway-chance", options.chance, "Chance");
    flags.Duration("request-timeout", options.timeout, "Timeout");
    flags.Ip("bind-address", options.address, "Address");
    flags.StringSlice("cors-allowed-origins", options.origins, "Origins");
    flags.StringArray("service-account-issuer", options.issuers, "Issuers");
    flags.Map("runtime-config", options.config, "Config");
    flags.BeginSection("Logs");
    flags.Add("v", 'v', std::make_unique<LevelValue>(options.verbosity), "level");
    auto result = flags.Parse(arguments);
    if (result) {
      positional = *result;
    } else {
      error = result.error().message;
    }
  }
  FlagSet flags;
  Options options;
  std::vector<std::string> positional;
  std::string error;
};

TEST(Flags, TakeValuesInBothForms) {
  Parsed parsed({"--max-requests-inflight", "0x10", "--request-timeout=90s", "--goaway-chance=.02",
                 "--cert_dir=/tmp", "-v5", "--permit-port-sharing", "--profiling=false"});
  EXPECT_EQ(parsed.error, "");
  EXPECT_EQ(parsed.options.limit, 16);
  EXPECT_EQ(parsed.options.timeout, std::chrono::seconds(90));
  EXPECT_EQ(parsed.options.chance, 0.02);
  EXPECT_EQ(parsed.options.cert_dir, "/tmp");
  EXPECT_EQ(parsed.options.verbosity, 1u);
  EXPECT_TRUE(parsed.options.sharing);
  EXPECT_FALSE(parsed.options.profiling);
  EXPECT_TRUE(parsed.flags.Changed("profiling"));
  EXPECT_FALSE(parsed.flags.Changed("bind-address"));
}

TEST(Flags, SlicesReplaceTheDefaultThenAppend) {
  Parsed parsed({"--cors-allowed-origins=a,\"b,c\"", "--cors-allowed-origins", "d",
                 "--service-account-issuer=x,y", "--runtime-config=a=1, b=2"});
  EXPECT_THAT(parsed.options.origins, ElementsAre("a", "b,c", "d"));
  EXPECT_THAT(parsed.options.issuers, ElementsAre("x,y"));
  EXPECT_THAT(parsed.options.config, ElementsAre(Pair("a", "1"), Pair("b", "2")));
}

TEST(Flags, RefuseInUpstreamsWords) {
  auto error = [](std::vector<std::string_view> arguments) { return Parsed(arguments).error; };
  EXPECT_EQ(error({"--nosuch"}), "unknown flag: --nosuch");
  EXPECT_EQ(error({"--nosuch=1"}), "unknown flag: --nosuch");
  EXPECT_EQ(error({"--request-timeout=x"}),
            R"(invalid argument "x" for "--request-timeout" flag: time: invalid duration "x")");
  EXPECT_EQ(error({"--max-requests-inflight=abc"}),
            "invalid argument \"abc\" for \"--max-requests-inflight\" flag: strconv.ParseInt: "
            "parsing \"abc\": invalid syntax");
  EXPECT_EQ(error({"--max-requests-inflight=99999999999999999999"}),
            "invalid argument \"99999999999999999999\" for \"--max-requests-inflight\" flag: "
            "strconv.ParseInt: parsing \"99999999999999999999\": value out of range");
  EXPECT_EQ(error({"--profiling=maybe"}),
            "invalid argument \"maybe\" for \"--profiling\" flag: strconv.ParseBool: parsing "
            "\"maybe\": invalid syntax");
  EXPECT_EQ(error({"--kubelet-port=-1"}),
            "invalid argument \"-1\" for \"--kubelet-port\" flag: strconv.ParseUint: parsing "
            "\"-1\": invalid syntax");
  EXPECT_EQ(error({"--goaway-chance=1x"}),
            "invalid argument \"1x\" for \"--goaway-chance\" flag: strconv.ParseFloat: parsing "
            "\"1x\": invalid syntax");
  EXPECT_EQ(error({"--bind-address=zz"}),
            R"(invalid argument "zz" for "--bind-address" flag: failed to parse IP: "zz")");
  EXPECT_EQ(error({"-x"}), "unknown shorthand flag: 'x' in -x");
  EXPECT_EQ(error({"-v"}), "flag needs an argument: 'v' in -v");
  EXPECT_EQ(error({"--request-timeout"}), "flag needs an argument: --request-timeout");
  EXPECT_EQ(error({"--="}), "bad flag syntax: --=");
  EXPECT_EQ(error({"---x"}), "bad flag syntax: ---x");
  EXPECT_EQ(error({"--cors-allowed-origins=a\"b"}),
            "invalid argument \"a\\\"b\" for \"--cors-allowed-origins\" flag: parse error on line "
            "1, column 2: bare \" in non-quoted field");
}

TEST(Flags, ArgumentsAndDashDashArePositional) {
  EXPECT_THAT(Parsed({"--profiling", "false", "-", "--", "--nosuch"}).positional,
              ElementsAre("false", "-", "--nosuch"));
  EXPECT_TRUE(Parsed({"a", "--help", "--nosuch"}).flags.help_requested());
  EXPECT_TRUE(Parsed({"-h"}).flags.help_requested());
}

TEST(Flags, HelpIsGroupedSortedAndAligned) {
  Parsed parsed({});
  auto help = parsed.flags.Help("Keelson.");
  EXPECT_EQ(help,
            "Keelson.\n\nUsage:\n  keelson [flags]\n\nGeneric flags:\n\n"
            "      --bind-address ip                      Address (default 0.0.0.0)\n"
            "      --cert-dir string                      The directory.\n"
            "                                             Two lines (default "
            "\"/var/run/kubernetes\")\n"
            "      --cors-allowed-origins strings         Origins\n"
            "      --goaway-chance float                  Chance\n"
            "      --kubelet-port uint                    Port (default 10250)\n"
            "      --max-requests-inflight int            Limit (default 400)\n"
            "      --permit-port-sharing                  Share\n"
            "      --profiling                            Enable profiling (default true)\n"
            "      --request-timeout duration             Timeout (default 1m0s)\n"
            "      --runtime-config mapStringString       Config\n"
            "      --service-account-issuer stringArray   Issuers\n"
            "\nLogs flags:\n\n  -v, --v Level   level\n");
}

}  // namespace
}  // namespace keelson::flags
