#include "storage/list_collector.h"

#include "storage/continue_token.h"
#include "storage/resource_keys.h"

namespace keelson::storage {

ListRange::ListRange(const ResourceOptions& resource, const ListOptions& options,
                     std::string start) {
  std::string_view ns = options.ns;
  if (ns.empty() && resource.namespaced) {
    ns = options.fields.RequiredValue("metadata.namespace").value_or("");
  }
  name = options.name.empty() ? options.fields.RequiredValue("metadata.name").value_or("")
                              : std::string_view(options.name);
  if (!options.ns.empty()) prefix = options.ns + "/";
  from = prefix + start;
  if (!ns.empty()) {
    std::string scope = std::string(ns) + "/";
    if (from < scope) from = scope;
    to = kv::KeyRange::Prefix(scope).end;
  }
  // A name in a known place is one key.
  bool one_key = !name.empty() && (!ns.empty() || !resource.namespaced) && start.empty();
  if (one_key) {
    from = RelativeKey(ns, name);
    to = from + '\0';
  }
}

ListResult ListCollector::Finish(const ListRange& range, Revision revision, bool more,
                                 int64_t in_range) && {
  result_.revision = revision;
  if (more && full()) {
    auto last = TreeOrder{}.KeyOf(*result_.objects.back());
    result_.continue_token =
        EncodeContinue(revision, "/" + last.substr(range.prefix.size()) + '\0');
    if (selects_all()) result_.remaining = in_range - limit_;
  }
  return std::move(result_);
}

void ListResult::TakeItems(std::vector<Slice>& out) {
  out.reserve(out.size() + 2 * objects.size());
  for (size_t i = 0; i < objects.size(); ++i) {
    if (i + 8 < objects.size()) __builtin_prefetch(objects[i + 8].get(), 1);
    const auto& object = *objects[i];
    std::string_view separator = object.omits_type() ? ",{" : ",";
    if (i == 0) separator.remove_prefix(1);
    if (!separator.empty()) out.push_back(Slice::Static(separator));
    out.push_back(object.ListItem());
  }
  objects.clear();
}

}  // namespace keelson::storage
