#pragma once

// Cron schedules: "*/15 8-18 * * mon-fri", @daily, @every 1h30m.
//
// Five fields: minute, hour, day of month, month, day of week. A field is a list of ranges with
// steps; months and days have names. Only whether a schedule can be read is of interest here: the
// controller that follows it runs elsewhere.

#include <string_view>

#include "base/result.h"

namespace keelson::kube::workload {

// Fails with the message that upstream's parser has for it.
Result<void> CheckCronSchedule(std::string_view schedule);

// Fails with upstream's message when no such time zone is known.
Result<void> CheckTimeZone(std::string_view name);

}  // namespace keelson::kube::workload
