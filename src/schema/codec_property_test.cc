// Laws that hold for any object of any built-in kind. A failure prints the kind and the seed.

#include <gtest/gtest.h>

#include "api/catalog.h"
#include "schema/decode_json.h"
#include "schema/equality.h"
#include "schema/finished_json.h"
#include "schema/protobuf.h"
#include "schema/random_object.h"
#include "schema/transform.h"
#include "value/json.h"

namespace keelson::schema {
namespace {

using value::Document;
using value::ToJson;

constexpr uint64_t kSeeds = 12;

// Calls `law(type, canonical object)` for random objects of every kind.
template <typename Law>
int ForEveryKind(Law law) {
  int objects = 0;
  for (const GroupVersionInfo& version : api::kCatalog.group_versions()) {
    for (const KindInfo& kind : version.kinds) {
      for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
        SCOPED_TRACE(
            fmt::format("{}/{} {} seed {}", version.group, version.version, kind.kind, seed));
        auto arena = value::Arena::Make(16384);
        testing::RandomObject random(*arena, seed * 7919 + objects);
        std::string wild = ToJson(random.Make(*kind.type));
        auto decoded = DecodeJson(*kind.type, wild, {.strict = true});
        if (!decoded) {
          ADD_FAILURE() << decoded.error().message << "\n" << wild;
          return objects;
        }
        EXPECT_TRUE(decoded->strict_errors.empty()) << decoded->strict_errors[0];
        law(*kind.type, decoded->object);
        ++objects;
        if (::testing::Test::HasFailure()) return objects;
      }
    }
  }
  return objects;
}

bool HasProtobuf(const Type& type) { return !type.Has(Type::kNoProtobuf) && type.wire_count > 0; }

TEST(CodecProperty, CanonicalJsonSurvivesDecodingByteForByte) {
  int objects = ForEveryKind([](const Type& type, const Document& object) {
    std::string json = ToJson(object.root());
    auto again = DecodeJson(type, json, {.strict = true});
    ASSERT_TRUE(again.has_value()) << again.error().message;
    EXPECT_EQ(ToJson(again->object.root()), json);
    EXPECT_EQ(again->object.root(), object.root());
  });
  EXPECT_GT(objects, 1500);
}

TEST(CodecProperty, ProtobufIsStableAndKeepsWhatJsonHolds) {
  int checked = 0;
  ForEveryKind([&](const Type& type, const Document& object) {
    if (!HasProtobuf(type)) return;
    ++checked;
    std::string bytes = EncodeProtobufEnvelope(type, object.root());
    auto back = DecodeProtobufEnvelope(type, bytes);
    ASSERT_TRUE(back.has_value()) << back.error().message;
    // Empty lists and maps have no protobuf form; what comes back means the same.
    EXPECT_TRUE(EqualByMeaning(type, back->root(), object.root())) << ToJson(object.root()) << "\n"
                                                                   << ToJson(back->root());
    EXPECT_EQ(EncodeProtobufEnvelope(type, back->root()), bytes);
    std::string json = ToJson(back->root());
    auto again = DecodeJson(type, json);
    ASSERT_TRUE(again.has_value());
    EXPECT_EQ(ToJson(again->object.root()), json);
  });
  EXPECT_GT(checked, 1500);
}

TEST(CodecProperty, FinishedJsonBecomesTheSameProtobuf) {
  ForEveryKind([&](const Type& type, const Document& object) {
    if (!HasProtobuf(type)) return;
    const std::string json = ToJson(object.root());
    auto arena = value::Arena::Make();
    EXPECT_EQ(EncodeProtobuf(type, ReadFinishedJson(type, json, *arena)),
              EncodeProtobuf(type, object.root()))
        << json;
  });
}

TEST(CodecProperty, DefaultingAndNormalisingAreIdempotent) {
  ForEveryKind([](const Type& type, const Document& object) {
    Document normal = object;
    Normalize(type, normal);
    EXPECT_EQ(ToJson(normal.root()), ToJson(object.root()));
    Document once = object;
    ApplyDefaults(type, once);
    Document twice = once;
    ApplyDefaults(type, twice);
    EXPECT_EQ(twice.root().members().data(), once.root().members().data());
    Document normal_once = once;
    Normalize(type, normal_once);
    EXPECT_EQ(ToJson(normal_once.root()), ToJson(once.root()));
  });
}

TEST(CodecProperty, PruningATypedObjectChangesNothing) {
  ForEveryKind([](const Type& type, const Document& object) {
    Document pruned = object;
    std::vector<std::string> unknown;
    Prune(type, pruned, &unknown);
    EXPECT_TRUE(unknown.empty());
    EXPECT_EQ(pruned.root().members().data(), object.root().members().data());
  });
}

TEST(CodecProperty, ObjectsEqualThemselvesByMeaning) {
  ForEveryKind([](const Type& type, const Document& object) {
    Document copy = value::DeepCopy(object.root());
    EXPECT_TRUE(EqualByMeaning(type, object.root(), copy.root()));
  });
}

}  // namespace
}  // namespace keelson::schema
