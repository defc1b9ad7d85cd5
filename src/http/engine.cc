#include "http/engine.h"

#include <algorithm>
#include <cstring>
#include <ctime>
#include <exception>

namespace keelson::http {

OutputBatch::OutputBatch() : arena_(std::make_unique_for_overwrite<char[]>(kArena)) {}

void OutputBatch::Append(std::string_view bytes) {
  if (bytes.empty()) return;
  if (bytes.size() > kArena - used_) return Refer(Slice::Copy(bytes));
  char* at = arena_.get() + used_;
  std::memcpy(at, bytes.data(), bytes.size());
  used_ += bytes.size();
  size_ += bytes.size();
  // Neighbours in the arena are one piece.
  if (!pieces_.empty() && owner_of_.back() < 0) {
    pieces_.back().iov_len += bytes.size();
    return;
  }
  pieces_.push_back({at, bytes.size()});
  owner_of_.push_back(-1);
}

void OutputBatch::Append(Slice slice) {
  if (slice.size() < kCopyBelow) return Append(slice.view());
  Refer(std::move(slice));
}

void OutputBatch::Refer(Slice slice) {
  size_ += slice.size();
  pieces_.push_back({const_cast<char*>(slice.data()), slice.size()});
  owner_of_.push_back(static_cast<int>(owners_.size()));
  owners_.push_back(std::move(slice));
}

std::string OutputBatch::Flat() const {
  std::string flat;
  for (const auto& piece : pieces_) flat.append(static_cast<char*>(piece.iov_base), piece.iov_len);
  return flat;
}

std::deque<Slice> OutputBatch::Rest(size_t sent) const {
  std::deque<Slice> rest;
  for (size_t i = 0; i < pieces_.size(); ++i) {
    size_t skip = std::min(sent, pieces_[i].iov_len);
    sent -= skip;
    if (skip == pieces_[i].iov_len) continue;
    if (owner_of_[i] >= 0) {
      rest.push_back(owners_[static_cast<size_t>(owner_of_[i])].Sub(skip));
    } else {
      rest.push_back(
          Slice::Copy({static_cast<char*>(pieces_[i].iov_base) + skip, pieces_[i].iov_len - skip}));
    }
  }
  return rest;
}

void OutputBatch::Clear() {
  used_ = 0;
  size_ = 0;
  pieces_.clear();
  owners_.clear();
  owner_of_.clear();
}

void RunReady(ReadyList& ready) {
  // What runs may wake more.
  for (size_t i = 0; i < ready.size(); ++i) {
    auto handle = ready[i];
    handle.resume();
  }
  ready.clear();
}

Task<std::string> ServeContained(Handler& handler, Exchange& exchange) {
  std::string failure;
  try {
    co_await handler.Serve(exchange);
  } catch (const std::exception& e) {
    failure = e.what();
    if (failure.empty()) failure = "exception";
  } catch (...) {
    failure = "unknown exception";
  }
  co_return failure;
}

std::string_view HttpDate() {
  struct Cache {
    time_t second = 0;
    char text[32];
    size_t size = 0;
  };
  thread_local Cache cache;
  time_t now = time(nullptr);
  if (now != cache.second) {
    tm broken{};
    gmtime_r(&now, &broken);
    cache.size = strftime(cache.text, sizeof(cache.text), "%a, %d %b %Y %H:%M:%S GMT", &broken);
    cache.second = now;
  }
  return {cache.text, cache.size};
}

bool StatusForbidsBody(int status) { return status < 200 || status == 204 || status == 304; }

std::string_view ReasonPhrase(int status) {
  static constexpr struct {
    int status;
    std::string_view phrase;
  } kPhrases[] = {
      {100, "Continue"},
      {101, "Switching Protocols"},
      {200, "OK"},
      {201, "Created"},
      {202, "Accepted"},
      {204, "No Content"},
      {206, "Partial Content"},
      {301, "Moved Permanently"},
      {302, "Found"},
      {303, "See Other"},
      {304, "Not Modified"},
      {307, "Temporary Redirect"},
      {308, "Permanent Redirect"},
      {400, "Bad Request"},
      {401, "Unauthorized"},
      {403, "Forbidden"},
      {404, "Not Found"},
      {405, "Method Not Allowed"},
      {406, "Not Acceptable"},
      {408, "Request Timeout"},
      {409, "Conflict"},
      {410, "Gone"},
      {411, "Length Required"},
      {412, "Precondition Failed"},
      {413, "Request Entity Too Large"},
      {415, "Unsupported Media Type"},
      {416, "Requested Range Not Satisfiable"},
      {417, "Expectation Failed"},
      {422, "Unprocessable Entity"},
      {426, "Upgrade Required"},
      {429, "Too Many Requests"},
      {431, "Request Header Fields Too Large"},
      {500, "Internal Server Error"},
      {501, "Not Implemented"},
      {502, "Bad Gateway"},
      {503, "Service Unavailable"},
      {504, "Gateway Timeout"},
      {505, "HTTP Version Not Supported"},
      {507, "Insufficient Storage"},
  };
  for (const auto& known : kPhrases) {
    if (known.status == status) return known.phrase;
  }
  return "status code";
}

}  // namespace keelson::http
