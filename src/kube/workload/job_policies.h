#pragma once

// podFailurePolicy and successPolicy of a job, which must be set. Internal.

#include "kube/workload/job.h"

namespace keelson::kube::workload {

void CheckPodFailurePolicy(const api::batch_v1::JobSpec& spec, const value::Path& path,
                           schema::FieldErrors& errors);
void CheckSuccessPolicy(const api::batch_v1::JobSpec& spec, const value::Path& path,
                        schema::FieldErrors& errors);

}  // namespace keelson::kube::workload
