#include "http/h1_syntax.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace keelson::http {
namespace {

constexpr H1Refusal kBadRequest{400, ""};

constexpr std::array<bool, 256> MakeTokenTable() {
  std::array<bool, 256> table{};
  for (char c = '0'; c <= '9'; ++c) table[static_cast<unsigned char>(c)] = true;
  for (char c = 'a'; c <= 'z'; ++c) table[static_cast<unsigned char>(c)] = true;
  for (char c = 'A'; c <= 'Z'; ++c) table[static_cast<unsigned char>(c)] = true;
  for (char c : std::string_view("!#$%&'*+-.^_`|~")) table[static_cast<unsigned char>(c)] = true;
  return table;
}
constexpr auto kToken = MakeTokenTable();

bool IsTokenChar(char c) { return kToken[static_cast<unsigned char>(c)]; }
bool IsValueChar(char c) {
  auto byte = static_cast<unsigned char>(c);
  return byte == '\t' || (byte >= 0x20 && byte != 0x7f);
}
char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

bool EqualIgnoringCase(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return Lower(x) == Lower(y); });
}

std::string_view Trim(std::string_view text) {
  auto space = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && space(text.front())) text.remove_prefix(1);
  while (!text.empty() && space(text.back())) text.remove_suffix(1);
  return text;
}

// 1*DIGIT that fits 63 bits.
std::optional<uint64_t> ParseLength(std::string_view text) {
  if (text.empty() || text.size() > 18) return std::nullopt;
  uint64_t value = 0;
  for (char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + static_cast<uint64_t>(c - '0');
  }
  return value;
}

// A host with optional port: what Go lets through, which is any octet a URI's authority may hold.
bool IsHost(std::string_view host) {
  return std::ranges::all_of(host, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::strchr("!$%&'()*+,-.:;=[]_~", c) != nullptr;
  });
}

// Cuts an absolute form to its origin form and takes the host from it.
std::optional<H1Refusal> SplitTarget(H1RequestHead& head,
                                     std::optional<std::string_view>& authority) {
  auto& target = head.target;
  for (char c : target) {
    auto byte = static_cast<unsigned char>(c);
    if (byte <= 0x20 || byte >= 0x7f) return kBadRequest;
  }
  if (target.empty()) return kBadRequest;
  if (target[0] == '/') return std::nullopt;
  if (target == "*" && head.method == "OPTIONS") return std::nullopt;
  auto scheme = target.find("://");
  if (scheme == std::string_view::npos) return kBadRequest;
  auto name = target.substr(0, scheme);
  if (!EqualIgnoringCase(name, "http") && !EqualIgnoringCase(name, "https")) return kBadRequest;
  target.remove_prefix(scheme + 3);
  auto slash = target.find_first_of("/?");
  authority = target.substr(0, slash);
  if (authority->empty()) return kBadRequest;
  if (slash == std::string_view::npos) {
    target = "/";
  } else if (target[slash] == '/') {
    target.remove_prefix(slash);
  } else {
    return kBadRequest;  // "http://host?query" has no path to serve
  }
  return std::nullopt;
}

std::optional<H1Refusal> ParseRequestLine(std::string_view line, H1RequestHead& head) {
  auto first = line.find(' ');
  auto last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return kBadRequest;
  head.method = line.substr(0, first);
  head.target = line.substr(first + 1, last - first - 1);
  auto version = line.substr(last + 1);
  if (!IsToken(head.method)) return kBadRequest;
  if (version.size() != 8 || !version.starts_with("HTTP/") || version[6] != '.') return kBadRequest;
  auto digit = [](char c) { return c >= '0' && c <= '9'; };
  if (!digit(version[5]) || !digit(version[7])) return kBadRequest;
  if (version[5] != '1' || version[7] > '1') {
    return H1Refusal{505, "unsupported protocol version"};
  }
  head.minor = version[7] - '0';
  return std::nullopt;
}

}  // namespace

