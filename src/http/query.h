#pragma once

// Query: the parameters of a URL, decoded as Go's net/url does for kube-apiserver.
//
// Pairs with a broken percent-escape or a semicolon are dropped, the others kept; '+' is a space;
// names may repeat. Nothing is allocated for pairs that need no decoding: they refer to the raw
// text, which must outlive the Query.

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace keelson::http {

class Query {
 public:
  struct Parameter {
    std::string_view name;
    std::string_view value;
  };

  Query() = default;
  explicit Query(std::string_view raw);

  // The first value of `name`; nothing when the parameter is absent.
  std::optional<std::string_view> Get(std::string_view name) const;
  std::vector<std::string_view> GetAll(std::string_view name) const;
  bool Has(std::string_view name) const { return Get(name).has_value(); }

  const std::vector<Parameter>& parameters() const { return parameters_; }

 private:
  std::optional<std::string_view> Decode(std::string_view text);

  std::vector<Parameter> parameters_;
  std::deque<std::string> decoded_;
};

// Undoes percent-encoding in a path ('+' stays); nothing when an escape is broken.
std::optional<std::string> DecodePath(std::string_view path);

}  // namespace keelson::http
