#pragma once

// Admission: the last word on a write, after the writer has been let in and before it is stored.
//
// A Chain asks its plugins in the order they were given: first all that change the object, then,
// when the object is complete and valid, all that only judge it. The first refusal ends the
// request. Plugins are immutable, shared by all io threads, and may wait for other objects or
// outside servers. In-process plugins of the built-in API live above (kube/admission).

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "auth/user.h"
#include "base/status.h"
#include "base/task.h"
#include "schema/resource.h"
#include "value/document.h"
#include "value/value.h"

namespace keelson::admission {

enum class Operation : uint8_t { kCreate, kUpdate, kDelete, kConnect };

// "CREATE", as webhooks and policies spell it.
std::string_view OperationName(Operation operation);

// Takes the sentences that become Warning headers.
class Warner {
 public:
  virtual ~Warner() = default;
  virtual void Warn(std::string_view text) = 0;
};

// A write as plugins see it. Everything outlives the call it is passed to.
struct Request {
  Operation operation = Operation::kCreate;
  schema::GroupVersionKind kind;               // of `object`
  std::string_view resource;                   // plural; group and version are those of `info`
  const schema::ResourceInfo* info = nullptr;  // what the URL names
  std::string_view subresource;
  std::string_view ns;    // for namespaces themselves: their name
  std::string_view name;  // empty when the server is still to make one up
  const auth::User* user = nullptr;
  bool dry_run = false;
  const schema::Type* type = nullptr;  // of `object`
  value::Value object;                 // null for deletes
  value::Value old_object;             // null for creates
  value::Value options;                // CreateOptions and the like, as JSON would hold them
  Warner* warnings = nullptr;

  bool IsFor(std::string_view group, std::string_view plural) const {
    return info->group == group && resource == plural;
  }
};

class Plugin {
 public:
  virtual ~Plugin() = default;

  // As --enable-admission-plugins names it.
  virtual std::string_view name() const = 0;
  // Whether it has anything to say about the request; asked before everything else, so that most
  // plugins cost most requests nothing.
  virtual bool Handles(const Request& request) const = 0;

  // Plugins that change objects override this. `object` is the root, to be edited in place;
  // request.object shows it as it was before this plugin.
  virtual bool mutates() const { return false; }
  virtual Task<ApiResult<void>> Mutate(const Request& request, value::Ref object) const;
  // Plugins that judge override this.
  virtual bool validates() const { return false; }
  virtual Task<ApiResult<void>> Validate(const Request& request) const;
};

class Chain {
 public:
  Chain() = default;
  explicit Chain(std::vector<std::unique_ptr<const Plugin>> plugins);

  // Whether somebody would want to change the object. Cheap; saves a copy when nobody does.
  bool WantsToMutate(const Request& request) const;
  bool WantsToValidate(const Request& request) const;
  // `request.object` follows the edits. Only when WantsToMutate.
  Task<ApiResult<void>> Mutate(Request& request, value::Ref object) const;
  Task<ApiResult<void>> Validate(const Request& request) const;

  std::span<const std::unique_ptr<const Plugin>> plugins() const { return plugins_; }

 private:
  std::vector<std::unique_ptr<const Plugin>> plugins_;
};

}  // namespace keelson::admission
