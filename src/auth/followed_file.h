#pragma once

// A file that is looked at every few seconds, so that a change of it takes effect without a
// restart.

#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"

namespace keelson::auth {

class FollowedFile {
 public:
  static constexpr Duration kInterval = std::chrono::seconds(2);

  // Called with the new contents, on a thread of the clock; an error means that they are no good
  // and is logged once.
  using Changed = std::function<Result<void>(const std::string& text)>;

  // `seen` is what the caller has read already. The clock outlives it.
  FollowedFile(std::string path, std::string seen, Clock& clock, Changed changed);
  // No call is running or will come after this.
  ~FollowedFile();
  FollowedFile(const FollowedFile&) = delete;
  FollowedFile& operator=(const FollowedFile&) = delete;

  // Looks now.
  void Look();

 private:
  struct State;
  static void Schedule(const std::shared_ptr<State>& state);
  static void LookAt(State& state);

  std::shared_ptr<State> state_;
};

}  // namespace keelson::auth
