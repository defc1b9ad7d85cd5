#pragma once

// A part of a store under another name: the keys that begin with `inside` there begin with
// `outside` here. Keys elsewhere are as they are, in both directions. So two clusters can share one
// etcd, each below a prefix of its own, while everything above knows one layout.

#include <memory>
#include <string>

#include "kv/store.h"

namespace keelson::kv::etcd {

// Neither name is a beginning of the other. Closing it closes `store`.
std::unique_ptr<Store> Rename(std::unique_ptr<Store> store, std::string outside,
                              std::string inside);

}  // namespace keelson::kv::etcd
