// Which operations a resource has, and what they are called.
//
// Names follow upstream: verb, group, version, scope, kind and subresource in one word, for example
// replaceAppsV1NamespacedDeploymentStatus, listCoreV1PodForAllNamespaces,
// connectCoreV1GetNamespacedPodProxyWithPath.

#include <algorithm>

#include "schema/openapi_model.h"

namespace keelson::schema::openapi {

namespace {

std::string Capital(std::string_view text) {
  std::string out(text);
  if (!out.empty() && out[0] >= 'a' && out[0] <= 'z') out[0] = static_cast<char>(out[0] - 32);
  return out;
}

// rbac.authorization.k8s.io -> RbacAuthorization; "" -> Core
std::string GroupWord(std::string_view group) {
  if (group.empty()) return "Core";
  if (group.ends_with(".k8s.io")) group.remove_suffix(7);
  std::string out;
  while (!group.empty()) {
    const size_t cut = group.find_first_of(".-");
    out += Capital(group.substr(0, cut));
    group = cut == std::string_view::npos ? "" : group.substr(cut + 1);
  }
  return out;
}

std::string LowerFirst(std::string text) {
  if (!text.empty() && text[0] >= 'A' && text[0] <= 'Z') text[0] = static_cast<char>(text[0] + 32);
  return text;
}

std::string GroupVersionPath(std::string_view group, std::string_view version) {
  return group.empty() ? fmt::format("/api/{}", version)
                       : fmt::format("/apis/{}/{}", group, version);
}

std::string Meta(std::string_view name) { return std::string(kMetaModel) + std::string(name); }

// Builds the paths of one group-version.
class GroupVersionPaths {
 public:
  GroupVersionPaths(const OpenApiSource& source, std::string_view group, std::string_view version)
      : group_(group), version_(version), word_(GroupWord(group) + Capital(version)) {
    for (const GroupVersionInfo& info : source.catalog->group_versions())
      if (info.file == "meta.v1") meta_ = &info;
  }

  Paths Run(const OpenApiSource& source) {
    root_ = GroupVersionPath(group_, version_);
    Operation list = Make("get", "", "");
    list.id = "get" + word_ + "APIResources";
    list.description = "Lists the resources of this group-version.";
    list.answer = Meta("APIResourceList");
    Put(root_ + "/", std::move(list));
    for (const OpenApiResource& resource : source.resources) {
      if (resource.info->group != group_ || resource.info->version != version_) continue;
      One(resource);
    }
    for (auto& [path, item] : paths_) Share(item);
    return std::move(paths_);
  }

 private:
  Operation Make(std::string_view method, std::string_view action, std::string_view kind) const {
    Operation operation;
    operation.method = method;
    operation.action = action;
    operation.tag = fmt::format("{}_{}", LowerFirst(GroupWord(group_)), version_);
    operation.kind = {group_, version_, kind};
    operation.custom = custom_;
    return operation;
  }

  void Put(std::string path, Operation operation) {
    paths_[std::move(path)].operations.push_back(std::move(operation));
  }

  // The query parameters that an options type stands for: its plain fields.
  void Query(Operation& operation, const Type* options, bool watching = true) const {
    if (!options) return;
    for (const Field& field : options->fields()) {
      if (field.text() == "kind" || field.text() == "apiVersion") continue;
      if (!watching && (field.text() == "watch" || field.text() == "allowWatchBookmarks")) continue;
      const Type& type = field.type->kind == TypeKind::kList ? *field.type->element : *field.type;
      std::string_view name;
      if (type.kind == TypeKind::kString) name = "string";
      if (type.kind == TypeKind::kBool) name = "boolean";
      if (type.kind == TypeKind::kInt32 || type.kind == TypeKind::kInt64) name = "integer";
      if (!name.empty())
        operation.parameters.push_back(
            {std::string(field.text()), name, std::string(field.description()), false});
    }
  }
  void Pretty(Operation& operation) const {
    operation.parameters.push_back({"pretty", "string", "Whether to indent the answer.", false});
  }
  const Type* Options(std::string_view name) const {
    return meta_ ? meta_->FindType(name) : nullptr;
  }

