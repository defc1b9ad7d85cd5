// Text is cut into tokens: literals, and matches with what stands at most 32 KiB before. The search
// tries first whether the text goes on as it did at the distance of the last match, which in a list
// of like objects it mostly does, and otherwise looks at the one place where the next six bytes
// were seen last. Each block of tokens is then written with Huffman codes made for it.

#include "rest/gzip_stream.h"

#include <libdeflate.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <span>

#include "base/result.h"

namespace keelson::rest {
namespace {

constexpr size_t kMinMatch = 4;  // the format allows 3, which rarely pays
constexpr size_t kMaxMatch = 258;
constexpr int kLiteralCodes = 286;
constexpr int kDistanceCodes = 30;
constexpr int kLengthCodes = 19;  // of the code that tells the lengths of the others
constexpr uint32_t kEndOfBlock = 256;
constexpr int kMaxBits = 15;
constexpr int kMaxLengthBits = 7;

// A symbol and the bits that follow it.
struct Coded {
  uint16_t symbol;
  uint8_t extra_bits;
  uint16_t base;
};

// Lengths 3 to 258, indexed from 0.
constexpr std::array<Coded, 256> kLengths = [] {
  std::array<Coded, 256> table{};
  uint16_t symbol = 257;
  for (size_t length = 0; length < 255;) {
    // Eight symbols without extra bits, then four each with one more.
    const int extra = symbol < 265 ? 0 : (symbol - 261) / 4;
    for (size_t i = 0; i < (size_t{1} << extra) && length + i < 256; ++i) {
      table[length + i] = {symbol, static_cast<uint8_t>(extra), static_cast<uint16_t>(length)};
    }
    length += size_t{1} << extra;
    ++symbol;
  }
  table[255] = {285, 0, 255};
  return table;
}();

inline Coded CodeDistance(uint32_t distance) {
  const uint32_t d = distance - 1;
  if (d < 2) return {static_cast<uint16_t>(d), 0, static_cast<uint16_t>(d)};
  const int high = std::bit_width(d) - 1;
  const uint32_t half = d >> (high - 1) & 1;
  return {static_cast<uint16_t>(2 * high + static_cast<int>(half)), static_cast<uint8_t>(high - 1),
          static_cast<uint16_t>((2 + half) << (high - 1))};
}

inline uint64_t Load64(const char* at) {
  uint64_t word = 0;
  std::memcpy(&word, at, 8);
  return word;
}

// How many bytes are equal, at most `limit`; eight may be read from any of them.
inline size_t EqualBytes(const char* a, const char* b, size_t limit) {
  size_t same = 0;
  while (same + 8 <= limit) {
    const uint64_t differ = Load64(a + same) ^ Load64(b + same);
    if (differ != 0) return same + static_cast<size_t>(std::countr_zero(differ)) / 8;
    same += 8;
  }
  while (same < limit && a[same] == b[same]) ++same;
  return same;
}

struct Code {
  uint16_t bits = 0;  // as written: first bit lowest
  uint8_t length = 0;
};

// Lengths of the shortest code for symbols with these counts, none above `max_bits`.
//
// Huffman's algorithm with two queues: leaves and inner nodes both come in ascending order. Codes
// that come out too long are cut to the limit and paid for by lengthening the longest of the
// others.
void CodeLengths(std::span<const uint32_t> counts, int max_bits, std::span<Code> codes) {
  struct Leaf {
    uint32_t count;
    uint16_t symbol;
  };
  std::array<Leaf, kLiteralCodes> leaves;
  size_t used = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    codes[i].length = 0;
    if (counts[i] != 0) leaves[used++] = {counts[i], static_cast<uint16_t>(i)};
  }
  // A code of one symbol has one bit all the same.
  if (used <= 1) {
    if (used == 1) codes[leaves[0].symbol].length = 1;
    return;
  }
  std::sort(leaves.begin(), leaves.begin() + static_cast<ptrdiff_t>(used),
            [](const Leaf& a, const Leaf& b) {
              return a.count != b.count ? a.count < b.count : a.symbol < b.symbol;
            });
  // Nodes: leaves, then inner nodes in the order they are made; the last one is the root.
  std::array<uint32_t, 2 * kLiteralCodes> weight;
  std::array<uint16_t, 2 * kLiteralCodes> parent;
  for (size_t i = 0; i < used; ++i) weight[i] = leaves[i].count;
  size_t leaf = 0;
  size_t inner = used;
  const size_t nodes = 2 * used - 1;
  for (size_t made = used; made < nodes; ++made) {
    weight[made] = 0;
    for (int i = 0; i < 2; ++i) {
      const bool take_leaf = leaf < used && (inner >= made || weight[leaf] <= weight[inner]);
      const size_t taken = take_leaf ? leaf++ : inner++;
      weight[made] += weight[taken];
      parent[taken] = static_cast<uint16_t>(made);
    }
  }
  std::array<uint16_t, 2 * kLiteralCodes> depth;
  depth[nodes - 1] = 0;
  std::array<int, kLiteralCodes> of_length{};
  for (size_t i = nodes - 1; i-- > 0;) {
    depth[i] = static_cast<uint16_t>(depth[parent[i]] + 1);
    if (i < used) ++of_length[static_cast<size_t>(std::min<int>(depth[i], max_bits))];
  }
  uint32_t spent = 0;
  for (int bits = 1; bits <= max_bits; ++bits) {
    spent += static_cast<uint32_t>(of_length[static_cast<size_t>(bits)]) << (max_bits - bits);
  }
  for (; spent > uint32_t{1} << max_bits; --spent) {
    --of_length[static_cast<size_t>(max_bits)];
    int bits = max_bits - 1;
    while (of_length[static_cast<size_t>(bits)] == 0) --bits;
    --of_length[static_cast<size_t>(bits)];
    of_length[static_cast<size_t>(bits) + 1] += 2;
  }
  // The rarest get the longest.
  size_t next = 0;
  for (int bits = max_bits; bits > 0; --bits) {
    for (int i = of_length[static_cast<size_t>(bits)]; i > 0; --i) {
      codes[leaves[next++].symbol].length = static_cast<uint8_t>(bits);
    }
  }
}

// Codes of one length ascend with their symbols, longer ones follow shorter ones.
void AssignCodes(std::span<Code> codes) {
  std::array<uint32_t, kMaxBits + 2> next{};
  for (const auto& code : codes) {
    if (code.length != 0) ++next[code.length + size_t{1}];
  }
  for (size_t bits = 1; bits < next.size(); ++bits) next[bits] = (next[bits] + next[bits - 1]) << 1;
  for (auto& code : codes) {
    if (code.length == 0) continue;
    uint32_t value = next[code.length]++;
    uint16_t reversed = 0;
    for (int i = 0; i < code.length; ++i, value >>= 1) {
      reversed = static_cast<uint16_t>(reversed << 1 | (value & 1));
    }
    code.bits = reversed;
  }
}

struct BlockCodes {
  std::array<Code, kLiteralCodes> literals;
  std::array<Code, kDistanceCodes> distances;
};

// The lengths of both codes as the header tells them: runs of equal ones are shortened.
struct LengthToken {
  uint8_t symbol;
  uint8_t extra;
};
std::vector<LengthToken> ShortenLengths(std::span<const uint8_t> lengths) {
  std::vector<LengthToken> tokens;
  for (size_t i = 0; i < lengths.size();) {
    size_t run = 1;
    while (i + run < lengths.size() && lengths[i + run] == lengths[i]) ++run;
    if (lengths[i] == 0 && run >= 3) {
      run = std::min<size_t>(run, 138);
      tokens.push_back(run <= 10 ? LengthToken{17, static_cast<uint8_t>(run - 3)}
                                 : LengthToken{18, static_cast<uint8_t>(run - 11)});
    } else if (run >= 4) {
      run = std::min<size_t>(run, 7);
      tokens.push_back({lengths[i], 0});
      tokens.push_back({16, static_cast<uint8_t>(run - 4)});
    } else {
      run = 1;
      tokens.push_back({lengths[i], 0});
    }
    i += run;
  }
  return tokens;
}

}  // namespace

