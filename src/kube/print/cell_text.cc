#include "kube/print/cell_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace keelson::kube::print {

std::string Join(std::span<const std::string> parts, std::string_view separator) {
  std::string joined;
  for (const auto& part : parts) {
    if (&part != parts.data()) joined += separator;
    joined += part;
  }
  return joined;
}

std::string Join(schema::ListView<std::string_view> parts, std::string_view separator) {
  std::string joined;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) joined += separator;
    joined += parts[i];
  }
  return joined;
}

std::string FirstFew(std::span<const std::string> parts, size_t most, std::string_view separator) {
  if (parts.size() <= most) return Join(parts, separator);
  return fmt::format("{} + {} more...", Join(parts.first(most), separator), parts.size() - most);
}

std::string LabelText(schema::MapView<std::string_view> labels) {
  std::vector<std::string> pairs;
  for (const auto& [key, text] : labels) pairs.push_back(fmt::format("{}={}", key, text));
  std::ranges::sort(pairs);
  return pairs.empty() ? std::string(kNone) : Join(pairs);
}

std::string SelectorText(const api::meta_v1::LabelSelector& selector) {
  std::vector<std::pair<std::string_view, std::string>> terms;
  for (const auto& [key, text] : selector.matchLabels()) {
    terms.emplace_back(key, fmt::format("{}={}", key, text));
  }
  for (const auto& expression : selector.matchExpressions()) {
    const auto key = expression.key();
    std::vector<std::string> values;
    for (auto value : expression.values()) values.emplace_back(value);
    std::ranges::sort(values);
    if (expression.operator_() == "In") {
      terms.emplace_back(key, fmt::format("{} in ({})", key, Join(values)));
    } else if (expression.operator_() == "NotIn") {
      terms.emplace_back(key, fmt::format("{} notin ({})", key, Join(values)));
    } else if (expression.operator_() == "Exists") {
      terms.emplace_back(key, key);
    } else {
      terms.emplace_back(key, fmt::format("!{}", key));
    }
  }
  // By key; terms of one key stay in order.
  std::vector<size_t> order(terms.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t i) { return std::pair(terms[i].first, i); });
  std::string text;
  for (size_t i : order) {
    if (!text.empty()) text += ',';
    text += terms[i].second;
  }
  return text;
}

void ContainerCells(schema::ListView<api::core_v1::Container> containers, rest::Row& row) {
  std::vector<std::string> names;
  std::vector<std::string> images;
  for (const auto& container : containers) {
    names.emplace_back(container.name());
    images.emplace_back(container.image());
  }
  row.Text(Join(names));
  row.Text(Join(images));
}

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return lower;
}

}  // namespace keelson::kube::print