  void PathParameters(Operation& operation, bool namespaced, std::string_view named_kind) const {
    if (namespaced)
      operation.parameters.push_back({"namespace", "string", "Namespace of the object.", true});
    if (!named_kind.empty())
      operation.parameters.push_back(
          {"name", "string", fmt::format("Name of the {}.", named_kind), true});
  }

  void One(const OpenApiResource& resource) {
    const ResourceInfo& info = *resource.info;
    custom_ = !resource.model.empty();
    const bool namespaced = info.scope == Scope::kNamespaced;
    const std::string model =
        resource.model.empty() ? std::string(info.type->info->model) : resource.model;
    const std::string list_model = !resource.model.empty() ? resource.model + "List"
                                   : info.list_type ? std::string(info.list_type->info->model)
                                                    : "";
    const std::string scope = namespaced ? "Namespaced" : "";
    const std::string collection =
        fmt::format("{}{}/{}", root_, namespaced ? "/namespaces/{namespace}" : "", info.plural);
    const std::string object = collection + "/{name}";
    if (info.verbs & kVerbList) {
      List(info, collection, list_model, namespaced,
           "list" + word_ + scope + std::string(info.kind));
      if (namespaced)
        List(info, fmt::format("{}/{}", root_, info.plural), list_model, false,
             fmt::format("list{}{}ForAllNamespaces", word_, info.kind));
    }
    if (info.verbs & kVerbCreate) {
      Operation create = Write(info, "post", "post", "CreateOptions", model, {200, 201, 202});
      create.id = "create" + word_ + scope + std::string(info.kind);
      create.description = fmt::format("Creates a {}.", info.kind);
      PathParameters(create, namespaced, "");
      Put(collection, std::move(create));
    }
    if (info.verbs & kVerbDeleteCollection) DeleteCollection(info, collection, namespaced, scope);
    Object(info, object, model, namespaced, scope, "", info.kind, info.verbs);
    if (info.verbs & kVerbDelete) Delete(info, object, model, namespaced, scope);
    if (info.verbs & kVerbWatch) Watches(info, namespaced, scope);
    for (const Subresource& sub : info.subresources) {
      Sub(resource, sub, object, namespaced, scope);
    }
  }

  void List(const ResourceInfo& info, std::string path, const std::string& model, bool namespaced,
            std::string id) {
    Operation list = Make("get", "list", info.kind);
    list.id = std::move(id);
    list.description = fmt::format("Lists or watches {} objects.", info.kind);
    list.answer = model;
    list.produces = Produces::kWatch;
    Query(list, Options("ListOptions"));
    Pretty(list);
    PathParameters(list, namespaced, "");
    Put(std::move(path), std::move(list));
  }

  Operation Write(const ResourceInfo& info, std::string_view method, std::string_view action,
                  std::string_view options, const std::string& model, std::vector<int> codes) {
    Operation operation = Make(method, action, info.kind);
    operation.answer = model;
    operation.body = action == "patch" ? Meta("Patch") : model;
    operation.codes = std::move(codes);
    Query(operation, Options(options));
    Pretty(operation);
    return operation;
  }

  // Get, replace and patch of an object or one of its subresources.
  void Object(const ResourceInfo& info, const std::string& path, const std::string& model,
              bool namespaced, const std::string& scope, const std::string& suffix,
              std::string_view kind, VerbSet verbs) {
    const std::string name = word_ + scope + std::string(info.kind) + suffix;
    const std::string what = suffix.empty()
                                 ? fmt::format("a {}", info.kind)
                                 : fmt::format("{} of a {}", LowerFirst(suffix), info.kind);
    if (verbs & kVerbGet) {
      Operation get = Make("get", "get", info.kind);
      get.id = "read" + name;
      get.description = "Reads " + what + ".";
      get.answer = model;
      Pretty(get);
      PathParameters(get, namespaced, kind);
      Put(path, std::move(get));
    }
    if (verbs & kVerbUpdate) {
      Operation put = Write(info, "put", "put", "UpdateOptions", model, {200, 201});
      put.id = "replace" + name;
      put.description = "Replaces " + what + ".";
      PathParameters(put, namespaced, kind);
      Put(path, std::move(put));
    }
    if (verbs & kVerbPatch) {
      Operation patch = Write(info, "patch", "patch", "PatchOptions", model, {200, 201});
      patch.id = "patch" + name;
      patch.description = "Changes parts of " + what + ".";
      PathParameters(patch, namespaced, kind);
      Put(path, std::move(patch));
    }
  }

