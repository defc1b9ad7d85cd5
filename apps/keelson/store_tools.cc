#include "store_tools.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "api/catalog.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/gate.h"
#include "encryption/encryption.h"
#include "etcd_options.h"
#include "kube/stored_kinds.h"
#include "kv/copy.h"
#include "kv/etcd/renamed_store.h"
#include "kv/rocksdb/rocksdb_store.h"
#include "kv/rocksdb/store_command.h"
#include "net/io_thread.h"
#include "rest/stored_value.h"
#include "storage/object_record.h"

namespace keelson::app {
namespace {

constexpr std::string_view kPrefix = "/registry";
constexpr std::string_view kEncrypted = "k8s:enc:";

template <typename T>
Task<void> StoreInto(Task<T> task, std::optional<T>& out) {
  out.emplace(co_await std::move(task));
}
template <typename T>
T Wait(Task<T> task) {
  std::optional<T> out;
  Gate gate;
  gate.Spawn(nullptr, StoreInto(std::move(task), out));
  gate.CloseAndWait();
  return *std::move(out);
}

void Tell(std::string_view what, uint64_t done, uint64_t total) {
  const bool terminal = isatty(STDERR_FILENO) != 0;
  static auto last = std::chrono::steady_clock::time_point();
  const auto now = std::chrono::steady_clock::now();
  const auto pause = std::chrono::milliseconds(terminal ? 100 : 5000);
  if (done < total && now - last < pause) return;
  last = now;
  const uint64_t percent = total == 0 ? 100 : std::min<uint64_t>(100, done * 100 / total);
  fmt::print(stderr, "{}{}: {} of {} keys ({}%){}", terminal ? "\r" : "", what, done, total,
             percent, terminal && done < total ? "" : "\n");
  std::fflush(stderr);
}

int Failed(const Error& error) {
  fmt::print(stderr, "error: {}\n", error.message);
  return 1;
}

// What both commands are told about the way to a store and into its values.
struct ToolOptions {
  EtcdOptions etcd;
  std::string encryption_file;

  void AddFlags(flags::FlagSet& flags) {
    flags.String("etcd-prefix", etcd.prefix, "What the keys of all objects in etcd begin with.");
    flags.String("etcd-cafile", etcd.ca_file,
                 "Certificates of the authorities that sign etcd's certificates, in PEM.");
    flags.String("etcd-certfile", etcd.certificate_file,
                 "The certificate to show to etcd, in PEM.");
    flags.String("etcd-keyfile", etcd.key_file, "The key of that certificate, in PEM.");
    flags.String("encryption-provider-config", encryption_file,
                 "The EncryptionConfiguration that the servers use.");
  }
};

bool IsUrl(std::string_view place) { return place.find("://") != std::string_view::npos; }

// A store that is closed with the object.
class OpenPlace {
 public:
  static Result<std::unique_ptr<OpenPlace>> Open(const std::string& place,
                                                 const ToolOptions& options) {
    std::unique_ptr<OpenPlace> self(new OpenPlace);
    if (IsUrl(place)) {
      EtcdOptions etcd = options.etcd;
      TRY(etcd.servers, flags::SplitCsv(place));
      TRY(auto store_options, etcd.StoreOptions());
      TRY(self->pool_, net::IoPool::Create(1));
      TRY(self->store_, kv::OpenEtcdStore(std::move(store_options), *self->pool_, self->clock_));
      if (etcd.prefix != kPrefix) {
        self->store_ = kv::etcd::Rename(std::move(self->store_), std::string(kPrefix) + "/",
                                        etcd.prefix + "/");
      }
      self->etcd_ = true;
    } else {
      std::error_code ignored;  // what fails here fails again, with a message, when it is used
      std::filesystem::create_directories(place, ignored);
      TRY(self->store_,
          kv::OpenRocksDbStore({.directory = place + std::string(kv::kStoreFolder)}, self->clock_));
    }
    return self;
  }
  ~OpenPlace() {
    if (!store_) return;
    Gate gate;
    gate.Spawn(nullptr, store_->Close());
    gate.CloseAndWait();
  }

