#include "value/path.h"

#include <gtest/gtest.h>

namespace keelson::value {
namespace {

TEST(Path, SpellsAsUpstream) {
  Path root;
  EXPECT_EQ(root.ToString(), "<nil>");
  Path spec = root.Child("spec");
  Path container = spec.Child("containers").Index(0);
  EXPECT_EQ(container.Child("name").ToString(), "spec.containers[0].name");
  EXPECT_EQ(Path("metadata").Child("annotations").Key("a/b").ToString(),
            "metadata.annotations[a/b]");
  EXPECT_EQ(root.Index(2).Child("x").ToString(), "[2].x");
}

TEST(Path, ChainedStepsAreHeldByTheResult) {
  Path spec("spec");
  Path deep = spec.Child("a").Child("b").Index(1).Key("k");
  EXPECT_EQ(deep.ToString(), "spec.a.b[1][k]");
}

}  // namespace
}  // namespace keelson::value