  void Delete(const ResourceInfo& info, const std::string& path, const std::string& model,
              bool namespaced, const std::string& scope) {
    Operation remove = Make("delete", "delete", info.kind);
    remove.id = "delete" + word_ + scope + std::string(info.kind);
    remove.description = fmt::format("Deletes a {}.", info.kind);
    remove.body = Meta("DeleteOptions");
    remove.body_required = false;
    remove.answer = info.returns_deleted ? model : Meta("Status");
    remove.codes = {200, 202};
    Query(remove, Options("DeleteOptions"));
    Pretty(remove);
    PathParameters(remove, namespaced, info.kind);
    Put(path, std::move(remove));
  }

  void DeleteCollection(const ResourceInfo& info, const std::string& path, bool namespaced,
                        const std::string& scope) {
    Operation remove = Make("delete", "deletecollection", info.kind);
    remove.id = "delete" + word_ + "Collection" + scope + std::string(info.kind);
    remove.description = fmt::format("Deletes {} objects.", info.kind);
    remove.body = Meta("DeleteOptions");
    remove.body_required = false;
    remove.answer = Meta("Status");
    Query(remove, Options("DeleteOptions"));
    Query(remove, Options("ListOptions"), false);
    Pretty(remove);
    PathParameters(remove, namespaced, "");
    Put(path, std::move(remove));
  }

  // The old watch paths.
  void Watches(const ResourceInfo& info, bool namespaced, const std::string& scope) {
    const auto watch = [&](std::string path, std::string_view action, std::string id, bool in_one,
                           std::string_view kind) {
      Operation operation = Make("get", action, info.kind);
      operation.id = std::move(id);
      operation.description =
          fmt::format("Watches {} objects; use list with watch instead.", info.kind);
      operation.answer = Meta("WatchEvent");
      operation.produces = Produces::kWatch;
      Query(operation, Options("ListOptions"));
      Pretty(operation);
      PathParameters(operation, in_one, kind);
      Put(std::move(path), std::move(operation));
    };
    const std::string kind(info.kind);
    const std::string base = root_ + "/watch";
    const std::string plural(info.plural);
    if (namespaced) {
      const std::string inside = base + "/namespaces/{namespace}/" + plural;
      watch(base + "/" + plural, "watchlist", "watch" + word_ + kind + "ListForAllNamespaces",
            false, "");
      watch(inside, "watchlist", "watch" + word_ + scope + kind + "List", true, "");
      watch(inside + "/{name}", "watch", "watch" + word_ + scope + kind, true, info.kind);
    } else {
      watch(base + "/" + plural, "watchlist", "watch" + word_ + kind + "List", false, "");
      watch(base + "/" + plural + "/{name}", "watch", "watch" + word_ + kind, false, info.kind);
    }
  }

  void Sub(const OpenApiResource& resource, const Subresource& sub, const std::string& object,
           bool namespaced, const std::string& scope) {
    const ResourceInfo& info = *resource.info;
    const std::string path = fmt::format("{}/{}", object, sub.name);
    const std::string suffix = Capital(sub.name);
    if (sub.verbs & kVerbConnect) {
      Connect(info, sub, path, namespaced, scope, "");
      if (sub.takes_path) Connect(info, sub, path + "/{path}", namespaced, scope, "WithPath");
      return;
    }
    const size_t before = paths_.contains(path) ? paths_[path].operations.size() : 0;
    // The status of a custom resource shows the resource itself.
    const std::string model = sub.options      ? ""
                              : sub.type->info ? std::string(sub.type->info->model)
                                               : resource.model;
    Object(info, path, model, namespaced, scope, suffix, sub.body.kind, sub.verbs);
    if (sub.verbs & kVerbCreate) {
      Operation create = Write(info, "post", "post", "CreateOptions", model, {200, 201, 202});
      create.id = "create" + word_ + scope + std::string(info.kind) + suffix;
      create.description = fmt::format("Creates {} of a {}.", sub.name, info.kind);
      PathParameters(create, namespaced, sub.body.kind);
      Put(path, std::move(create));
    }
    auto& operations = paths_[path].operations;
    for (size_t i = before; i < operations.size(); ++i) {
      operations[i].kind = sub.body;
      if (sub.options) {
        operations[i].produces = Produces::kText;
        Query(operations[i], sub.options);
      }
    }
  }

