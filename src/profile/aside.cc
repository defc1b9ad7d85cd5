#include "profile/aside.h"

#include <system_error>
#include <thread>

#include "base/completion.h"

namespace keelson::profile {

Task<Result<std::string>> RunAside(std::move_only_function<Result<std::string>()> work) {
  using Done = Completion<Result<std::string>>;
  auto done = Done::Create();
  std::thread thread;
  try {
    thread = std::thread([done, work = std::move(work)]() mutable {
      auto result = work();
      work = nullptr;  // gives back what the work held before anybody hears of the result
      done->Set(std::move(result));
    });
  } catch (const std::system_error& error) {
    co_return Fail(ErrorCode::kExhausted, "starting a thread: {}", error.what());
  }
  auto result = co_await Done::Wait(done);
  // A caller without an executor is resumed on the thread itself.
  if (thread.get_id() == std::this_thread::get_id()) {
    thread.detach();
  } else {
    thread.join();
  }
  co_return result;
}

}  // namespace keelson::profile
