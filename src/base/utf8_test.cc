#include "base/utf8.h"

#include <gtest/gtest.h>

namespace keelson {
namespace {

TEST(Utf8, ReadsEachLength) {
  EXPECT_EQ(FirstCharacter("a").code, 'a');
  EXPECT_EQ(FirstCharacter("\u00e9x").code, 0xE9u);
  EXPECT_EQ(FirstCharacter("\u20acx").size, 3u);
  EXPECT_EQ(FirstCharacter("\U0001F600").code, 0x1F600u);
}

TEST(Utf8, RefusesWhatGoRefuses) {
  for (std::string_view text :
       {"\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80",
        "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xe2\x82", "\xc3(", "\xff"}) {
    auto character = FirstCharacter(text);
    EXPECT_FALSE(character.valid);
    EXPECT_EQ(character.size, 1u);
    EXPECT_EQ(character.code, 0xFFFDu);
  }
}

TEST(Utf8, PrintableIsWhatShowsOnAScreen) {
  for (uint32_t code : {0x20u, 0x41u, 0xE9u, 0x20ACu, 0x1F600u, 0xFFFDu}) {
    EXPECT_TRUE(IsPrintable(code)) << code;
  }
  for (uint32_t code : {0x01u, 0x7Fu, 0xA0u, 0xADu, 0x200Bu, 0x2028u, 0xFEFFu, 0xE000u}) {
    EXPECT_FALSE(IsPrintable(code)) << code;
  }
}

}  // namespace
}  // namespace keelson
