#pragma once

// The static token file: one CSV record per line, token,user,uid[,"group1,group2"].

#include <memory>
#include <string>
#include <string_view>

#include "auth/token.h"
#include "base/result.h"

namespace keelson::auth {

// Fails for a record of fewer than three columns. Empty tokens and repeated ones are logged, the
// last of the latter winning. Everybody in the file is also system:authenticated.
Result<std::shared_ptr<TokenTable>> ParseTokenFile(std::string_view text);
Result<std::shared_ptr<TokenTable>> ReadTokenFile(const std::string& path);

}  // namespace keelson::auth
