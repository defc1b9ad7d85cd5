#pragma once

// A client's HTTP/2 connection without its socket, on nghttp2: many calls at a time, flow control
// driven by what readers take, GOAWAY, and pings of a silent peer. Private to the client's sources.

#include <nghttp2/nghttp2.h>

#include <map>
#include <memory>

#include "http/client_session.h"

namespace keelson::http {

class H2ClientSession final : public ClientSession {
 public:
  H2ClientSession(ClientSessionHost& host, const ClientSessionOptions& options);
  ~H2ClientSession() override;

  void Start() override;
  bool CanTake() const override;
  void Begin(std::shared_ptr<ClientCall> call, const ClientRequestHead& head) override;
  void Receive(std::string_view bytes) override;
  void PeerGone(const Error* broken) override;
  void Produce(OutputBatch& batch) override;
  TimePoint OnTime(TimePoint now) override;
  bool WantsBytes() const override { return true; }  // flow control holds bodies back
  bool finished() const override;
  bool idle() const override { return calls_.empty(); }

  void BodyQueued(ClientCall& call) override;
  void Consumed(ClientCall& call, size_t size) override;
  void Abandon(ClientCall& call) override;

 private:
  struct Callbacks;

  ClientCall* Find(int32_t stream);
  void OnField(ClientCall& call, std::string_view name, std::string_view value);
  void OnHeadersEnd(ClientCall& call, bool end_stream);
  void StreamClosed(int32_t stream, uint32_t error_code);
  void BreakAll(const Error& why);

  ClientSessionHost& host_;
  const ClientSessionOptions& options_;
  nghttp2_session* session_ = nullptr;
  std::map<int32_t, std::shared_ptr<ClientCall>> calls_;
  TimePoint last_read_;
  TimePoint ping_sent_ = TimePoint::max();  // max: none is under way
  bool going_away_ = false;
  bool over_ = false;
};

}  // namespace keelson::http