  kv::Store& store() { return *store_; }
  bool etcd() const { return etcd_; }

 private:
  OpenPlace() = default;

  SystemClock clock_;
  std::unique_ptr<net::IoPool> pool_;
  std::unique_ptr<kv::Store> store_;
  bool etcd_ = false;
};

Result<std::unique_ptr<encryption::Encryption>> OpenEncryption(const ToolOptions& options,
                                                               bool etcd) {
  if (options.encryption_file.empty()) return nullptr;
  TRY(auto text, ReadWholeFile(options.encryption_file));
  return encryption::Encryption::Create(text, etcd ? options.etcd.prefix : std::string(kPrefix));
}

// What a server on the target would have written. Encrypted values are taken as they are: their
// keys go along with the configuration.
Result<Slice> ForTarget(const kube::StoredKinds& kinds, std::string_view key, const Slice& value,
                        bool to_etcd) {
  if (!to_etcd || !storage::ObjectRecord::IsRecord(value.view())) return value;
  return kinds.Convert(key, value, rest::StoredForm::kProtobuf);
}

void Print(const kv::CopyReport& report) {
  for (const auto& [resource, part] : report.parts) {
    fmt::print("{}: {} keys, checksum {:016x}\n", resource, part.keys, part.checksum);
  }
  fmt::print("source revision: {}\ntarget revision: {}\nkeys written: {}\nall keys are the same\n",
             report.source_revision, report.target_revision, report.written);
}

// Rewrites keys one after the other; a key that somebody else writes meanwhile is looked at again.
class Rewriter {
 public:
  Rewriter(kv::Store& store, encryption::Encryption* encryption,
           std::optional<rest::StoredForm> form)
      : store_(store), encryption_(encryption), form_(form), kinds_(api::kCatalog) {}

  Task<Result<uint64_t>> Run() {
    CO_TRY(auto all, co_await store_.Range({.range = Registry(), .count_only = true}));
    uint64_t seen = 0;
    for (kv::KeyRange rest = Registry();;) {
      CO_TRY(auto page, co_await store_.Range({.range = rest, .limit = 500}));
      for (const auto& item : page.items) {
        CO_TRY_VOID(co_await Look(item));
        Tell("rewriting", ++seen, static_cast<uint64_t>(all.count));
      }
      if (!page.more) break;
      rest.start = std::string(page.items.back().key.view()) + '\0';
    }
    co_return rewritten_;
  }

 private:
  static kv::KeyRange Registry() { return kv::KeyRange::Prefix(std::string(kPrefix) + "/"); }

  // What to write instead; nothing when it is as it should be.
  Result<std::optional<Slice>> Better(std::string_view key, const Slice& stored) const {
    const auto* resource = kinds_.ResourceOf(key);
    if (resource == nullptr) return std::nullopt;
    const auto* transformer = encryption_ != nullptr ? encryption_->For(*resource) : nullptr;
    storage::ValueTransformer::Read read{.value = stored};
    if (transformer != nullptr) {
      TRY(read, transformer->FromStorage(key, stored));
    } else if (stored.view().starts_with(kEncrypted)) {
      return Fail(ErrorCode::kInvalid, "{} is encrypted; name --encryption-provider-config", key);
    }
    Slice value = read.value;
    if (form_) {
      TRY(value, kinds_.Convert(key, read.value, *form_));
    }
    if (!read.stale && value.view() == read.value.view()) return std::nullopt;
    if (transformer == nullptr) return value;
    TRY(auto sealed, transformer->ToStorage(key, value));
    return sealed;
  }

