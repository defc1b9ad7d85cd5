#include "base/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace keelson::metrics {
namespace {

TEST(Metrics, NumbersPrintAsGoPrintsThem) {
  EXPECT_EQ(FormatValue(0), "0");
  EXPECT_EQ(FormatValue(1), "1");
  EXPECT_EQ(FormatValue(100000), "100000");
  EXPECT_EQ(FormatValue(1e6), "1e+06");
  EXPECT_EQ(FormatValue(1234567), "1.234567e+06");
  EXPECT_EQ(FormatValue(0.0001), "0.0001");
  EXPECT_EQ(FormatValue(1.5e-5), "1.5e-05");
  EXPECT_EQ(FormatValue(1.70000000025e9), "1.70000000025e+09");
  EXPECT_EQ(FormatValue(std::numeric_limits<double>::infinity()), "+Inf");
}

TEST(Metrics, TextIsSortedByNameWithLabelsSortedToo) {
  Registry registry;
  auto& requests = registry.CounterVector({.name = "b_total",
                                           .help = "Counter with \\ and\nline.",
                                           .stability = Stability::kStable,
                                           .labels = {"verb", "code"}});
  requests.With({"GET", "200"}).Add(2);
  requests.With({"GET", "4\"04"}).Add();
  registry.NewGauge({.name = "a_gauge", .help = "Gauge."}).Set(2.5);
  registry.CallbackGauge({.name = "c", .help = "Asked.", .stability = Stability::kNone},
                         [] { return 7.0; });
  EXPECT_EQ(registry.Text(),
            "# HELP a_gauge [ALPHA] Gauge.\n# TYPE a_gauge gauge\na_gauge 2.5\n"
            "# HELP b_total [STABLE] Counter with \\\\ and\\nline.\n# TYPE b_total counter\n"
            "b_total{code=\"200\",verb=\"GET\"} 2\nb_total{code=\"4\\\"04\",verb=\"GET\"} 1\n"
            "# HELP c Asked.\n# TYPE c gauge\nc 7\n");
}

TEST(Metrics, HistogramBucketsAreCumulative) {
  Registry registry;
  auto& latency = registry.NewHistogram({.name = "h", .help = "H."}, {0.1, 1});
  latency.Observe(0.05);
  latency.Observe(0.1);
  latency.Observe(0.5);
  latency.Observe(5);
  EXPECT_EQ(registry.Text(),
            "# HELP h [ALPHA] H.\n# TYPE h histogram\nh_bucket{le=\"0.1\"} 2\n"
            "h_bucket{le=\"1\"} 3\nh_bucket{le=\"+Inf\"} 4\nh_sum 5.65\nh_count 4\n");
}

TEST(Metrics, ThreadsDoNotLoseCounts) {
  Registry registry;
  auto& counter = registry.NewCounter({.name = "n", .help = ""});
  auto& histogram = registry.NewHistogram({.name = "h", .help = ""}, {1});
  std::vector<std::thread> threads;
  for (int t = 0; t < 20; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) {
        counter.Add();
        histogram.Observe(0.5);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(counter.Value(), 20000u);
  EXPECT_EQ(histogram.Count(), 20000u);
  EXPECT_EQ(histogram.Sum(), 10000);
}

TEST(Metrics, ResetKeepsHandlesValid) {
  Registry registry;
  auto& counter = registry.CounterVector({.name = "n", .help = "", .labels = {"a"}}).With({"x"});
  counter.Add(5);
  registry.Reset();
  EXPECT_EQ(counter.Value(), 0u);
  counter.Add();
  EXPECT_NE(registry.Text().find("n{a=\"x\"} 1\n"), std::string::npos);
}

TEST(Metrics, SameNameGivesTheSameMetric) {
  Registry registry;
  auto& one = registry.NewCounter({.name = "n", .help = ""});
  EXPECT_EQ(&one, &registry.NewCounter({.name = "n", .help = ""}));
  EXPECT_DEATH(registry.NewGauge({.name = "n", .help = ""}), "");
}

TEST(Metrics, ProcessMetricsReadTheKernel) {
  Registry registry;
  RegisterProcessMetrics(registry);
  auto text = registry.Text();
  EXPECT_NE(text.find("process_resident_memory_bytes "), std::string::npos);
  EXPECT_EQ(text.find("process_start_time_seconds 0\n"), std::string::npos);
}

TEST(Metrics, SetsOfLabelsMayBeKnownOnlyWhenAsked) {
  Registry registry;
  std::vector<Registry::Sample> samples;
  registry.CallbackGauges({.name = "objects", .help = "Objects.", .labels = {"resource"}},
                          [&] { return samples; });
  EXPECT_EQ(registry.Text(), "");
  samples = {{{"pods"}, 3}, {{"nodes"}, 1}};
  EXPECT_THAT(registry.Text(), ::testing::EndsWith("# TYPE objects gauge\n"
                                                   "objects{resource=\"pods\"} 3\n"
                                                   "objects{resource=\"nodes\"} 1\n"));
}

}  // namespace
}  // namespace keelson::metrics
