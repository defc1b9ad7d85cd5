#include "http/query.h"

#include <algorithm>

namespace keelson::http {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::optional<std::string> Unescape(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_space) {
      out += ' ';
    } else if (text[i] != '%') {
      out += text[i];
    } else {
      if (i + 2 >= text.size()) return std::nullopt;
      int high = HexDigit(text[i + 1]);
      int low = HexDigit(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      out += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  return out;
}

}  // namespace

Query::Query(std::string_view raw) {
  while (!raw.empty()) {
    auto pair = raw.substr(0, raw.find('&'));
    raw.remove_prefix(std::min(raw.size(), pair.size() + 1));
    if (pair.empty() || pair.find(';') != std::string_view::npos) continue;
    auto equals = pair.find('=');
    auto name = Decode(pair.substr(0, equals));
    auto value = Decode(equals == std::string_view::npos ? "" : pair.substr(equals + 1));
    if (name && value) parameters_.push_back({*name, *value});
  }
}

std::optional<std::string_view> Query::Decode(std::string_view text) {
  if (text.find_first_of("%+") == std::string_view::npos) return text;
  auto decoded = Unescape(text, /*plus_is_space=*/true);
  if (!decoded) return std::nullopt;
  return decoded_.emplace_back(*std::move(decoded));
}

std::optional<std::string_view> Query::Get(std::string_view name) const {
  for (const auto& parameter : parameters_) {
    if (parameter.name == name) return parameter.value;
  }
  return std::nullopt;
}

std::vector<std::string_view> Query::GetAll(std::string_view name) const {
  std::vector<std::string_view> values;
  for (const auto& parameter : parameters_) {
    if (parameter.name == name) values.push_back(parameter.value);
  }
  return values;
}

std::optional<std::string> DecodePath(std::string_view path) {
  return Unescape(path, /*plus_is_space=*/false);
}

}  // namespace keelson::http
