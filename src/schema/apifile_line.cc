#include "schema/apifile_line.h"

namespace keelson::schema::internal {

namespace {

bool IsBlank(char c) { return c == ' ' || c == '\t'; }

// The end of the word that starts at `begin`, or npos when a quote or parenthesis stays open.
size_t WordEnd(std::string_view text, size_t begin) {
  size_t at = begin;
  int open = 0;
  while (at < text.size() && (open > 0 || !IsBlank(text[at]))) {
    if (text[at] == '"') {
      for (++at; at < text.size() && text[at] != '"'; ++at) {
        if (text[at] == '\\') ++at;
      }
      if (at >= text.size()) return std::string_view::npos;
    } else if (text[at] == '(') {
      ++open;
    } else if (text[at] == ')') {
      --open;
    }
    ++at;
  }
  return open == 0 ? at : std::string_view::npos;
}

}  // namespace

std::unexpected<Error> ApiError(std::string_view file_name, SourcePlace place,
                                std::string_view what) {
  return Fail(ErrorCode::kInvalid, "{}:{}:{}: {}", file_name, place.line, place.column, what);
}

Result<Line> SplitLine(std::string_view file_name, uint32_t number, std::string_view text) {
  Line line{.number = number};
  if (text.size() > kMaxApiLineBytes) return ApiError(file_name, {number, 1}, "line is too long");
  line.indented = !text.empty() && IsBlank(text[0]);
  size_t at = 0;
  while (true) {
    while (at < text.size() && IsBlank(text[at])) ++at;
    if (at == text.size() || (line.words.empty() && text[at] == '#')) return line;
    const SourcePlace place{number, static_cast<uint32_t>(at + 1)};
    if (text.substr(at).starts_with("//")) {
      line.description = text.substr(at + 2);
      while (!line.description.empty() && IsBlank(line.description.front()))
        line.description.remove_prefix(1);
      while (!line.description.empty() && IsBlank(line.description.back()))
        line.description.remove_suffix(1);
      if (line.description.empty()) return ApiError(file_name, place, "empty description");
      return line;
    }
    const size_t end = WordEnd(text, at);
    if (end == std::string_view::npos)
      return ApiError(file_name, place, "quote or parenthesis is not closed");
    line.words.push_back({text.substr(at, end - at), place});
    at = end;
  }
}

Result<std::string> Unquote(std::string_view file_name, const Word& word, std::string_view text) {
  if (text.empty() || text[0] != '"') return std::string(text);
  std::string out;
  for (size_t i = 1; i + 1 < text.size(); ++i) {
    char c = text[i];
    if (c == '"') return ApiError(file_name, word.place, "text after the closing quote");
    if (c == '\\') {
      c = text[++i];
      if ((c != '\\' && c != '"') || i + 1 >= text.size())
        return ApiError(file_name, word.place, "only \\\\ and \\\" may be escaped");
    }
    out.push_back(c);
  }
  if (text.size() < 2 || text.back() != '"')
    return ApiError(file_name, word.place, "text after the closing quote");
  return out;
}

}  // namespace keelson::schema::internal
