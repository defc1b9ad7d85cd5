#pragma once

// The built-in kinds as a store holds them: for tools that look at stored values without serving
// them.

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "base/status.h"
#include "rest/stored_value.h"
#include "schema/resource.h"

namespace keelson::kube {

// What is stored and served by itself. Kinds that live only for one request (reviews, bindings)
// and those that are another version's objects have no store of their own.
bool IsStored(const schema::ResourceInfo& info);

class StoredKinds {
 public:
  explicit StoredKinds(const schema::Catalog& catalog);
  ~StoredKinds();

  // Whether a server could serve what stands under the key: the value decodes, and the object is
  // the one that belongs there. Keys of no built-in kind pass.
  Result<void> Check(std::string_view key, std::string_view value) const;

  // Which resource's objects stand at the key; null for keys of no built-in kind.
  const GroupResource* ResourceOf(std::string_view key) const;

  // The value in another form. As it is when it has that form, or is of no built-in kind.
  Result<Slice> Convert(std::string_view key, const Slice& value, rest::StoredForm form) const;

 private:
  struct Kind;
  const Kind* Find(std::string_view key) const;
  std::map<std::string, std::unique_ptr<Kind>, std::less<>> kinds_;  // by key prefix
};

}  // namespace keelson::kube