bool IsToken(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, IsTokenChar);
}

bool IsFieldValue(std::string_view text) { return std::ranges::all_of(text, IsValueChar); }

bool ListContains(std::string_view list, std::string_view token) {
  while (!list.empty()) {
    auto comma = list.find(',');
    if (EqualIgnoringCase(Trim(list.substr(0, comma)), token)) return true;
    if (comma == std::string_view::npos) break;
    list.remove_prefix(comma + 1);
  }
  return false;
}

size_t FindHeadEnd(std::string_view bytes, size_t& from) {
  if (from == 0 && !bytes.empty() && !IsTokenChar(bytes[0])) return std::string_view::npos;
  while (from < bytes.size()) {
    const void* found = std::memchr(bytes.data() + from, '\n', bytes.size() - from);
    if (found == nullptr) {
      from = bytes.size();
      return 0;
    }
    size_t at = static_cast<size_t>(static_cast<const char*>(found) - bytes.data());
    if (at == 0 || bytes[at - 1] != '\r') return std::string_view::npos;
    from = at + 1;
    if (at >= 3 && bytes[at - 2] == '\n') return at + 1;
  }
  return 0;
}

std::optional<H1Refusal> ParseFields(char* begin, char* end, Headers& headers) {
  size_t count = 0;
  while (begin < end) {
    char* cr = static_cast<char*>(std::memchr(begin, '\r', static_cast<size_t>(end - begin)));
    if (cr == nullptr || cr + 1 >= end || cr[1] != '\n') return kBadRequest;  // bare CR
    char* colon = begin;
    while (colon < cr && IsTokenChar(*colon)) {
      *colon = Lower(*colon);
      ++colon;
    }
    // White space here is a folded line or a name with a space: both are traps.
    if (colon == begin || colon == cr || *colon != ':') return kBadRequest;
    std::string_view value = Trim({colon + 1, static_cast<size_t>(cr - colon - 1)});
    if (!IsFieldValue(value)) return kBadRequest;
    if (++count > kMaxHeaderFields) return H1Refusal{431, ""};
    headers.AddView({begin, static_cast<size_t>(colon - begin)}, value);
    begin = cr + 2;
  }
  return std::nullopt;
}

std::optional<H1Refusal> ReadFraming(const Headers& headers, int minor, H1Framing& framing) {
  bool coded = false;
  for (const auto& [name, value] : headers.fields()) {
    if (name == "content-length") {
      if (framing.content_length) return kBadRequest;
      framing.content_length = ParseLength(value);
      if (!framing.content_length) return kBadRequest;
    } else if (name == "transfer-encoding") {
      if (coded || minor == 0) return kBadRequest;
      coded = true;
      if (!EqualIgnoringCase(value, "chunked")) {
        return H1Refusal{501, "Unsupported transfer encoding"};
      }
      framing.chunked = true;
    } else if (name == "connection") {
      framing.close |= ListContains(value, "close");
      framing.keep_alive |= ListContains(value, "keep-alive");
      framing.upgrade |= ListContains(value, "upgrade");
    }
  }
  if (coded && framing.content_length) return kBadRequest;
  return std::nullopt;
}

std::optional<H1Refusal> ParseRequestHead(char* bytes, size_t size, H1RequestHead& head,
                                          Headers& headers) {
  char* line_end = static_cast<char*>(std::memchr(bytes, '\n', size));
  if (line_end == nullptr || size < 4) return kBadRequest;
  std::string_view line(bytes, static_cast<size_t>(line_end - bytes - 1));
  if (auto refusal = ParseRequestLine(line, head)) return refusal;
  std::optional<std::string_view> authority;
  if (auto refusal = SplitTarget(head, authority)) return refusal;
  if (auto refusal = ParseFields(line_end + 1, bytes + size - 2, headers)) return refusal;
  if (auto refusal = ReadFraming(headers, head.minor, head.framing)) return refusal;

  size_t hosts = 0;
  for (const auto& [name, value] : headers.fields()) {
    if (name == "host") {
      ++hosts;
      head.host = value;
    } else if (name == "expect") {
      if (!EqualIgnoringCase(value, "100-continue")) return H1Refusal{417, ""};
      head.expect_continue = head.minor >= 1;
    }
  }
  if (hosts == 0 && head.minor >= 1) return H1Refusal{400, "missing required Host header"};
  if (hosts > 1) return H1Refusal{400, "too many Host headers"};
  if (authority) head.host = *authority;
  if (!IsHost(head.host)) return H1Refusal{400, "malformed Host header"};
  return std::nullopt;
}

