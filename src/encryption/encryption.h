#pragma once

// Encryption at rest as the configuration file says now: the transformer of every resource, which
// follow when the configuration changes.
//
//   TRY(auto encryption, Encryption::Create(text, "/registry"));
//   options->transformer = encryption->For(resource);

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/result.h"
#include "encryption/configuration.h"
#include "storage/resource.h"

namespace keelson::encryption {

class Encryption {
 public:
  // `root` is what keys begin with in the store in place of /registry; some providers bind a value
  // to its key there. Fails when the configuration is no good.
  static Result<std::unique_ptr<Encryption>> Create(std::string_view text, std::string root);
  ~Encryption();

  // Lives as long as this. Any thread.
  const storage::ValueTransformer* For(const GroupResource& resource);

  // Takes over at once; a configuration that is no good changes nothing. What was written before is
  // read as long as a provider for it is left, and written anew when it is next changed.
  Result<void> Change(std::string_view text);

 private:
  class Transformer;
  Encryption(Configuration configuration, std::string root);

  const std::string root_;
  std::mutex mutex_;
  Configuration configuration_;
  std::map<std::string, std::unique_ptr<Transformer>> transformers_;
};

}  // namespace keelson::encryption
