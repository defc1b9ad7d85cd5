#include "selector/field_selector.h"

#include <algorithm>

#include "base/quote.h"

namespace keelson::selector {
namespace {

constexpr std::string_view kMetadataFields[] = {"metadata.name", "metadata.namespace"};

// Splits at commas that no backslash precedes.
std::vector<std::string_view> SplitTerms(std::string_view text) {
  std::vector<std::string_view> terms;
  size_t start = 0;
  bool escaped = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (escaped) {
      escaped = false;
    } else if (text[i] == '\\') {
      escaped = true;
    } else if (text[i] == ',') {
      terms.push_back(text.substr(start, i - start));
      start = i + 1;
    }
  }
  terms.push_back(text.substr(start));
  return terms;
}

size_t RuneLength(std::string_view text) {
  size_t length = 1;
  while (length < text.size() && (static_cast<unsigned char>(text[length]) & 0xC0) == 0x80) {
    ++length;
  }
  return length;
}

Result<std::string> Unescape(std::string_view text) {
  std::string value;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == ',' || c == '=') {
      return Fail(ErrorCode::kInvalid, "invalid field selector: unescaped character in value: {}",
                  static_cast<int>(c));
    }
    if (c == '\\') {
      auto escaped = text.substr(i + 1);
      bool known =
          !escaped.empty() && (escaped[0] == '\\' || escaped[0] == ',' || escaped[0] == '=');
      if (!known) {
        return Fail(ErrorCode::kInvalid, "invalid field selector: invalid escape sequence: \\{}",
                    escaped.substr(0, escaped.empty() ? 0 : RuneLength(escaped)));
      }
      c = text[++i];
    }
    value += c;
  }
  return value;
}

std::string Escape(std::string_view value) {
  std::string out;
  for (char c : value) {
    if (c == '\\' || c == ',' || c == '=') out += '\\';
    out += c;
  }
  return out;
}

// The first operator in the term divides it; "==" is tried before "=".
Result<FieldTerm> ParseTerm(std::string_view term, std::string_view selector) {
  for (size_t i = 0; i < term.size(); ++i) {
    auto rest = term.substr(i);
    for (std::string_view op : {"!=", "==", "="}) {
      if (!rest.starts_with(op)) continue;
      TRY(auto value, Unescape(rest.substr(op.size())));
      return FieldTerm{
          .field = std::string(term.substr(0, i)), .value = std::move(value), .equal = op != "!="};
    }
  }
  return Fail(ErrorCode::kInvalid, "invalid selector: '{}'; can't understand '{}'", selector, term);
}

std::string Refusal(std::string_view pattern, std::string_view label) {
  std::string text(pattern);
  if (size_t at = text.find("%q"); at != std::string::npos) text.replace(at, 2, Quote(label));
  if (size_t at = text.find("%s"); at != std::string::npos) text.replace(at, 2, label);
  return text;
}

}  // namespace

const FieldLabels& MetadataFieldLabels() {
  static constexpr FieldLabels kLabels{.supported = kMetadataFields};
  return kLabels;
}

Result<FieldSelector> FieldSelector::Parse(std::string_view text) {
  if (text.size() > kMaxSelectorBytes) {
    return Fail(ErrorCode::kTooLarge, "field selector is longer than {} bytes", kMaxSelectorBytes);
  }
  auto parts = SplitTerms(text);
  std::ranges::sort(parts);
  std::vector<FieldTerm> terms;
  for (auto part : parts) {
    if (part.empty()) continue;
    TRY(auto term, ParseTerm(part, text));
    terms.push_back(std::move(term));
  }
  return FieldSelector(std::move(terms));
}

Result<FieldSelector> FieldSelector::Resolve(const FieldLabels& labels) const {
  std::vector<FieldTerm> resolved = terms_;
  for (auto& term : resolved) {
    auto alias =
        std::ranges::find(labels.aliases, term.field, [](const auto& pair) { return pair.first; });
    if (alias != labels.aliases.end()) {
      term.field = alias->second;
    } else if (std::ranges::find(labels.supported, term.field) == labels.supported.end()) {
      return Fail(ErrorCode::kInvalid, "{}", Refusal(labels.refusal, term.field));
    }
  }
  return FieldSelector(std::move(resolved));
}

std::optional<std::string_view> FieldSelector::RequiredValue(std::string_view field) const {
  for (const auto& term : terms_) {
    if (term.equal && term.field == field) return term.value;
  }
  return std::nullopt;
}

std::string FieldSelector::ToString() const {
  std::string text;
  for (const auto& term : terms_) {
    if (!text.empty()) text += ',';
    text += term.field + (term.equal ? "=" : "!=") + Escape(term.value);
  }
  return text;
}

}  // namespace keelson::selector