std::string_view ChunkDecoder::Next(std::string_view& input) {
  while (!input.empty() && state_ != State::kDone && state_ != State::kFailed) {
    if (state_ == State::kData) {
      auto data = input.substr(0, static_cast<size_t>(std::min<uint64_t>(left_, input.size())));
      input.remove_prefix(data.size());
      left_ -= data.size();
      overhead_ -= std::min<uint64_t>(overhead_, data.size());
      if (left_ == 0) state_ = State::kDataCr;
      return data;
    }
    Step(input.front());
    input.remove_prefix(1);
  }
  return {};
}

void ChunkDecoder::Step(char c) {
  auto expect = [&](char wanted, State next) { state_ = c == wanted ? next : State::kFailed; };
  switch (state_) {
    case State::kSize:
      return StepSize(c);
    case State::kExtension: {
      constexpr uint64_t kMaxOverhead = 16 * 1024;
      if (c == '\r') {
        state_ = State::kSizeLf;
      } else if (!IsValueChar(c) || ++overhead_ > kMaxOverhead) {
        state_ = State::kFailed;
      }
      return;
    }
    case State::kSizeLf:
      digits_ = 0;
      return expect('\n', left_ == 0 ? State::kTrailerStart : State::kData);
    case State::kDataCr:
      return expect('\r', State::kDataLf);
    case State::kDataLf:
      return expect('\n', State::kSize);
    case State::kEndLf:
      return expect('\n', State::kDone);
    default:
      return StepTrailer(c);
  }
}

void ChunkDecoder::StepSize(char c) {
  int digit = c >= '0' && c <= '9'   ? c - '0'
              : c >= 'a' && c <= 'f' ? c - 'a' + 10
              : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                     : -1;
  constexpr uint8_t kMaxDigits = 15;  // keeps the size below 2^60
  if (digit >= 0) {
    left_ = left_ * 16 + static_cast<uint64_t>(digit);
    if (++digits_ > kMaxDigits) state_ = State::kFailed;
  } else if (digits_ > 0 && c == ';') {
    state_ = State::kExtension;
  } else if (digits_ > 0 && c == '\r') {
    state_ = State::kSizeLf;
  } else {
    state_ = State::kFailed;
  }
}

void ChunkDecoder::StepTrailer(char c) {
  constexpr uint64_t kMaxTrailers = 16 * 1024;
  if (++overhead_ > 2 * kMaxTrailers) {
    state_ = State::kFailed;
    return;
  }
  switch (state_) {
    case State::kTrailerStart:
      state_ = c == '\r' ? State::kEndLf : IsTokenChar(c) ? State::kTrailerName : State::kFailed;
      return;
    case State::kTrailerName:
      if (c == ':') {
        state_ = State::kTrailerValue;
      } else if (!IsTokenChar(c)) {
        state_ = State::kFailed;
      }
      return;
    case State::kTrailerValue:
      if (c == '\r') {
        state_ = State::kTrailerLf;
      } else if (!IsValueChar(c)) {
        state_ = State::kFailed;
      }
      return;
    case State::kTrailerLf:
      state_ = c == '\n' ? State::kTrailerStart : State::kFailed;
      return;
    default:
      state_ = State::kFailed;
  }
}

}  // namespace keelson::http
