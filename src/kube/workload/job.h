#pragma once

// What Job and CronJob share. Internal.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/batch_v1.h"
#include "base/result.h"
#include "rest/strategy.h"
#include "schema/field_error.h"
#include "value/path.h"

namespace keelson::kube::workload {

// Everything but the selector, which a job has and a job template has not.
void CheckJobTemplate(const rest::WriteScope& scope, const api::batch_v1::JobSpec& spec,
                      const value::Path& path, schema::FieldErrors& errors);
void WarnAboutJobSpec(const api::batch_v1::JobSpec& spec, const value::Path& path,
                      std::vector<std::string>& warnings);

// How many indexes a list such as "1,3-5,7" holds; each must be below `completions` and above the
// one before. Errors carry upstream's messages.
Result<int32_t> CountIndexes(std::string_view indexes, int32_t completions);
// Fails when the two lists have an index in common. What cannot be read is skipped.
Result<void> CheckDisjointIndexes(std::string_view completed, std::string_view failed,
                                  int32_t completions);

void ValidateJobStatus(const rest::WriteScope& scope, const value::Value& object,
                       const value::Value& old, schema::FieldErrors& errors);
bool IsConditionTrue(const api::batch_v1::Job& job, std::string_view type);

}  // namespace keelson::kube::workload
