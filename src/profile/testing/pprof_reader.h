#pragma once

// Reads back as much of a profile as the tests want to see.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/task.h"

namespace keelson::profile {

struct ReadMapping {
  std::string file;
  std::string build_id;
};

struct ReadSample {
  std::vector<std::string> stack;  // function names, innermost first
  std::vector<int64_t> values;
  int64_t bytes_label = 0;
};

struct ReadProfile {
  std::vector<std::string> sample_types;  // "cpu/nanoseconds"
  std::vector<ReadSample> samples;
  std::vector<ReadMapping> mappings;
  std::string period_type;
  int64_t period = 0;
  int64_t time_nanos = 0;
  int64_t duration_nanos = 0;
  std::string default_sample_type;

  // The sum of value `index` over samples whose stack has a function containing `name`.
  int64_t Total(size_t index, std::string_view name = {}) const;
};

// Aborts on anything malformed.
ReadProfile ReadPprof(std::string_view gzipped);

// Runs a task to its end from a plain thread.
Result<std::string> Await(Task<Result<std::string>> task);

}  // namespace keelson::profile
