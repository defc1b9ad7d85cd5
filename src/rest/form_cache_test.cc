#include "rest/form_cache.h"

#include <gtest/gtest.h>

namespace keelson::rest {
namespace {

storage::ObjectRef Object(std::string_view name, kv::Revision revision) {
  storage::ObjectImage image;
  image.json = Slice::Copy(R"({"metadata":{"name":")" + std::string(name) + R"("}})");
  image.facts.name = image.json.view().substr(21, name.size());
  image.facts.version_at = static_cast<uint32_t>(22 + name.size());
  return *storage::CachedObject::Create(image, revision);
}

TEST(FormCache, FindsWhatBelongsToTheObjectAndTheForm) {
  FormCache cache(1 << 20);
  const int form = 0;
  const int other = 0;
  const auto object = Object("a", 7);
  EXPECT_FALSE(cache.Find(&form, *object).has_value());
  cache.Keep(&form, *object, Slice::Static("message"));
  EXPECT_EQ(cache.Find(&form, *object)->view(), "message");
  EXPECT_FALSE(cache.Find(&other, *object).has_value());
  EXPECT_FALSE(cache.Find(&form, *Object("a", 8)).has_value());
  // One transaction writes several objects at one revision.
  EXPECT_FALSE(cache.Find(&form, *Object("b", 7)).has_value());
}

TEST(FormCache, StaysWithinItsBudget) {
  FormCache cache(100'000);
  const int form = 0;
  const std::string message(1000, 'm');
  for (kv::Revision revision = 1; revision <= 500; ++revision) {
    cache.Keep(&form, *Object("a", revision), Slice::Copy(message));
    EXPECT_LE(cache.used(), 100'000u);
  }
  EXPECT_TRUE(cache.Find(&form, *Object("a", 500)).has_value());
  EXPECT_FALSE(cache.Find(&form, *Object("a", 1)).has_value());
  // What would take a large part of it is not kept.
  cache.Keep(&form, *Object("a", 501), Slice::Copy(std::string(50'000, 'm')));
  EXPECT_FALSE(cache.Find(&form, *Object("a", 501)).has_value());
}

}  // namespace
}  // namespace keelson::rest
