#include "rest/discovery.h"

#include <algorithm>
#include <array>

#include "base/status.h"
#include "crypto/digest.h"

namespace keelson::rest {
namespace {

using schema::ResourceInfo;
using schema::Subresource;

constexpr std::array<std::string_view, 8> kVerbNames = {
    "create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"};

// Writes the members of one JSON object or the items of one list, with commas between.
class Writer {
 public:
  Writer(std::string& out, char open, char close) : out_(out), close_(close) { out_ += open; }
  ~Writer() { out_ += close_; }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Makes room for the next item of a list.
  std::string& Item() {
    if (!first_) out_ += ',';
    first_ = false;
    return out_;
  }
  std::string& Key(std::string_view name) {
    Item();
    AppendJsonString(out_, name);
    out_ += ':';
    return out_;
  }
  void Text(std::string_view name, std::string_view value) { AppendJsonString(Key(name), value); }
  void Texts(std::string_view name, std::span<const std::string_view> values) {
    if (values.empty()) return;
    Writer list(Key(name), '[', ']');
    for (auto value : values) AppendJsonString(list.Item(), value);
  }

 private:
  std::string& out_;
  char close_;
  bool first_ = true;
};

void AppendVerbs(std::string& out, schema::VerbSet verbs) {
  Writer list(out, '[', ']');
  for (size_t i = 0; i < kVerbNames.size(); ++i) {
    if (verbs & (1u << i)) AppendJsonString(list.Item(), kVerbNames[i]);
  }
}

std::string GroupVersion(std::string_view group, std::string_view version) {
  std::string text(group);
  if (!text.empty()) text += '/';
  return text += version;
}

void AppendGroupVersion(std::string& out, std::string_view group, std::string_view version) {
  Writer entry(out, '{', '}');
  entry.Text("groupVersion", GroupVersion(group, version));
  entry.Text("version", version);
}

void AppendGroupMembers(Writer& object, const DiscoveryGroup& group) {
  object.Text("name", group.name);
  {
    Writer versions(object.Key("versions"), '[', ']');
    for (const auto& version : group.versions) {
      AppendGroupVersion(versions.Item(), group.name, version.version);
    }
  }
  AppendGroupVersion(object.Key("preferredVersion"), group.name, group.versions.front().version);
}

// A subresource whose body belongs to another group-version says so; all others stay silent.
bool IsForeign(const ResourceInfo& resource, const Subresource& sub) {
  return sub.body.group != resource.group || sub.body.version != resource.version;
}

void AppendResource(std::string& out, const ResourceInfo& resource) {
  Writer object(out, '{', '}');
  object.Text("name", resource.plural);
  object.Text("singularName", resource.singular);
  object.Key("namespaced") += resource.scope == schema::Scope::kNamespaced ? "true" : "false";
  object.Text("kind", resource.kind);
  AppendVerbs(object.Key("verbs"), resource.verbs);
  object.Texts("shortNames", resource.short_names);
  object.Texts("categories", resource.categories);
  if (!resource.storage_version_hash.empty()) {
    object.Text("storageVersionHash", resource.storage_version_hash);
  }
}

void AppendSubresource(std::string& out, const ResourceInfo& resource, const Subresource& sub) {
  Writer object(out, '{', '}');
  object.Text("name", std::string(resource.plural) + "/" + std::string(sub.name));
  object.Text("singularName", "");
  object.Key("namespaced") += resource.scope == schema::Scope::kNamespaced ? "true" : "false";
  if (IsForeign(resource, sub)) {
    object.Text("group", sub.body.group);
    object.Text("version", sub.body.version);
  }
  object.Text("kind", sub.body.kind);
  AppendVerbs(object.Key("verbs"), sub.verbs);
}

void AppendResponseKind(std::string& out, std::string_view group, std::string_view version,
                        std::string_view kind) {
  Writer object(out, '{', '}');
  object.Text("group", group);
  object.Text("version", version);
  object.Text("kind", kind);
}

void AppendAggregatedResource(std::string& out, const ResourceInfo& resource) {
  Writer object(out, '{', '}');
  object.Text("resource", resource.plural);
  AppendResponseKind(object.Key("responseKind"), "", "", resource.kind);
  object.Text("scope", resource.scope == schema::Scope::kNamespaced ? "Namespaced" : "Cluster");
  object.Text("singularResource", resource.singular);
  AppendVerbs(object.Key("verbs"), resource.verbs);
  object.Texts("shortNames", resource.short_names);
  object.Texts("categories", resource.categories);
  if (resource.subresources.empty()) return;
  Writer list(object.Key("subresources"), '[', ']');
  for (const auto& sub : resource.subresources) {
    Writer entry(list.Item(), '{', '}');
    entry.Text("subresource", sub.name);
    bool foreign = IsForeign(resource, sub);
    AppendResponseKind(entry.Key("responseKind"), foreign ? sub.body.group : "",
                       foreign ? sub.body.version : "", sub.body.kind);
    AppendVerbs(entry.Key("verbs"), sub.verbs);
  }
}

void AppendAggregatedGroup(std::string& out, const DiscoveryGroup& group) {
  Writer object(out, '{', '}');
  {
    Writer metadata(object.Key("metadata"), '{', '}');
    if (!group.name.empty()) metadata.Text("name", group.name);
  }
  Writer versions(object.Key("versions"), '[', ']');
  for (const auto& version : group.versions) {
    Writer entry(versions.Item(), '{', '}');
    entry.Text("version", version.version);
    if (!version.resources.empty()) {
      Writer list(entry.Key("resources"), '[', ']');
      for (const auto* resource : version.resources) {
        AppendAggregatedResource(list.Item(), *resource);
      }
    }
    entry.Text("freshness", version.stale ? "Stale" : "Current");
  }
}

std::string UpperHex(std::string_view bytes) {
  std::string hex = crypto::HexEncode(bytes);
  std::ranges::transform(hex, hex.begin(),
                         [](char c) { return c >= 'a' ? static_cast<char>(c - 'a' + 'A') : c; });
  return hex;
}

}  // namespace

std::string RenderApiVersions(const DiscoveryGroup& legacy, std::string_view server_address) {
  std::string out;
  {
    Writer object(out, '{', '}');
    object.Text("kind", "APIVersions");
    {
      Writer versions(object.Key("versions"), '[', ']');
      for (const auto& version : legacy.versions) {
        AppendJsonString(versions.Item(), version.version);
      }
    }
    Writer addresses(object.Key("serverAddressByClientCIDRs"), '[', ']');
    Writer address(addresses.Item(), '{', '}');
    address.Text("clientCIDR", "0.0.0.0/0");
    address.Text("serverAddress", server_address);
  }
  return out;
}

std::string RenderApiGroupList(std::span<const DiscoveryGroup> groups) {
  std::string out;
  {
    Writer object(out, '{', '}');
    object.Text("kind", "APIGroupList");
    object.Text("apiVersion", "v1");
    Writer list(object.Key("groups"), '[', ']');
    for (const auto& group : groups) {
      Writer entry(list.Item(), '{', '}');
      AppendGroupMembers(entry, group);
    }
  }
  return out;
}

std::string RenderApiGroup(const DiscoveryGroup& group) {
  std::string out;
  {
    Writer object(out, '{', '}');
    object.Text("kind", "APIGroup");
    object.Text("apiVersion", "v1");
    AppendGroupMembers(object, group);
  }
  return out;
}

std::string RenderApiResourceList(std::string_view group, const DiscoveryVersion& version) {
  std::string out;
  {
    Writer object(out, '{', '}');
    object.Text("kind", "APIResourceList");
    // The legacy group's list predates apiVersion and never got one.
    if (!group.empty()) object.Text("apiVersion", "v1");
    object.Text("groupVersion", GroupVersion(group, version.version));
    Writer list(object.Key("resources"), '[', ']');
    for (const auto* resource : version.resources) {
      AppendResource(list.Item(), *resource);
      for (const auto& sub : resource->subresources) {
        AppendSubresource(list.Item(), *resource, sub);
      }
    }
  }
  return out;
}

AggregatedDiscovery RenderAggregated(std::span<const DiscoveryGroup> groups) {
  std::string items;
  {
    Writer list(items, '[', ']');
    for (const auto& group : groups) AppendAggregatedGroup(list.Item(), group);
  }
  // The tag covers the document without its kind and apiVersion, as upstream computes it.
  std::string rest = R"("metadata":{},"items":)" + items + "}";
  AggregatedDiscovery discovery;
  discovery.etag = "\"" + UpperHex(crypto::Digest(crypto::Hash::kSha512, "{" + rest)) + "\"";
  discovery.body =
      R"({"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2",)" + rest;
  return discovery;
}

}  // namespace keelson::rest
