#include "rest/gzip_stream.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <random>

#include "value/pod_sample.h"

namespace keelson::rest {
namespace {

// What zlib makes of it: an independent reading of the format, checksum included.
std::string Inflate(const std::string& compressed) {
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  std::string text;
  std::string part(1 << 16, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(compressed.data()));
  stream.avail_in = static_cast<uInt>(compressed.size());
  int code = Z_OK;
  while (code == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef*>(part.data());
    stream.avail_out = static_cast<uInt>(part.size());
    code = inflate(&stream, Z_NO_FLUSH);
    text.append(part, 0, part.size() - stream.avail_out);
  }
  EXPECT_EQ(code, Z_STREAM_END) << (stream.msg != nullptr ? stream.msg : "");
  EXPECT_EQ(stream.avail_in, 0u);
  inflateEnd(&stream);
  return text;
}

std::string Compress(std::string_view text, size_t piece) {
  GzipStream stream;
  std::string out;
  for (size_t at = 0; at < text.size(); at += piece) stream.Append(text.substr(at, piece), out);
  stream.Finish(out);
  return out;
}

TEST(GzipStream, NothingIsAValidStream) { EXPECT_EQ(Inflate(Compress("", 1)), ""); }

TEST(GzipStream, ComesBackInPiecesOfAnySize) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += std::to_string(i * i) + std::string(value::kPodSample);
  for (size_t piece : {1u, 7u, 4096u, 1u << 20}) {
    const auto compressed = Compress(text, piece);
    EXPECT_EQ(Inflate(compressed), text);
    EXPECT_LT(compressed.size(), text.size() / 15);
  }
}

TEST(GzipStream, ComesBackWhateverTheText) {
  std::mt19937 random(20261116);
  for (int round = 0; round < 60; ++round) {
    const size_t size = size_t{1} << random() % 20;
    const unsigned letters = 1 + random() % 256;
    std::string text;
    while (text.size() < size) {
      // Fresh bytes and repetitions of any length and distance.
      if (text.empty() || random() % 3 == 0) {
        for (size_t n = random() % 50; n > 0; --n) text += static_cast<char>(random() % letters);
      } else {
        const size_t from = text.size() - 1 - random() % std::min<size_t>(text.size(), 40'000);
        for (size_t i = 0, n = random() % 700; i < n; ++i) text += text[from + i];
      }
    }
    ASSERT_EQ(Inflate(Compress(text, 1 + random() % 70'000)), text) << "round " << round;
  }
}

// Counts that double from symbol to symbol ask for codes longer than the format allows.
TEST(GzipStream, KeepsCodesWithinTheLimit) {
  std::string text;
  std::mt19937 random(1);
  for (int symbol = 0; symbol < 20; ++symbol)
    text.append(size_t{1} << symbol % 18, static_cast<char>('a' + symbol));
  std::shuffle(text.begin(), text.end(), random);
  EXPECT_EQ(Inflate(Compress(text, 100'000)), text);
}

TEST(GzipStream, PassesNoiseWithLittleGrowth) {
  std::mt19937 random(2);
  std::string text(600'000, '\0');
  for (auto& c : text) c = static_cast<char>(random());
  const auto compressed = Compress(text, 50'000);
  EXPECT_EQ(Inflate(compressed), text);
  EXPECT_LT(compressed.size(), text.size() + text.size() / 50);
}

}  // namespace
}  // namespace keelson::rest
