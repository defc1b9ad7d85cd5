#pragma once

// One line of an API file, cut into words.
//
// Words are separated by blanks; quotes and parentheses hold a word together (pattern="a b",
// map(a,b)). `//` at the start of a word opens the description, which reaches to the end of the
// line; a line whose first word starts with # is a comment.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "schema/apifile.h"

namespace keelson::schema::internal {

struct Word {
  std::string_view text;
  SourcePlace place;
};

struct Line {
  uint32_t number = 0;
  bool indented = false;
  std::vector<Word> words;
  std::string_view description;
};

// What and where, as the one error every function of the parser returns.
std::unexpected<Error> ApiError(std::string_view file_name, SourcePlace place,
                                std::string_view what);

Result<Line> SplitLine(std::string_view file_name, uint32_t number, std::string_view text);

// "a\"b" -> a"b. Words without quotes are returned as they are.
Result<std::string> Unquote(std::string_view file_name, const Word& word, std::string_view text);

}  // namespace keelson::schema::internal