  void Connect(const ResourceInfo& info, const Subresource& sub, const std::string& path,
               bool namespaced, const std::string& scope, std::string_view tail) {
    static constexpr std::string_view kAll[] = {"get",     "put",  "post", "delete",
                                                "options", "head", "patch"};
    static constexpr std::string_view kStreams[] = {"get", "post"};
    const std::span<const std::string_view> methods =
        sub.takes_path ? std::span<const std::string_view>(kAll) : kStreams;
    for (std::string_view method : methods) {
      Operation connect = Make(method, "connect", info.kind);
      connect.kind = sub.body;
      connect.id = fmt::format("connect{}{}{}{}{}{}", word_, Capital(method), scope, info.kind,
                               Capital(sub.name), tail);
      connect.description = fmt::format("Connects to {} of a {}.", sub.name, info.kind);
      connect.produces = Produces::kAnything;
      PathParameters(connect, namespaced, sub.body.kind);
      if (!tail.empty())
        connect.parameters.push_back({"path", "string", "Path behind the proxy.", true});
      Query(connect, sub.type);
      Put(path, std::move(connect));
    }
  }

  // Parameters that all operations of a path have belong to the path.
  static void Share(PathItem& item) {
    static constexpr std::string_view kOrder[] = {"get",     "put",  "post", "delete",
                                                  "options", "head", "patch"};
    std::ranges::sort(item.operations, {}, [](const Operation& operation) {
      return std::ranges::find(kOrder, operation.method) - std::begin(kOrder);
    });
    for (Operation& operation : item.operations) std::ranges::sort(operation.parameters);
    for (const Parameter& candidate : item.operations[0].parameters) {
      const bool everywhere = std::ranges::all_of(item.operations, [&](const Operation& operation) {
        return std::ranges::find(operation.parameters, candidate) != operation.parameters.end();
      });
      if (everywhere) item.shared.push_back(candidate);
    }
    for (Operation& operation : item.operations)
      std::erase_if(operation.parameters, [&item](const Parameter& parameter) {
        return std::ranges::find(item.shared, parameter) != item.shared.end();
      });
  }

