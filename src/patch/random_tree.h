#pragma once

// Random JSON for property tests: small alphabets, so that names and keys meet.

#include <random>
#include <string>

namespace keelson::patch {

class RandomTree {
 public:
  explicit RandomTree(uint32_t seed) : random_(seed) {}

  unsigned Below(unsigned limit) { return random_() % limit; }
  bool Chance(unsigned percent) { return Below(100) < percent; }
  std::string Word() {
    static const char* kWords[] = {"a", "b", "c", "d"};
    return kWords[Below(4)];
  }

  std::string Any(int depth = 0) {
    unsigned kind = Below(depth > 3 ? 4 : 8);
    switch (kind) {
      case 0:
        return "null";
      case 1:
        return std::to_string(Below(3));
      case 2:
        return Chance(50) ? "true" : "false";
      case 3:
        return "\"" + Word() + "\"";
      case 4:
      case 5: {
        std::string text = "[";
        for (unsigned i = Below(4); i > 0; --i)
          text += (text.size() > 1 ? "," : "") + Any(depth + 1);
        return text + "]";
      }
      default:
        return Object(depth);
    }
  }
  std::string Object(int depth = 0) {
    std::string text = "{";
    for (const char* name : {"a", "b", "c", "d"}) {
      if (Chance(45))
        text += (text.size() > 1 ? ",\"" : "\"") + std::string(name) + "\":" + Any(depth + 1);
    }
    return text + "}";
  }
  // {"a":"1","c":"2"} over some of the names, at least the first.
  std::string Strings(std::string_view names) {
    std::string text = "{\"" + std::string(1, names[0]) + "\":\"" + Word() + "\"";
    for (char name : names.substr(1)) {
      if (Chance(50)) text += std::string(",\"") + name + "\":\"" + Word() + "\"";
    }
    return text + "}";
  }

 private:
  std::mt19937 random_;
};

}  // namespace keelson::patch
