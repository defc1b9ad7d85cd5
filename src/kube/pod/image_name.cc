#include "kube/pod/image_name.h"

#include <algorithm>

namespace keelson::kube::pod {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool IsAlnum(char c) { return IsDigit(c) || IsLower(c) || IsUpper(c); }
bool IsHex(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f'); }

// Lower-case words joined by one dot, one or two underscores, or dashes.
bool IsComponent(std::string_view text) {
  size_t i = 0;
  for (;;) {
    const size_t start = i;
    while (i < text.size() && (IsLower(text[i]) || IsDigit(text[i]))) ++i;
    if (i == start) return false;
    if (i == text.size()) return true;
    const char separator = text[i];
    size_t length = 0;
    while (i < text.size() && text[i] == separator) ++i, ++length;
    if (separator == '.' ? length > 1 : separator == '_' ? length > 2 : separator != '-') {
      return false;
    }
  }
}

bool EachPart(std::string_view text, char separator, bool (*matches)(std::string_view)) {
  for (;;) {
    const auto at = text.find(separator);
    if (!matches(text.substr(0, at))) return false;
    if (at == std::string_view::npos) return true;
    text.remove_prefix(at + 1);
  }
}

bool IsDomainLabel(std::string_view text) {
  return !text.empty() && IsAlnum(text.front()) && IsAlnum(text.back()) &&
         std::ranges::all_of(text, [](char c) { return IsAlnum(c) || c == '-'; });
}

bool IsDomain(std::string_view text) {
  if (const auto colon = text.rfind(':'); colon != std::string_view::npos && !text.ends_with(']')) {
    const auto port = text.substr(colon + 1);
    if (port.empty() || !std::ranges::all_of(port, IsDigit)) return false;
    text = text.substr(0, colon);
  }
  if (text.starts_with('[') && text.ends_with(']')) {
    const auto inner = text.substr(1, text.size() - 2);
    return !inner.empty() && std::ranges::all_of(inner, [](char c) {
      return IsDigit(c) || c == ':' || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    });
  }
  return EachPart(text, '.', IsDomainLabel);
}

bool IsTag(std::string_view text) {
  constexpr size_t kMaxTag = 128;
  return !text.empty() && text.size() <= kMaxTag && (IsAlnum(text[0]) || text[0] == '_') &&
         std::ranges::all_of(text,
                             [](char c) { return IsAlnum(c) || c == '_' || c == '.' || c == '-'; });
}

bool IsDigest(std::string_view text) {
  struct Algorithm {
    std::string_view prefix;
    size_t digits;
  };
  static constexpr Algorithm kAlgorithms[] = {{"sha256:", 64}, {"sha384:", 96}, {"sha512:", 128}};
  return std::ranges::any_of(kAlgorithms, [&](const Algorithm& algorithm) {
    return text.starts_with(algorithm.prefix) &&
           text.size() == algorithm.prefix.size() + algorithm.digits &&
           std::ranges::all_of(text.substr(algorithm.prefix.size()), IsHex);
  });
}

// Whether the part before the first slash is a registry and not a user of the default one.
bool IsRegistry(std::string_view first) {
  return first.find_first_of(".:") != std::string_view::npos || first == "localhost" ||
         std::ranges::any_of(first, IsUpper);
}

}  // namespace

bool MeansLatest(std::string_view image) {
  constexpr size_t kMaxName = 255;
  if (image.size() == 64 && std::ranges::all_of(image, IsHex)) return false;  // an image's id
  std::string_view domain = "docker.io";
  auto rest = image;
  const auto slash = image.find('/');
  if (slash != std::string_view::npos && IsRegistry(image.substr(0, slash))) {
    domain = image.substr(0, slash);
    rest = image.substr(slash + 1);
  }
  std::string_view digest;
  if (const auto at = rest.find('@'); at != std::string_view::npos) {
    digest = rest.substr(at + 1);
    rest = rest.substr(0, at);
    if (!IsDigest(digest)) return false;
  }
  std::string_view tag;
  if (const auto colon = rest.find(':'); colon != std::string_view::npos) {
    tag = rest.substr(colon + 1);
    rest = rest.substr(0, colon);
    if (!IsTag(tag)) return false;
  }
  if (!IsDomain(domain) || !EachPart(rest, '/', IsComponent)) return false;
  if (domain.size() + 1 + rest.size() > kMaxName) return false;
  return tag == "latest" || (tag.empty() && digest.empty());
}

}  // namespace keelson::kube::pod
