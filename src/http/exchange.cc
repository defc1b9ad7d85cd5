#include "http/exchange.h"

#include <algorithm>
#include <cstring>

namespace keelson::http {
namespace {

constexpr size_t kBlockSize = 256;

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

bool SameName(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) {
           return x == y || Lower(x) == Lower(y);
         });
}

}  // namespace

std::optional<std::string_view> Headers::Get(std::string_view name) const {
  for (const auto& field : fields_) {
    if (SameName(field.name, name)) return field.value;
  }
  return std::nullopt;
}

std::vector<std::string_view> Headers::GetAll(std::string_view name) const {
  std::vector<std::string_view> values;
  for (const auto& field : fields_) {
    if (SameName(field.name, name)) values.push_back(field.value);
  }
  return values;
}

std::string_view Headers::Keep(std::string_view text) {
  if (text.empty()) return {};
  if (kept_.empty() || text.size() > free_size_) {  // kept_ is empty after a move
    free_size_ = std::max(kBlockSize, text.size());
    kept_.push_back(std::make_unique_for_overwrite<char[]>(free_size_));
    free_ = kept_.back().get();
  }
  char* begin = free_;
  std::memcpy(begin, text.data(), text.size());
  free_ += text.size();
  free_size_ -= text.size();
  return {begin, text.size()};
}

void Headers::Add(std::string_view name, std::string_view value) {
  // Two statements: both copies may not land in one block.
  auto kept_name = Keep(name);
  fields_.push_back({kept_name, Keep(value)});
}

void Headers::Set(std::string_view name, std::string_view value) {
  auto kept_name = Keep(name);  // before Remove: both may view a field of ours
  auto kept_value = Keep(value);
  Remove(kept_name);
  fields_.push_back({kept_name, kept_value});
}

void Headers::Remove(std::string_view name) {
  std::erase_if(fields_, [name](const Field& field) { return SameName(field.name, name); });
}

void Headers::Clear() {
  fields_.clear();
  kept_.clear();
  free_ = nullptr;
  free_size_ = 0;
}

Task<Result<std::string>> BodyReader::ReadAll(size_t limit) {
  auto length = announced();
  if (length && *length > limit) {
    co_return Fail(ErrorCode::kTooLarge, "the body of {} bytes exceeds {}", *length, limit);
  }
  std::string all;
  if (length) all.reserve(*length);
  for (;;) {
    CO_TRY(Slice piece, co_await Read());
    if (piece.empty()) co_return all;
    if (piece.size() > limit - all.size()) {
      co_return Fail(ErrorCode::kTooLarge, "the body exceeds {} bytes", limit);
    }
    all += piece.view();
  }
}

}  // namespace keelson::http