GzipStream::GzipStream()
    : text_(new char[kWindow + kBlock + 8]),
      last_seen_(new uint32_t[size_t{1} << kHashBits]()),
      counts_(new uint32_t[kLiteralCodes + kDistanceCodes]()) {
  tokens_.reserve(kMaxTokens);
}

GzipStream::~GzipStream() = default;

void GzipStream::Append(std::string_view text, std::string& out) {
  if (!started_) {
    // Deflate, no name, no time, fastest, from Unix.
    out.append("\x1f\x8b\x08\0\0\0\0\0\x04\x03", 10);
    started_ = true;
  }
  crc_ = libdeflate_crc32(crc_, text.data(), text.size());
  size_ += static_cast<uint32_t>(text.size());
  while (!text.empty()) {
    const size_t room = kWindow + kBlock - filled_;
    const size_t taken = std::min(room, text.size());
    std::memcpy(text_.get() + filled_, text.data(), taken);
    filled_ += taken;
    text.remove_prefix(taken);
    if (filled_ == kWindow + kBlock) Compress(/*last=*/false, out);
  }
}

void GzipStream::Finish(std::string& out) {
  if (!started_) Append({}, out);
  Compress(/*last=*/true, out);
  if (bit_count_ > 0) out += static_cast<char>(bits_);
  for (uint32_t number : {crc_, size_}) {
    out.append({static_cast<char>(number), static_cast<char>(number >> 8),
                static_cast<char>(number >> 16), static_cast<char>(number >> 24)});
  }
}

