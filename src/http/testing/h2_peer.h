#pragma once

// A server of HTTP/2 in clear text whose every frame is up to the test: answers before, while and
// after a request arrives, trailers, resets, silence. Runs on a thread of its own.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace keelson::http::testing {

class H2Peer {
 public:
  using Fields = std::vector<std::pair<std::string, std::string>>;

  // One request and what is said to it. Used inside the handler only.
  class Stream {
   public:
    std::string path;
    std::map<std::string, std::string> headers;
    std::string body;  // what has come and was not taken by the handler
    bool ended = false;

    void Head(const std::string& status, Fields fields = {});
    void Data(std::string bytes) { out_ += bytes; }
    // Ends the answer, behind all data.
    void Trailers(Fields fields);
    // Head and end in one.
    void HeadOnly(Fields fields);
    void Reset(uint32_t code);

   private:
    friend class H2Peer;
    friend struct Connection;
    struct Connection* connection_ = nullptr;
    int32_t id_ = 0;
    std::string out_;
    Fields trailers_;
    bool ends_ = false;
  };
  // Called when a request's head, a piece of its body, or its end has arrived.
  using Handler = std::function<void(Stream&)>;

  // On a port of the kernel's choosing, or on a unix socket.
  explicit H2Peer(Handler handler, std::string unix_path = "");
  ~H2Peer();

  std::string url(std::string_view path = "") const;
  int accepted() const;
  int pings() const;
  // Closes all connections; new ones are accepted.
  void DropConnections();
  // Reads nothing, answers nothing, as if the process were stopped.
  void Freeze(bool frozen);

 private:
  friend struct Connection;
  struct State;
  void Run();
  void Wake();

  std::unique_ptr<State> state_;
  std::thread thread_;
};

}  // namespace keelson::http::testing
