#pragma once

// A way between two sockets that a test can cut: takes connections on one port of this machine and
// passes their bytes to another.

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace keelson::kv::testing {

class Relay {
 public:
  explicit Relay(uint16_t to);
  ~Relay();

  uint16_t port() const { return port_; }
  // While cut, bytes go nowhere and connections do not get through; nobody is told.
  void Cut(bool cut) { cut_ = cut; }

 private:
  void Run();

  const uint16_t to_;
  int listener_ = -1;
  uint16_t port_ = 0;
  std::atomic<bool> cut_ = false;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace keelson::kv::testing