void GzipStream::Compress(bool last, std::string& out) {
  Find(filled_, out);
  WriteBlock(last, out);
  // Keep what later text may refer to.
  if (done_ > kWindow) {
    const size_t gone = done_ - kWindow;
    std::memmove(text_.get(), text_.get() + gone, kWindow);
    position_ += static_cast<uint32_t>(gone);
    done_ = filled_ = kWindow;
  }
}

void GzipStream::Match(size_t length, size_t distance) {
  tokens_.push_back(static_cast<Token>(length << 16 | distance));
  ++counts_[kLengths[length - 3].symbol];
  ++counts_[kLiteralCodes + CodeDistance(static_cast<uint32_t>(distance)).symbol];
}

// Makes tokens of the text up to `end`.
void GzipStream::Find(size_t end, std::string& out) {
  const char* text = text_.get();
  size_t at = done_;
  size_t distance = distance_;
  size_t misses = 0;
  while (at < end) {
    if (tokens_.size() + 1 >= kMaxTokens) WriteBlock(/*last=*/false, out);
    if (end - at >= 8) {
      const uint64_t here = Load64(text + at);
      size_t length = 0;
      size_t from = distance;
      if (distance != 0 && distance <= at && here == Load64(text + at - distance)) {
        length = EqualBytes(text + at, text + at - distance, std::min(end - at, kMaxMatch));
      } else {
        auto& seen = last_seen_[(here << 16) * 0x9E3779B97F4A7C15u >> (64 - kHashBits)];
        const uint32_t back = position_ + static_cast<uint32_t>(at) - seen;
        seen = position_ + static_cast<uint32_t>(at);
        if (back - 1 < kWindow && back <= at) {
          length = EqualBytes(text + at, text + at - back, std::min(end - at, kMaxMatch));
          from = back;
        }
      }
      if (length >= kMinMatch) {
        Match(length, from);
        distance = from;
        at += length;
        misses = 0;
        continue;
      }
    }
    // Text that never repeats is searched ever more loosely.
    const size_t step = std::min({1 + (misses++ >> 6), end - at, size_t{16}});
    for (size_t i = 0; i < step; ++i) {
      const auto byte = static_cast<unsigned char>(text[at + i]);
      tokens_.push_back(Token{byte} << 16);
      ++counts_[byte];
    }
    at += step;
  }
  done_ = at;
  distance_ = distance;
}

