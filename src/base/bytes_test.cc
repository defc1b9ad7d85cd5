#include "base/bytes.h"

#include <gtest/gtest.h>

#include <thread>

namespace keelson {
namespace {

TEST(Slice, SharesBytesAmongCopiesAndParts) {
  Slice part;
  const char* address = nullptr;
  {
    Slice whole = Slice::Copy("hello world");
    address = whole.data();
    part = whole.Sub(6);
  }
  EXPECT_EQ(part.view(), "world");
  EXPECT_EQ(part.data(), address + 6);
}

TEST(Slice, OwnKeepsLongStringsInPlace) {
  std::string text(100, 'x');
  const char* address = text.data();
  Slice slice = Slice::Own(std::move(text));
  EXPECT_EQ(slice.data(), address);
  EXPECT_EQ(slice.size(), 100u);
}

TEST(Slice, OwnKeepsShortStringsValid) {
  Slice copy;
  {
    Slice slice = Slice::Own("ab");
    copy = slice;
  }
  EXPECT_EQ(copy.view(), "ab");
}

TEST(Slice, StaticBytesNeedNoOwner) {
  static constexpr char kText[] = "literal";
  Slice slice = Slice::Static(kText);
  EXPECT_EQ(slice.data(), kText);
}

TEST(Slice, EmptyIsHarmless) {
  EXPECT_TRUE(Slice::Copy({}).empty());
  EXPECT_TRUE(Slice().Sub(0, 5).empty());
  EXPECT_EQ(Flatten({}), "");
}

TEST(Slice, MovedFromIsEmpty) {
  Slice from = Slice::Copy("abc");
  Slice to = std::move(from);
  EXPECT_EQ(to.view(), "abc");
  EXPECT_TRUE(from.empty());  // NOLINT(bugprone-use-after-move): the state is specified
}

TEST(Slice, MayBeReleasedFromAnyThread) {
  Slice slice = Slice::Copy("shared");
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([slice] {
      for (int n = 0; n < 1000; ++n) {
        Slice copy = slice;
        EXPECT_EQ(copy.size(), 6u);
      }
    });
  }
  slice = Slice();
  for (auto& thread : threads) thread.join();
}

TEST(Slice, BlockIsKeptByOneWord) {
  const char* begin = nullptr;
  {
    Slice slice = Slice::Make(3, [&](char* out) {
      std::memcpy(out, "abc", 3);
      begin = out;
    });
    Slice::Retain(begin);
  }
  Slice part = Slice::Share(begin, std::string_view(begin + 1, 2));
  Slice::Release(begin);
  EXPECT_EQ(part.view(), "bc");  // the last owner; the address sanitizer watches
}

TEST(Flatten, JoinsInOrder) {
  std::vector<Slice> parts{Slice::Static("a"), Slice::Copy("bc"), Slice(), Slice::Own("d")};
  EXPECT_EQ(TotalSize(parts), 4u);
  EXPECT_EQ(Flatten(parts), "abcd");
}

}  // namespace
}  // namespace keelson
