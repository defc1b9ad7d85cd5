#include "base/ids.h"

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/result.h"

namespace keelson {
namespace {

constexpr char kNameAlphabet[] = "bcdfghjklmnpqrstvwxz2456789";

void FillFromKernel(unsigned char* out, size_t size) {
  while (size > 0) {
    ssize_t got = getrandom(out, size, 0);
    if (got < 0 && errno == EINTR) continue;
    KEELSON_CHECK(got > 0);
    out += got;
    size -= static_cast<size_t>(got);
  }
}

struct Pool {
  std::array<unsigned char, 1024> bytes;
  size_t used = sizeof(bytes);
};

thread_local Pool pool;

}  // namespace

void RandomBytes(std::span<unsigned char> out) {
  if (out.size() > pool.bytes.size()) {
    FillFromKernel(out.data(), out.size());
    return;
  }
  if (pool.bytes.size() - pool.used < out.size()) {
    FillFromKernel(pool.bytes.data(), pool.bytes.size());
    pool.used = 0;
  }
  std::memcpy(out.data(), pool.bytes.data() + pool.used, out.size());
  // What was handed out is not kept: it may become a key.
  std::memset(pool.bytes.data() + pool.used, 0, out.size());
  pool.used += out.size();
}

uint64_t RandomUint64() {
  std::array<unsigned char, 8> bytes;
  RandomBytes(bytes);
  uint64_t value = 0;
  std::memcpy(&value, bytes.data(), sizeof(value));
  return value;
}

uint64_t RandomBelow(uint64_t bound) {
  KEELSON_CHECK(bound > 0);
  const uint64_t unfair_from = UINT64_MAX - UINT64_MAX % bound;
  for (;;) {
    uint64_t value = RandomUint64();
    if (value < unfair_from) return value % bound;
  }
}

std::string NewUuid() {
  static constexpr char kHex[] = "0123456789abcdef";
  std::array<unsigned char, 16> bytes;
  RandomBytes(bytes);
  bytes[6] = static_cast<unsigned char>((bytes[6] & 0x0f) | 0x40);
  bytes[8] = static_cast<unsigned char>((bytes[8] & 0x3f) | 0x80);
  std::array<char, 36> text;
  char* to = text.data();
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) *to++ = '-';
    *to++ = kHex[bytes[i] >> 4];
    *to++ = kHex[bytes[i] & 15];
  }
  return {text.data(), text.size()};
}

std::string RandomNameSuffix(size_t length) {
  std::string text(length, ' ');
  for (char& c : text) c = kNameAlphabet[RandomBelow(sizeof(kNameAlphabet) - 1)];
  return text;
}

}  // namespace keelson