void GzipStream::Bits(uint32_t bits, int count, std::string& out) {
  bits_ |= uint64_t{bits} << bit_count_;
  bit_count_ += count;
  if (bit_count_ < 32) return;
  const auto word = static_cast<uint32_t>(bits_);
  out.append(reinterpret_cast<const char*>(&word), 4);
  bits_ >>= 32;
  bit_count_ -= 32;
}

void GzipStream::WriteBlock(bool last, std::string& out) {
  if (tokens_.empty() && !last) return;
  ++counts_[kEndOfBlock];
  BlockCodes codes;
  CodeLengths({counts_.get(), kLiteralCodes}, kMaxBits, codes.literals);
  CodeLengths({counts_.get() + kLiteralCodes, kDistanceCodes}, kMaxBits, codes.distances);
  AssignCodes(codes.literals);
  AssignCodes(codes.distances);

  size_t literals = kLiteralCodes;
  while (codes.literals[literals - 1].length == 0) --literals;
  size_t distances = kDistanceCodes;
  while (distances > 1 && codes.distances[distances - 1].length == 0) --distances;
  std::vector<uint8_t> lengths;
  for (size_t i = 0; i < literals; ++i) lengths.push_back(codes.literals[i].length);
  for (size_t i = 0; i < distances; ++i) lengths.push_back(codes.distances[i].length);
  const auto tokens = ShortenLengths(lengths);
  std::array<uint32_t, kLengthCodes> length_counts{};
  for (const auto& token : tokens) ++length_counts[token.symbol];
  std::array<Code, kLengthCodes> length_codes;
  CodeLengths(length_counts, kMaxLengthBits, length_codes);
  AssignCodes(length_codes);

  // The order in which the header tells the code of the lengths: likely ones first.
  static constexpr uint8_t kOrder[kLengthCodes] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                   11, 4,  12, 3, 13, 2, 14, 1, 15};
  size_t told = kLengthCodes;
  while (told > 4 && length_codes[kOrder[told - 1]].length == 0) --told;
  Bits(last ? 1 : 0, 1, out);
  Bits(2, 2, out);  // with codes of its own
  Bits(static_cast<uint32_t>(literals - 257), 5, out);
  Bits(static_cast<uint32_t>(distances - 1), 5, out);
  Bits(static_cast<uint32_t>(told - 4), 4, out);
  for (size_t i = 0; i < told; ++i) Bits(length_codes[kOrder[i]].length, 3, out);
  for (const auto& token : tokens) {
    Bits(length_codes[token.symbol].bits, length_codes[token.symbol].length, out);
    static constexpr int kExtra[] = {2, 3, 7};
    if (token.symbol >= 16) Bits(token.extra, kExtra[token.symbol - 16], out);
  }

  for (const Token token : tokens_) {
    const uint32_t distance = token & 0xFFFF;
    if (distance == 0) {
      const auto& code = codes.literals[token >> 16];
      Bits(code.bits, code.length, out);
      continue;
    }
    const uint32_t length = (token >> 16) - 3;
    const auto& coded = kLengths[length];
    const auto& code = codes.literals[coded.symbol];
    Bits(code.bits | (length - coded.base) << code.length, code.length + coded.extra_bits, out);
    const auto away = CodeDistance(distance);
    const auto& away_code = codes.distances[away.symbol];
    Bits(away_code.bits, away_code.length, out);
    Bits(distance - 1 - away.base, away.extra_bits, out);
  }
  const auto& end = codes.literals[kEndOfBlock];
  Bits(end.bits, end.length, out);
  tokens_.clear();
  std::fill_n(counts_.get(), kLiteralCodes + kDistanceCodes, 0u);
  if (!last) return;
  while (bit_count_ > 8) {
    out += static_cast<char>(bits_);
    bits_ >>= 8;
    bit_count_ -= 8;
  }
}

}  // namespace keelson::rest