  Task<Result<void>> Look(kv::KeyValue item) {
    const std::string key(item.key.view());
    for (;;) {
      CO_TRY(auto better, Better(key, item.value));
      if (!better) co_return Result<void>();
      kv::Transaction transaction;
      transaction.compares.push_back(kv::Compare::ModRevision(key, item.mod_revision));
      transaction.operations.push_back(kv::Operation::Put(key, *std::move(better), item.lease));
      transaction.read_on_failure.push_back(key);
      CO_TRY(auto result, co_await store_.Commit(std::move(transaction)));
      if (result.succeeded) {
        ++rewritten_;
        co_return Result<void>();
      }
      item = result.current.front();
      if (!item.exists()) co_return Result<void>();
    }
  }

  kv::Store& store_;
  encryption::Encryption* const encryption_;
  const std::optional<rest::StoredForm> form_;
  const kube::StoredKinds kinds_;
  uint64_t rewritten_ = 0;
};

Result<uint64_t> Rewrite(const std::string& place, const ToolOptions& options,
                         const std::string& media_type) {
  TRY(auto open, OpenPlace::Open(place, options));
  TRY(auto encryption, OpenEncryption(options, open->etcd()));
  std::optional<rest::StoredForm> form;
  if (!media_type.empty()) {
    TRY(form, rest::ParseStoredForm(media_type));
  }
  Rewriter rewriter(open->store(), encryption.get(), form);
  return Wait(rewriter.Run());
}

}  // namespace

int RunStoreMigrate(std::vector<std::string_view> arguments) {
  std::string from, to;
  bool force = false;
  ToolOptions options;
  flags::FlagSet flags("keelson store migrate");
  flags.String("from", from, "The data folder, or the URLs of the etcd servers, to copy from.");
  flags.String("to", to, "The data folder, or the URLs of the etcd servers, to copy to.");
  flags.Bool("force", force, "Copy into a store that is not empty; what has the same key is lost.");
  options.AddFlags(flags);
  auto rest = flags.Parse(arguments);
  if (!rest) return Failed(rest.error());
  if (flags.help_requested() || from.empty() || to.empty() || !rest->empty()) {
    fmt::print(stderr, "{}", flags.Help("Usage: keelson store migrate --from PLACE --to PLACE"));
    return 2;
  }
  auto source = OpenPlace::Open(from, options);
  if (!source) return Failed(source.error());
  auto target = OpenPlace::Open(to, options);
  if (!target) return Failed(target.error());
  kube::StoredKinds kinds(api::kCatalog);
  kv::CopyOptions copy;
  copy.into_existing = force;
  copy.progress = Tell;
  copy.convert = [&](std::string_view key, const Slice& value) {
    return ForTarget(kinds, key, value, (*target)->etcd());
  };
  auto report = Wait(kv::CopyStore((*source)->store(), (*target)->store(), std::move(copy)));
  if (!report) return Failed(report.error());
  Print(*report);
  return 0;
}

int RunStoreRewrite(std::vector<std::string_view> arguments) {
  std::string data_dir, servers, media_type;
  ToolOptions options;
  flags::FlagSet flags("keelson store rewrite");
  flags.String("data-dir", data_dir, "The data folder of a server that is not running.");
  flags.String("etcd-servers", servers, "The URLs of etcd servers.");
  flags.String("storage-media-type", media_type,
               "The form to write: application/json, application/vnd.kubernetes.protobuf, or empty "
               "to leave forms as they are.");
  options.AddFlags(flags);
  auto rest = flags.Parse(arguments);
  if (!rest) return Failed(rest.error());
  if (flags.help_requested() || data_dir.empty() == servers.empty() || !rest->empty()) {
    fmt::print(stderr, "{}",
               flags.Help("Usage: keelson store rewrite --data-dir DIR | --etcd-servers URLS"));
    return 2;
  }
  auto rewritten = Rewrite(data_dir.empty() ? servers : data_dir, options, media_type);
  if (!rewritten) return Failed(rewritten.error());
  fmt::print("keys rewritten: {}\n", *rewritten);
  return 0;
}

}  // namespace keelson::app
