#include "server/openapi_documents.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "base/completion.h"
#include "server/compression.h"

namespace keelson::server {
namespace {

// Documents are read far more often than made, and shrink to a tenth.
constexpr int kLevel = 6;

}  // namespace

OpenApiDocuments::OpenApiDocuments(Parts parts, std::unique_ptr<Executor> worker,
                                   const Clock& clock, size_t budget)
    : source_(std::move(parts.source)),
      fixed_resources_(source_.resources.size()),
      supplement_(parts.supplement),
      clock_(clock),
      budget_(budget),
      worker_(std::move(worker)) {
  for (auto& name : schema::OpenApiV3Names(source_)) known_[std::move(name)];
  known_[std::string(kVersion2)];
}

OpenApiDocuments::~OpenApiDocuments() = default;

// Documents of group-versions that only the catalog has stay as they are.
void OpenApiDocuments::Refresh() {
  if (supplement_ == nullptr || supplement_version_ == supplement_->version()) return;
  supplement_version_ = supplement_->version();
  const auto names_of_supplement = [this] {
    std::set<std::string> names;
    for (size_t i = fixed_resources_; i < source_.resources.size(); ++i) {
      const auto& info = *source_.resources[i].info;
      names.insert(fmt::format("apis/{}", info.group));
      names.insert(fmt::format("apis/{}/{}", info.group, info.version));
    }
    return names;
  };
  auto changed = names_of_supplement();
  auto more = supplement_->Current();
  source_.resources.resize(fixed_resources_);
  std::ranges::move(more.resources, std::back_inserter(source_.resources));
  supplement_owner_ = std::move(more.owner);
  changed.merge(names_of_supplement());
  changed.insert(std::string(kVersion2));
  for (const auto& name : changed) Forget(name);
  for (auto& name : schema::OpenApiV3Names(source_)) known_[std::move(name)];
  known_[std::string(kVersion2)];
}

void OpenApiDocuments::Forget(const std::string& name) {
  known_.erase(name);
  for (auto form : {Form::kJson, Form::kProtobuf}) {
    const auto found = kept_.find({name, form});
    if (found == kept_.end()) continue;
    kept_bytes_ -= found->second.gzip.size();
    recent_.erase(found->second.place);
    kept_.erase(found);
  }
}

Task<Result<OpenApiDocuments::Document>> OpenApiDocuments::Get(std::string name, Form form,
                                                               bool compressed) {
  auto done = Completion<Result<Document>>::Create();
  worker_->Post([this, done, name = std::move(name), form, compressed] {
    done->Set(Make(name, form, compressed));
  });
  co_return co_await Completion<Result<Document>>::Wait(done);
}

Task<Slice> OpenApiDocuments::Index() {
  auto done = Completion<Slice>::Create();
  worker_->Post([this, done] { done->Set(MakeIndex()); });
  co_return co_await Completion<Slice>::Wait(done);
}

Result<OpenApiDocuments::Document> OpenApiDocuments::Make(const std::string& name, Form form,
                                                          bool compressed) {
  Refresh();
  if (!known_.contains(name)) return Fail(ErrorCode::kNotFound, "no OpenAPI document {}", name);
  const Key key{name, form};
  const Kept* kept = Find(key);
  if (kept == nullptr) {
    TRY(auto json, Render(name));
    Learn(name, json);
    if (form == Form::kProtobuf) {
      TRY(auto protobuf, name == kVersion2 ? schema::OpenApiV2ToProtobuf(json)
                                           : schema::OpenApiV3ToProtobuf(json));
      kept = &Keep(key, protobuf);
    } else {
      kept = &Keep(key, json);
    }
  }
  const auto& known = known_.find(name)->second;
  Document document{kept->gzip, known.hash, known.modified};
  if (!compressed) {
    TRY(auto bytes, Gunzip(kept->gzip.view(), kept->size));
    document.body = Slice::Own(std::move(bytes));
  }
  return document;
}

Slice OpenApiDocuments::MakeIndex() {
  Refresh();
  std::vector<schema::OpenApiEntry> entries;
  for (const auto& [name, known] : known_) {
    if (name == kVersion2) continue;
    if (known.hash.empty()) {
      auto json = Render(name);
      KEELSON_CHECK(json.has_value());
      Learn(name, *json);
      Keep({name, Form::kJson}, *json);  // whoever reads the index goes on to the documents
    }
    entries.push_back({name, known.hash});
  }
  return Slice::Own(schema::RenderOpenApiV3Index(entries));
}

Result<std::string> OpenApiDocuments::Render(const std::string& name) const {
  if (name == kVersion2) return schema::RenderOpenApiV2(source_);
  return schema::RenderOpenApiV3(source_, name);
}

const OpenApiDocuments::Known& OpenApiDocuments::Learn(const std::string& name,
                                                       std::string_view json) {
  auto& known = known_[name];
  if (known.hash.empty()) known = {schema::OpenApiHash(json), clock_.WallNow()};
  return known;
}

const OpenApiDocuments::Kept* OpenApiDocuments::Find(const Key& key) {
  auto found = kept_.find(key);
  if (found == kept_.end()) return nullptr;
  recent_.splice(recent_.begin(), recent_, found->second.place);
  return &found->second;
}

const OpenApiDocuments::Kept& OpenApiDocuments::Keep(const Key& key, std::string_view bytes) {
  if (const Kept* kept = Find(key)) return *kept;
  auto gzip = Gzip(bytes, kLevel);
  gzip.shrink_to_fit();
  kept_bytes_ += gzip.size();
  recent_.push_front(key);
  while (kept_bytes_ > budget_ && recent_.size() > 1) {
    auto oldest = kept_.find(recent_.back());
    kept_bytes_ -= oldest->second.gzip.size();
    kept_.erase(oldest);
    recent_.pop_back();
  }
  return kept_[key] = {Slice::Own(std::move(gzip)), bytes.size(), recent_.begin()};
}

}  // namespace keelson::server
