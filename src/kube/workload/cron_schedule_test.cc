#include "kube/workload/cron_schedule.h"

#include <gtest/gtest.h>

#include <string>

namespace keelson::kube::workload {
namespace {

std::string Complaint(std::string_view schedule) {
  auto result = CheckCronSchedule(schedule);
  return result ? "" : result.error().message;
}

TEST(CronSchedule, ReadsWhatCronReads) {
  for (std::string_view schedule :
       {"* * * * *", "*/15 8-18 * * mon-fri", "0 0 1,15 JAN-dec ?", "5/10 * * * 0", " 1  2 3 4 5 ",
        "@daily", "@hourly", "@every 1h30m", "TZ=UTC 0 0 * * *", "1,2,,3 * * * *"}) {
    EXPECT_EQ(Complaint(schedule), "") << schedule;
  }
}

TEST(CronSchedule, SaysWhatItCannotRead) {
  EXPECT_EQ(Complaint(""), "empty spec string");
  EXPECT_EQ(Complaint("bad"), "expected exactly 5 fields, found 1: [bad]");
  EXPECT_EQ(Complaint("* * * * * *"), "expected exactly 5 fields, found 6: [* * * * * *]");
  EXPECT_EQ(Complaint("60 * * * *"), "end of range (60) above maximum (59): 60");
  EXPECT_EQ(Complaint("* * 0 * *"), "beginning of range (0) below minimum (1): 0");
  EXPECT_EQ(Complaint("9-3 * * * *"), "beginning of range (9) beyond end of range (3): 9-3");
  EXPECT_EQ(Complaint("*/0 * * * *"), "step of range should be a positive number: */0");
  EXPECT_EQ(Complaint("1-2-3 * * * *"), "too many hyphens: 1-2-3");
  EXPECT_EQ(Complaint("1/2/3 * * * *"), "too many slashes: 1/2/3");
  EXPECT_EQ(Complaint("x * * * *"),
            "failed to parse int from x: strconv.Atoi: parsing \"x\": invalid syntax");
  EXPECT_EQ(Complaint("* * * foo *"),
            "failed to parse int from foo: strconv.Atoi: parsing \"foo\": invalid syntax");
  EXPECT_EQ(Complaint("@sometimes"), "unrecognized descriptor: @sometimes");
  EXPECT_EQ(Complaint("@every x"),
            "failed to parse duration @every x: time: invalid duration \"x\"");
  EXPECT_EQ(Complaint("TZ=Mars/Base 0 0 * * *"),
            "provided bad location Mars/Base: unknown time zone Mars/Base");
  EXPECT_EQ(Complaint("TZ=0"),
            "invalid schedule format: runtime error: slice bounds out of range [:-1]");
}

TEST(CronSchedule, KnowsNoZoneOutsideTheDatabase) {
  EXPECT_TRUE(CheckTimeZone("UTC").has_value());
  EXPECT_EQ(CheckTimeZone("Mars/Base").error().message, "unknown time zone Mars/Base");
  EXPECT_EQ(CheckTimeZone("../../../etc/passwd").error().message, "time: invalid location name");
}

}  // namespace
}  // namespace keelson::kube::workload
