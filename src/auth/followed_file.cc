#include "auth/followed_file.h"

#include <sys/stat.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <mutex>
#include <utility>

#include "base/file.h"
#include "base/log.h"

namespace keelson::auth {
namespace {

// What tells two states of a file apart without reading it.
struct Mark {
  ino_t inode = 0;
  off_t size = 0;
  int64_t changed = 0;
  bool operator==(const Mark&) const = default;
};

Mark MarkOf(const std::string& path) {
  struct stat facts{};
  if (::stat(path.c_str(), &facts) != 0) return {};
  return {facts.st_ino, facts.st_size,
          int64_t{facts.st_mtim.tv_sec} * 1'000'000'000 + facts.st_mtim.tv_nsec};
}

}  // namespace

struct FollowedFile::State {
  std::string path;
  Clock& clock;
  Changed changed;

  std::mutex mutex;  // held while a change is handled
  bool stopped = false;
  std::string seen;
  Mark mark;
};

FollowedFile::FollowedFile(std::string path, std::string seen, Clock& clock, Changed changed)
    : state_(new State{.path = std::move(path),
                       .clock = clock,
                       .changed = std::move(changed),
                       .seen = std::move(seen)}) {
  Schedule(state_);
}

FollowedFile::~FollowedFile() {
  std::lock_guard lock(state_->mutex);
  state_->stopped = true;
}

void FollowedFile::Schedule(const std::shared_ptr<State>& state) {
  state->clock.Schedule(state->clock.Now() + kInterval, [weak = std::weak_ptr<State>(state)] {
    auto state = weak.lock();
    if (state == nullptr) return;
    {
      std::lock_guard lock(state->mutex);
      if (state->stopped) return;
      LookAt(*state);
    }
    Schedule(state);
  });
}

void FollowedFile::Look() {
  std::lock_guard lock(state_->mutex);
  LookAt(*state_);
}

void FollowedFile::LookAt(State& state) {
  auto mark = MarkOf(state.path);
  if (mark == state.mark) return;
  state.mark = mark;
  auto text = ReadWholeFile(state.path);
  Result<void> taken;
  if (text) {
    if (*text == state.seen) return;
    state.seen = *text;
    taken = state.changed(*text);
  } else {
    taken = std::unexpected(text.error());
  }
  if (taken) {
    log::InfoS("Reloaded a changed file", {{"path", state.path}});
  } else {
    log::ErrorS("Failed to reload a changed file; what was read before stays in use",
                {{"path", state.path}, {"err", taken.error().message}});
  }
}

}  // namespace keelson::auth
