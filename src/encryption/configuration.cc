#include "encryption/configuration.h"

#include <algorithm>
#include <array>

#include "base/quote.h"
#include "crypto/base64.h"
#include "value/yaml.h"

namespace keelson::encryption {
namespace {

using value::Value;

constexpr std::string_view kApiVersion = "apiserver.config.k8s.io/v1";
constexpr std::string_view kKind = "EncryptionConfiguration";

struct KeyedProvider {
  std::string_view name;
  Provider::Type type;
  std::vector<size_t> sizes;
  std::string_view sizes_text;
};
const std::array<KeyedProvider, 3>& KeyedProviders() {
  static const std::array<KeyedProvider, 3> providers = {{
      {"aesgcm", Provider::Type::kAesGcm, {16, 24, 32}, "[16 24 32]"},
      {"aescbc", Provider::Type::kAesCbc, {16, 24, 32}, "[16 24 32]"},
      {"secretbox", Provider::Type::kSecretBox, {32}, "[32]"},
  }};
  return providers;
}

// "secrets", "deployments.apps", "*.", "*.apps", "*.*".
GroupResource ParseResource(std::string_view text) {
  auto dot = text.find('.');
  if (dot == std::string_view::npos) return {.group = "", .resource = std::string(text)};
  return {.group = std::string(text.substr(dot + 1)), .resource = std::string(text.substr(0, dot))};
}

bool Same(const GroupResource& a, const GroupResource& b) {
  return a.group == b.group && a.resource == b.resource;
}
bool IsEverything(const GroupResource& resource) {
  return resource.group == "*" && resource.resource == "*";
}

std::string_view WhyNotEncrypted(std::string_view text, const GroupResource& resource) {
  if (std::ranges::any_of(text, [](char c) { return c >= 'A' && c <= 'Z'; })) {
    return "resource name should not contain capital letters";
  }
  if (text == "*") {
    return "use '*.' to encrypt all the resources from core API group or *.* to encrypt all "
           "resources";
  }
  if (text == "apiserveripinfo" || text == "serviceipallocations" ||
      text == "servicenodeportallocations") {
    return "resources which do not have REST API/s cannot be encrypted";
  }
  if (resource.group == "events.k8s.io") {
    return "'*.events.k8s.io' objects are stored using the 'events' API group in etcd. Use "
           "'events' instead in the config file";
  }
  if (resource.group == "extensions") {
    return "'extensions' group has been removed and cannot be used for encryption";
  }
  if (resource.group == "*" && resource.resource != "*") {
    return "encrypting the same resource across groups is not supported";
  }
  return "";
}

// Collects upstream's field errors while it reads.
class Reader {
 public:
  Result<Configuration> Read(const Value& root) {
    auto rules = root["resources"].items();
    if (rules.empty()) Required("resources", "at least one resources is required");
    for (size_t i = 0; i < rules.size(); ++i) ReadRule(rules[i], fmt::format("resources[{}]", i));
    if (!errors_.empty()) {
      std::string all =
          errors_.size() == 1 ? errors_[0] : fmt::format("[{}]", fmt::join(errors_, ", "));
      return Fail(ErrorCode::kInvalid, "invalid encryption configuration: {}", all);
    }
    return std::move(configuration_);
  }

 private:
  void Required(std::string_view path, std::string_view why) {
    errors_.push_back(fmt::format("{}: Required value: {}", path, why));
  }
  void Invalid(std::string_view path, std::string_view shown, std::string_view why) {
    errors_.push_back(fmt::format("{}: Invalid value: {}: {}", path, shown, why));
  }

  void ReadRule(const Value& value, const std::string& path) {
    Rule rule;
    const auto resources_path = path + ".resources";
    auto names = value["resources"].items();
    if (names.empty()) {
      Required(resources_path, fmt::format("at least one {} is required", resources_path));
    }
    for (size_t i = 0; i < names.size(); ++i) {
      auto text = names[i].AsString();
      auto resource = ParseResource(text);
      if (auto why = WhyNotEncrypted(text, resource); !why.empty()) {
        Invalid(fmt::format("{}[{}]", resources_path, i), Quote(text), why);
      }
      rule.resources.push_back(std::move(resource));
    }
    CheckOverlap(rule.resources, resources_path);
    CheckMasked(rule.resources, resources_path);
    const auto providers_path = path + ".providers";
    auto providers = value["providers"].items();
    if (providers.empty()) {
      Required(providers_path, fmt::format("at least one {} is required", providers_path));
    }
    for (size_t i = 0; i < providers.size(); ++i) {
      ReadProvider(providers[i], fmt::format("{}[{}]", providers_path, i), rule.providers);
    }
    configuration_.rules.push_back(std::move(rule));
  }

