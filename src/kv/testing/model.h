#pragma once

// Random histories against a model so plain that it is plainly right: a full copy of the map per
// revision.
//
// A seed determines the operations: transactions with right and wrong compares, some by callers
// who have seen the keys before, gets, ranges with
// limits at any revision, watches from any revision read at any pace, compactions, leases, and
// restarts of backends that keep what they are given. A failure names its seed; KEELSON_SEED runs
// that one alone, KEELSON_SEEDS sets how many are run.

#include <cstdint>

#include "kv/testing/conformance.h"

namespace keelson::kv::testing {

// How many seeds to run: `standard`, or what the environment says.
uint64_t FirstSeed();
uint64_t SeedCount(uint64_t standard);

// One history on a fresh backend. Reports through Google Test.
void RunModel(const BackendParam& backend, uint64_t seed);

}  // namespace keelson::kv::testing
