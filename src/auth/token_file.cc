#include "auth/token_file.h"

#include <cerrno>
#include <fstream>
#include <iterator>
#include <map>

#include "base/flags.h"
#include "base/log.h"

namespace keelson::auth {
namespace {

std::string Trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) {
    text.remove_suffix(1);
  }
  return std::string(text);
}

}  // namespace

Result<std::shared_ptr<TokenTable>> ParseTokenFile(std::string_view text) {
  std::map<std::string, UserPtr> users;
  for (int number = 1; !text.empty(); ++number) {
    auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    auto record = Trimmed(line);
    if (record.empty()) continue;
    TRY(auto columns, flags::SplitCsv(record));
    if (columns.size() < 3) {
      return Fail(ErrorCode::kInvalid,
                  "token file must have at least 3 columns (token, user name, user uid), found {}",
                  columns.size());
    }
    if (columns[0].empty()) {
      log::Warning("empty token has been found in token file, record number '{}'", number);
      continue;
    }
    auto user = std::make_shared<User>(User{.name = columns[1], .uid = columns[2]});
    if (columns.size() >= 4) {
      TRY(auto groups, flags::SplitCsv(columns[3]));
      user->groups.assign(groups.begin(), groups.end());
    }
    user->groups.emplace_back(kAuthenticatedGroup);
    if (!users.insert_or_assign(columns[0], user).second) {
      log::Warning("duplicate token has been found in token file, record number '{}'", number);
    }
  }
  auto table = std::make_shared<TokenTable>();
  for (auto& [token, user] : users) table->Add(token, std::move(user));
  return table;
}

Result<std::shared_ptr<TokenTable>> ReadTokenFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return FailErrno(errno, "open " + path);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  return ParseTokenFile(text);
}

}  // namespace keelson::auth