  void CheckOverlap(const std::vector<GroupResource>& resources, const std::string& path) {
    bool twice = false, overlap = false;
    for (size_t i = 0; i < resources.size(); ++i) {
      for (size_t j = 0; j < resources.size(); ++j) {
        if (i == j) continue;
        const auto &a = resources[i], &b = resources[j];
        if (Same(a, b)) {
          twice = true;
        } else if (IsEverything(a) ||
                   (a.group == b.group && (a.resource == "*" || b.resource == "*"))) {
          overlap = true;
        }
      }
    }
    std::vector<std::string> names;
    for (const auto& resource : resources) names.push_back(Quote(resource.ToString()));
    const auto shown = fmt::format("[{}]", fmt::join(names, ","));
    if (twice) Invalid(path, shown, "the same resource cannot be specified multiple times");
    if (overlap) {
      Invalid(path, shown,
              "using overlapping resources such as 'secrets' and '*.' in the same resource list is "
              "not allowed as they will be masked");
    }
  }

  // A rule for a whole group hides what later ones say about its resources.
  void CheckMasked(const std::vector<GroupResource>& resources, const std::string& path) {
    for (const auto& rule : configuration_.rules) {
      for (const auto& earlier : rule.resources) {
        if (earlier.resource != "*") continue;
        for (const auto& resource : resources) {
          if (!IsEverything(earlier) && earlier.group != resource.group) continue;
          errors_.push_back(
              fmt::format("{}: resource \"{}.{}\" is masked by earlier rule \"{}.{}\"", path,
                          resource.resource, resource.group, earlier.resource, earlier.group));
        }
      }
    }
  }

  void ReadProvider(const Value& value, const std::string& path, std::vector<Provider>& out) {
    int found = 0;
    for (auto name : {"kms", "aesgcm", "aescbc", "secretbox", "identity"}) {
      found += value.Find(name) != nullptr ? 1 : 0;
    }
    if (found == 0) {
      return Invalid(path, "{}",
                     "provider does not contain any of the expected providers: KMS, AESGCM, "
                     "AESCBC, Secretbox, Identity");
    }
    if (found > 1) {
      return Invalid(path, "{...}",
                     "more than one provider specified in a single element, should split into "
                     "different list elements");
    }
    if (value.Find("kms") != nullptr) {
      return Invalid(path + ".kms", "{...}", "KMS providers are not supported by this server");
    }
    for (const auto& known : KeyedProviders()) {
      if (value.Find(known.name) == nullptr) continue;
      Provider provider{.type = known.type, .keys = {}};
      ReadKeys(value[known.name]["keys"], fmt::format("{}.{}.keys", path, known.name), known,
               provider);
      out.push_back(std::move(provider));
      return;
    }
    out.push_back({});
  }

  void ReadKeys(const Value& value, const std::string& path, const KeyedProvider& known,
                Provider& provider) {
    auto keys = value.items();
    if (keys.empty()) return Required(path, "at least one keys is required");
    for (size_t i = 0; i < keys.size(); ++i) {
      const auto at = fmt::format("{}[{}]", path, i);
      const auto name = keys[i]["name"].AsString();
      const auto secret = keys[i]["secret"].AsString();
      if (name.empty()) Required(at + ".name", "name is a mandatory field for a key");
      if (secret.empty()) {
        Required(at + ".secret", "secret is a mandatory field for a key");
        continue;
      }
      auto bytes = crypto::Base64Decode(secret);
      if (!bytes) {
        Invalid(at + ".secret", "\"REDACTED\"", "secrets must be base64 encoded");
      } else if (std::ranges::find(known.sizes, bytes->size()) == known.sizes.end()) {
        Invalid(at + ".secret", "\"REDACTED\"",
                fmt::format("secret is not of the expected length, got {}, expected one of {}",
                            bytes->size(), known.sizes_text));
      } else {
        provider.keys.push_back({std::string(name), *std::move(bytes)});
      }
    }
  }

  Configuration configuration_;
  std::vector<std::string> errors_;
};

}  // namespace

Result<Configuration> Configuration::Parse(std::string_view text) {
  auto document = value::ParseYaml(text);
  if (!document)
    return Fail(ErrorCode::kInvalid, "error decoding encryption provider configuration");
  const auto& root = document->root();
  if (root["kind"].AsString() != kKind || root["apiVersion"].AsString() != kApiVersion) {
    return Fail(ErrorCode::kInvalid,
                "error decoding encryption provider configuration: it is not an {} of {}", kKind,
                kApiVersion);
  }
  return Reader().Read(root);
}

std::vector<Provider> Configuration::ProvidersFor(const GroupResource& resource) const {
  const GroupResource levels[] = {
      resource, {.group = resource.group, .resource = "*"}, {.group = "*", .resource = "*"}};
  for (const auto& level : levels) {
    std::vector<Provider> found;
    for (const auto& rule : rules) {
      if (std::ranges::any_of(rule.resources, [&](const auto& r) { return Same(r, level); })) {
        found.insert(found.end(), rule.providers.begin(), rule.providers.end());
      }
    }
    if (!found.empty()) return found;
  }
  return {};
}

}  // namespace keelson::encryption
