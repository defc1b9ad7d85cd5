#pragma once

// The OpenAPI documents of one server, made when first asked for and kept compressed.
//
// Rendering all of them takes a tenth of a second and megabytes, and most servers are never asked.
// So nothing happens before the first request, everything happens on an executor of its own, and
// what is kept is gzip'd and bounded: hashes of all documents, bytes of those asked for last.
//
// Get and Index may be awaited on any executor. Destroyed after the last of them has finished.

#include <array>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/executor.h"
#include "base/result.h"
#include "base/task.h"
#include "schema/openapi.h"

namespace keelson::server {

// Resources that come and go while the server runs. Any thread.
class OpenApiSupplement {
 public:
  struct Resources {
    std::vector<schema::OpenApiResource> resources;
    std::shared_ptr<const void> owner;  // of what they point to
  };

  virtual ~OpenApiSupplement() = default;
  // Another number whenever Current() tells something else.
  virtual uint64_t version() const = 0;
  virtual Resources Current() const = 0;
};

class OpenApiDocuments {
 public:
  enum class Form : uint8_t { kJson, kProtobuf };

  struct Document {
    Slice body;
    std::string hash;  // of the JSON form, whatever was asked for
    WallTime modified{};
  };

  // The document for everything, in version 2. All other names are of version 3.
  static constexpr std::string_view kVersion2 = "";

  struct Parts {
    schema::OpenApiSource source;
    const OpenApiSupplement* supplement = nullptr;  // more resources; outlives the documents
  };

  // Works on `worker` only and keeps at most `budget` compressed bytes.
  OpenApiDocuments(Parts parts, std::unique_ptr<Executor> worker, const Clock& clock,
                   size_t budget = 2 << 20);
  ~OpenApiDocuments();

  // kNotFound for a name that is not among them. `compressed` asks for gzip.
  Task<Result<Document>> Get(std::string name, Form form, bool compressed);

  // What /openapi/v3 answers.
  Task<Slice> Index();

 private:
  struct Key {
    std::string name;
    Form form;
    auto operator<=>(const Key&) const = default;
  };
  struct Known {  // stays when the bytes are dropped
    std::string hash;
    WallTime modified{};
  };
  struct Kept {
    Slice gzip;
    size_t size = 0;  // uncompressed
    std::list<Key>::iterator place;
  };

  // On the worker.
  void Refresh();
  void Forget(const std::string& name);
  Result<Document> Make(const std::string& name, Form form, bool compressed);
  Slice MakeIndex();
  Result<std::string> Render(const std::string& name) const;
  const Known& Learn(const std::string& name, std::string_view json);
  const Kept& Keep(const Key& key, std::string_view bytes);
  const Kept* Find(const Key& key);

  schema::OpenApiSource source_;
  const size_t fixed_resources_;  // of the source; what follows is the supplement's
  const OpenApiSupplement* const supplement_;
  uint64_t supplement_version_ = 0;
  std::shared_ptr<const void> supplement_owner_;
  const Clock& clock_;
  const size_t budget_;

  std::map<std::string, Known, std::less<>> known_;
  std::map<Key, Kept> kept_;
  std::list<Key> recent_;  // last used first
  size_t kept_bytes_ = 0;

  std::unique_ptr<Executor> worker_;  // last, so that it ends before what it uses
};

}  // namespace keelson::server
