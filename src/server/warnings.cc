#include "server/warnings.h"

#include <algorithm>

#include "base/log.h"

namespace keelson::server {
namespace {

constexpr size_t kTotalLimit = 4 * 1024;
constexpr size_t kItemLimit = 256;

bool StartsCharacter(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

size_t Characters(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), StartsCharacter));
}

std::string_view FirstCharacters(std::string_view text, size_t count) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (StartsCharacter(text[i]) && count-- == 0) return text.substr(0, i);
  }
  return text;
}

// A quoted-string of RFC 7234; characters that no header may hold are dropped.
std::string HeaderOf(std::string_view agent, std::string_view text) {
  std::string out = "299 ";
  out += agent.empty() ? "-" : agent;
  out += " \"";
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) continue;
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

}  // namespace

void Warnings::Add(http::Headers& headers, std::string_view agent, std::string_view text) {
  if (text.empty() || (truncating_ && written_ >= kTotalLimit)) return;
  for (const auto& known : recorded_) {
    if (known.text == text) return;
  }
  recorded_.push_back({std::string(agent), std::string(text)});
  if (truncating_) text = FirstCharacters(text, kItemLimit);
  size_t length = Characters(text);
  if (truncating_ || written_ + length <= kTotalLimit) {
    written_ += length;
    headers.Add("Warning", HeaderOf(agent, text));
    return;
  }
  truncating_ = true;
  written_ = 0;
  headers.Remove("Warning");
  log::ErrorS("exceeded max warning header size, truncating");
  for (const auto& known : recorded_) {
    auto part = FirstCharacters(known.text, kItemLimit);
    written_ += Characters(part);
    headers.Add("Warning", HeaderOf(known.agent, part));
  }
}

}  // namespace keelson::server
