#include "client/resource_path.h"

namespace keelson::client {
namespace {

void AppendEscaped(std::string& out, std::string_view text) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.' || c == '~';
    if (plain) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += kDigits[byte >> 4];
      out += kDigits[byte & 15];
    }
  }
}

void AppendPart(std::string& out, std::string_view text) {
  if (text.empty()) return;
  out += '/';
  AppendEscaped(out, text);
}

}  // namespace

std::string Resource::Path(std::string_view ns, std::string_view name,
                           std::string_view subresource) const {
  std::string path = group.empty() ? "/api" : "/apis";
  AppendPart(path, group);
  AppendPart(path, version);
  if (namespaced && !ns.empty()) {
    path += "/namespaces";
    AppendPart(path, ns);
  }
  AppendPart(path, plural);
  AppendPart(path, name);
  AppendPart(path, subresource);
  return path;
}

std::string QueryText(const std::vector<std::pair<std::string_view, std::string>>& parameters) {
  std::string text;
  for (const auto& [name, value] : parameters) {
    if (value.empty()) continue;
    text += text.empty() ? '?' : '&';
    text += name;
    text += '=';
    AppendEscaped(text, value);
  }
  return text;
}

}  // namespace keelson::client
