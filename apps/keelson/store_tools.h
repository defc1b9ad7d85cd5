#pragma once

// `keelson store migrate` and `keelson store rewrite`: tools that need to know what is stored, on
// either kind of store.

#include <string_view>
#include <vector>

namespace keelson::app {

// migrate --from PLACE --to PLACE: copies everything; a PLACE is a data folder or the URLs of etcd
// servers. Values become what the target's server would write. Neither may be in use.
int RunStoreMigrate(std::vector<std::string_view> arguments);

// rewrite --data-dir DIR | --etcd-servers URLS: writes anew what would be written differently
// today: by an older key, in another form. Servers of an etcd may run meanwhile.
int RunStoreRewrite(std::vector<std::string_view> arguments);

}  // namespace keelson::app