  std::string_view group_;
  std::string_view version_;
  std::string word_;
  bool custom_ = false;  // the resource at hand
  std::string root_;
  const GroupVersionInfo* meta_ = nullptr;
  Paths paths_;
};

Paths Single(std::string path, std::string id, std::string tag, std::string description,
             std::string answer, Produces produces) {
  Operation operation;
  operation.method = "get";
  operation.id = std::move(id);
  operation.tag = std::move(tag);
  operation.description = std::move(description);
  operation.answer = std::move(answer);
  operation.produces = produces;
  Paths paths;
  paths[std::move(path)].operations.push_back(std::move(operation));
  return paths;
}

}  // namespace

Paths DocumentPaths(const OpenApiSource& source, std::string_view name) {
  if (name == ".well-known/openid-configuration")
    return Single("/.well-known/openid-configuration/",
                  "getServiceAccountIssuerOpenIDConfiguration", "WellKnown",
                  "How to verify service account tokens.", "", Produces::kJson);
  if (name == "openid/v1/jwks")
    return Single("/openid/v1/jwks/", "getServiceAccountIssuerOpenIDKeyset", "openid",
                  "Public keys of service account tokens.", "", Produces::kKeySet);
  if (name == "version")
    return Single("/version/", "getCodeVersion", "version", "The version of this server.",
                  "io.k8s.apimachinery.pkg.version.Info", Produces::kJson);
  if (name == "api")
    return Single("/api/", "getCoreAPIVersions", "core", "Versions of the core group.",
                  Meta("APIVersions"), Produces::kObject);
  if (name == "apis")
    return Single("/apis/", "getAPIVersions", "apis", "The API groups.", Meta("APIGroupList"),
                  Produces::kObject);
  // What operations keep a view of is the resource's text, which outlives the document's name.
  const auto served = [&source](std::string_view group,
                                std::string_view version) -> const ResourceInfo* {
    for (const OpenApiResource& resource : source.resources)
      if (resource.info->group == group && (version.empty() || resource.info->version == version))
        return resource.info;
    return nullptr;
  };
  const auto whole = [&source](const ResourceInfo* info) {
    return info ? GroupVersionPaths(source, info->group, info->version).Run(source) : Paths();
  };
  if (name.starts_with("api/")) return whole(served("", name.substr(4)));
  if (!name.starts_with("apis/")) return {};
  name.remove_prefix(5);
  const size_t slash = name.find('/');
  const std::string_view group = name.substr(0, slash);
  if (slash != std::string_view::npos) return whole(served(group, name.substr(slash + 1)));
  if (group.empty() || !served(group, "")) return {};
  return Single(fmt::format("/apis/{}/", group), fmt::format("get{}APIGroup", GroupWord(group)),
                LowerFirst(GroupWord(group)), "This API group.", Meta("APIGroup"),
                Produces::kObject);
}

std::span<const std::string_view> MediaTypes(Produces produces, Version version) {
  static constexpr std::string_view kSorted[] = {
      "application/json", "application/json;stream=watch", "application/vnd.kubernetes.protobuf",
      "application/vnd.kubernetes.protobuf;stream=watch", "application/yaml"};
  static constexpr std::string_view kListed[] = {
      "application/json", "application/yaml", "application/vnd.kubernetes.protobuf",
      "application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch"};
  static constexpr std::string_view kObject[] = {
      "application/json", "application/vnd.kubernetes.protobuf", "application/yaml"};
  static constexpr std::string_view kText[] = {
      "application/json", "application/vnd.kubernetes.protobuf", "application/yaml", "text/plain"};
  static constexpr std::string_view kTextListed[] = {
      "text/plain", "application/json", "application/yaml", "application/vnd.kubernetes.protobuf"};
  static constexpr std::string_view kAnything[] = {"*/*"};
  static constexpr std::string_view kKeySet[] = {"application/jwk-set+json"};
  const bool v3 = version == Version::kV3;
  switch (produces) {
    case Produces::kJson:
      return std::span(kObject).first(1);
    case Produces::kObject:
      return v3 ? std::span<const std::string_view>(kObject) : std::span(kListed).first(3);
    case Produces::kWatch:
      return v3 ? kSorted : kListed;
    case Produces::kText:
      return v3 ? kText : kTextListed;
    case Produces::kAnything:
      return kAnything;
    case Produces::kKeySet:
      return kKeySet;
  }
  return {};
}

std::span<const std::string_view> PatchMediaTypes(Version version, bool custom) {
  static constexpr std::string_view kListed[] = {
      "application/json-patch+json", "application/merge-patch+json",
      "application/strategic-merge-patch+json", "application/apply-patch+yaml"};
  static constexpr std::string_view kSorted[] = {
      "application/apply-patch+yaml", "application/json-patch+json", "application/merge-patch+json",
      "application/strategic-merge-patch+json"};
  static constexpr std::string_view kListedCustom[] = {"application/json-patch+json",
                                                       "application/merge-patch+json",
                                                       "application/apply-patch+yaml"};
  if (version == Version::kV3) return std::span(kSorted).first(custom ? 3 : 4);
  return custom ? std::span<const std::string_view>(kListedCustom) : kListed;
}

std::string_view CodeText(int code) {
  switch (code) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    default:
      return "Unauthorized";
  }
}

}  // namespace keelson::schema::openapi
