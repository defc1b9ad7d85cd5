#include "encryption/encryption.h"

#include <atomic>
#include <utility>

#include "encryption/providers.h"
#include "storage/resource_keys.h"

namespace keelson::encryption {

class Encryption::Transformer final : public storage::ValueTransformer {
 public:
  Transformer(GroupResource resource, const std::string& root)
      : resource_(std::move(resource)), root_(root) {}

  // Null leaves values as they are.
  void Use(std::shared_ptr<const ProviderChain> chain) { chain_.store(std::move(chain)); }
  const GroupResource& resource() const { return resource_; }

  Result<Read> FromStorage(std::string_view key, const Slice& stored) const override {
    auto chain = chain_.load();
    if (!chain) return Read{.value = stored, .stale = false};
    return chain->FromStorage(InStore(key), stored);
  }
  Result<Slice> ToStorage(std::string_view key, const Slice& value) const override {
    auto chain = chain_.load();
    return chain ? chain->ToStorage(InStore(key), value) : value;
  }

 private:
  // The key as it stands in the store, which may have another prefix there.
  std::string InStore(std::string_view key) const {
    return root_ + "/" + std::string(key.substr(storage::kRegistryRoot.size()));
  }

  const GroupResource resource_;
  const std::string& root_;
  std::atomic<std::shared_ptr<const ProviderChain>> chain_;
};

namespace {

std::shared_ptr<const ProviderChain> ChainFor(const Configuration& configuration,
                                              const GroupResource& resource) {
  auto providers = configuration.ProvidersFor(resource);
  return providers.empty() ? nullptr : std::make_shared<const ProviderChain>(providers);
}

}  // namespace

Encryption::Encryption(Configuration configuration, std::string root)
    : root_(std::move(root)), configuration_(std::move(configuration)) {}

Encryption::~Encryption() = default;

Result<std::unique_ptr<Encryption>> Encryption::Create(std::string_view text, std::string root) {
  TRY(auto configuration, Configuration::Parse(text));
  return std::unique_ptr<Encryption>(new Encryption(std::move(configuration), std::move(root)));
}

const storage::ValueTransformer* Encryption::For(const GroupResource& resource) {
  std::lock_guard lock(mutex_);
  auto& slot = transformers_[resource.ToString()];
  if (!slot) {
    slot = std::make_unique<Transformer>(resource, root_);
    slot->Use(ChainFor(configuration_, resource));
  }
  return slot.get();
}

Result<void> Encryption::Change(std::string_view text) {
  TRY(auto configuration, Configuration::Parse(text));
  std::lock_guard lock(mutex_);
  configuration_ = std::move(configuration);
  for (auto& [name, transformer] : transformers_) {
    transformer->Use(ChainFor(configuration_, transformer->resource()));
  }
  return {};
}

}  // namespace keelson::encryption
