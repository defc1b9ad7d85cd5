// Writing: what is compared, what is tried again, what is not written at all.

#include "storage/object_store.h"

#include <algorithm>

#include "storage/resource_keys.h"

namespace keelson::storage {

// What a change starts from: the cache's idea of the object, or the store's.
struct ObjectStore::Origin {
  ObjectRef object;      // empty when there is none
  bool current = false;  // read from the store, not taken from the cache
  bool stale = false;    // stored in a way it would not be today
  // It was so at this revision, 0 if that is not known; and what stood in the store then, if that
  // is where it comes from.
  Revision seen_at = 0;
  std::optional<kv::KeyValue> stored;
};

namespace {

std::optional<std::string> Violated(const Preconditions& preconditions, const ObjectRef& object) {
  std::string uid(object ? object->uid() : "");
  std::string version = object ? std::to_string(object->revision()) : "";
  if (preconditions.uid && *preconditions.uid != uid) {
    return fmt::format("Precondition failed: UID in precondition: {}, UID in object meta: {}",
                       *preconditions.uid, uid);
  }
  if (preconditions.resource_version && *preconditions.resource_version != version) {
    return fmt::format(
        "Precondition failed: ResourceVersion in precondition: {}, ResourceVersion in object meta: "
        "{}",
        *preconditions.resource_version, version);
  }
  return std::nullopt;
}

class Removal final : public Changer {
 public:
  Task<ApiResult<Change>> Decide(ObjectRef current) override {
    co_return Change{.kind = Change::Kind::kRemove};
  }
};

}  // namespace

ObjectStore::ObjectStore(std::shared_ptr<const ResourceOptions> resource, kv::Store* store,
                         CacheFeed* feed, Clock* clock)
    : resource_(std::move(resource)),
      store_(store),
      feed_(feed),
      cache_(feed->Add(resource_)),
      leases_(store, clock) {
  KEELSON_CHECK(resource_->codec != nullptr);
}

ObjectStore::~ObjectStore() { feed_->Remove(cache_); }

std::string ObjectStore::KeyOf(std::string_view ns, std::string_view name) const {
  return cache_->key_prefix() + RelativeKey(ns, name);
}

ObjectRef ObjectStore::Cached(std::string_view ns, std::string_view name) {
  const auto snapshot = cache_->snapshot();
  if (!snapshot) return {};
  cache_->Touch();
  return ObjectRef::Share(snapshot->objects().Find(RelativeKey(ns, name)));
}

Status ObjectStore::StoreFailure(const Error& error, std::string_view verb) const {
  switch (error.code) {
    case ErrorCode::kTooLarge:
      return RequestEntityTooLargeStatus(error.message);
    case ErrorCode::kUnavailable:
    case ErrorCode::kTimeout:
      // What upstream answers when its store does not, only sooner.
      return TimeoutStatus(
          "request did not complete within requested timeout - context deadline exceeded", 0);
    case ErrorCode::kExhausted:
      return ServiceUnavailableStatus(error.message);
    default:
      return InternalErrorStatus(error.message);
  }
}

Task<ApiResult<ObjectRef>> ObjectStore::Create(ObjectImage image, std::chrono::seconds ttl) {
  if (feed_->budget().exceeded()) {
    co_return std::unexpected(TooManyRequestsStatus(
        fmt::format("the memory budget of {} bytes is used up", feed_->budget().limit()), 1));
  }
  std::string key = KeyOf(image.facts.ns, image.facts.name);
  std::string name(image.facts.name);
  Origin origin{.current = true};
  auto created = co_await Apply(
      std::move(key), origin, {.kind = Change::Kind::kPut, .image = std::move(image), .ttl = ttl});
  if (!created) co_return std::unexpected(std::move(created).error());
  if (!*created) co_return std::unexpected(AlreadyExistsStatus(resource_->resource, name));
  co_return **std::move(created);
}

Task<ApiResult<ObjectRef>> ObjectStore::Delete(std::string ns, std::string name,
                                               Preconditions preconditions) {
  Removal removal;
  co_return co_await Modify(std::move(ns), std::move(name),
                            {.preconditions = std::move(preconditions)}, removal);
}

ApiResult<ObjectStore::Origin> ObjectStore::MakeOrigin(const std::string& key,
                                                       const kv::KeyValue& item, Revision seen_at,
                                                       std::string_view name,
                                                       bool may_create) const {
  Origin origin{.current = true};
  if (!item.exists()) {
    if (!may_create) return std::unexpected(NotFoundStatus(resource_->resource, name));
    return origin;
  }
  auto object = cache_->Decode(key, item.value, item.mod_revision, &origin.stale);
  if (!object) return std::unexpected(InternalErrorStatus(object.error().message));
  origin.object = *std::move(object);
  origin.stored = item;
  origin.seen_at = seen_at;
  return origin;
}

// The store's state that `origin` stands for, as far as it can be told; then the store need not
// read it again in order to replace it. Objects that hang on a lease do not know which, and what
// an encrypted one looked like nobody knows.
std::optional<kv::KeyValue> ObjectStore::StateOf(const std::string& key,
                                                 const Origin& origin) const {
  if (origin.seen_at == 0) return std::nullopt;
  if (origin.stored) return origin.stored;
  const auto lineage = origin.object->lineage();
  if (lineage.created == 0 || lineage.leased || resource_->transformer != nullptr) {
    return std::nullopt;
  }
  auto value = resource_->codec->Restore(*origin.object);
  if (!value) return std::nullopt;
  return kv::KeyValue{.key = Slice::Copy(key),
                      .value = *std::move(value),
                      .create_revision = lineage.created,
                      .mod_revision = origin.object->revision(),
                      .version = lineage.version};
}

Task<ApiResult<ObjectStore::Origin>> ObjectStore::ReadOrigin(std::string key, std::string name,
                                                             bool may_create) {
  auto got = co_await store_->Get(key);
  if (!got) co_return std::unexpected(StoreFailure(got.error(), "update"));
  co_return MakeOrigin(key, got->item.value_or(kv::KeyValue{}), got->revision, name, may_create);
}

// The change is first tried on the cached object, which is nearly always current and saves a read.
// When the attempt fails on it, the failure counts only if the store confirms the state it was
// based on.
Task<ApiResult<ObjectRef>> ObjectStore::Modify(std::string ns, std::string name,
                                               ChangeOptions options, Changer& changer) {
  std::string key = KeyOf(ns, name);
  Origin origin;
  // In this order: the snapshot then shows what was at the position, or something newer.
  const Revision position = feed_->position();
  if (auto snapshot = cache_->snapshot()) {
    origin.object = ObjectRef::Share(snapshot->objects().Find(RelativeKey(ns, name)));
    if (origin.object) origin.seen_at = std::max(position, origin.object->revision());
  }
  if (!origin.object) {
    auto read = co_await ReadOrigin(key, name, options.may_create);
    if (!read) co_return std::unexpected(std::move(read).error());
    origin = *std::move(read);
  }
  for (;;) {
    std::optional<Status> failure;
    Change change;
    if (auto violated = Violated(options.preconditions, origin.object)) {
      failure = ConflictStatus(
          resource_->resource, name,
          fmt::format("StorageError: invalid object, Code: 4, Key: {}, ResourceVersion: 0, "
                      "AdditionalErrorMsg: {}",
                      key, *violated));
    } else {
      auto decided = co_await changer.Decide(origin.object);
      if (decided) {
        change = *std::move(decided);
      } else {
        failure = std::move(decided).error();
      }
    }
    bool unchanged =
        !failure && (change.kind == Change::Kind::kKeep ||
                     (change.kind == Change::Kind::kPut && origin.object && !origin.stale &&
                      origin.object->SameExceptVersion(change.image.json.view())));
    if ((failure || unchanged) && !origin.current) {
      auto read = co_await ReadOrigin(key, name, options.may_create);
      if (!read) co_return std::unexpected(std::move(read).error());
      bool same = read->object && read->object->revision() == origin.object->revision();
      origin = *std::move(read);
      if (!same) continue;
      if (unchanged && origin.stale && change.kind == Change::Kind::kPut) unchanged = false;
    }
    if (change.kind == Change::Kind::kRemove && !origin.object) {
      failure = NotFoundStatus(resource_->resource, name);
    }
    if (failure) co_return std::unexpected(*std::move(failure));
    if (unchanged) co_return origin.object;

    auto applied = co_await Apply(key, origin, std::move(change));
    if (!applied) co_return std::unexpected(std::move(applied).error());
    if (*applied) co_return **std::move(applied);
    if (!origin.object && !options.may_create) {
      co_return std::unexpected(NotFoundStatus(resource_->resource, name));
    }
  }
}

// Writes the change if the object is still the one of `origin`; if not, `origin` becomes what is
// there now and the answer is empty.
Task<ApiResult<std::optional<ObjectRef>>> ObjectStore::Apply(std::string key, Origin& origin,
                                                             Change change) {
  kv::Transaction transaction;
  const Revision expected = origin.object ? origin.object->revision() : 0;
  transaction.compares.push_back(kv::Compare::ModRevision(key, expected));
  transaction.read_on_failure.push_back(key);
  if (auto known = StateOf(key, origin)) {
    transaction.known.push_back(*std::move(known));
    transaction.known_at = origin.seen_at;
  }
  Slice value;
  const bool removes = change.kind == Change::Kind::kRemove;
  if (removes) {
    transaction.operations.push_back(kv::Operation::Delete(key));
  } else {
    auto encoded = resource_->codec->Encode(change.image);
    if (!encoded) co_return std::unexpected(StoreFailure(encoded.error(), "update"));
    value = *std::move(encoded);
    Slice stored = value;
    if (resource_->transformer != nullptr) {
      auto transformed = resource_->transformer->ToStorage(key, value);
      if (!transformed) co_return std::unexpected(InternalErrorStatus(transformed.error().message));
      stored = *std::move(transformed);
    }
    kv::LeaseId lease = 0;
    if (change.ttl.count() > 0) {
      auto leased = co_await leases_.Lease(change.ttl);
      if (!leased) co_return std::unexpected(StoreFailure(leased.error(), "create"));
      lease = *leased;
    }
    transaction.operations.push_back(kv::Operation::Put(key, std::move(stored), lease));
  }
  auto done = co_await store_->Commit(std::move(transaction));
  if (!done)
    co_return std::unexpected(StoreFailure(done.error(), expected == 0 ? "create" : "update"));
  if (!done->succeeded) {
    auto now = MakeOrigin(key, done->current.front(), done->revision, "", true);
    if (!now) co_return std::unexpected(std::move(now).error());
    origin = *std::move(now);
    co_return std::nullopt;
  }
  if (removes) co_return origin.object->AtRevision(done->revision);
  auto object = resource_->codec->Decode(value, done->revision);
  if (!object) co_return std::unexpected(InternalErrorStatus(object.error().message));
  co_return *std::move(object);
}

}  // namespace keelson::storage
