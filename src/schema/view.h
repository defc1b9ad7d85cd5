#pragma once

// What generated accessors are made of: a typed look at a value::Value.
//
//   api::core_v1::Pod pod(document.root());
//   for (auto container : pod.spec().containers()) Use(container.image());
//
// A view is a Value and is copied like one; it borrows the tree it looks at. An absent field reads
// as its type's zero, a pointer field as nullopt, an absent struct as a view that is false.
// Quantities, times, durations and bytes are read as the text that stands in the tree.

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>
#include <type_traits>

#include "value/value.h"

namespace keelson::schema {

template <typename T>
class ListView;
template <typename T>
class MapView;

template <typename T>
T ReadAs(const value::Value& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value.AsBool();
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(value.AsInt());
  } else if constexpr (std::is_same_v<T, double>) {
    return value.AsDouble();
  } else if constexpr (std::is_same_v<T, std::string_view>) {
    return value.AsString();
  } else {
    return T(value.Shared());
  }
}

template <typename T>
inline constexpr bool kIsOptional = false;
template <typename T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

class View {
 public:
  View() = default;
  explicit View(value::Value value) : value_(value) {}

  // Whether there is an object here.
  explicit operator bool() const { return value_.is_object(); }
  const value::Value& value() const { return value_; }

 protected:
  template <typename T>
  T Get(const value::Name& name) const {
    const value::Value* found = value_.Find(name);
    if constexpr (kIsOptional<T>) {
      if (!found || found->is_null()) return std::nullopt;
      return ReadAs<typename T::value_type>(*found);
    } else {
      return found ? ReadAs<T>(*found) : T();
    }
  }

 private:
  value::Value value_;
};

template <typename T>
class ListView {
 public:
  ListView() = default;
  explicit ListView(value::Value value) : value_(value) {}

  size_t size() const { return value_.items().size(); }
  bool empty() const { return size() == 0; }
  T operator[](size_t index) const { return ReadAs<T>(value_.items()[index]); }
  const value::Value& value() const { return value_; }

  class Iterator {
   public:
    using value_type = T;
    using difference_type = ptrdiff_t;
    Iterator() = default;
    explicit Iterator(const value::Value* at) : at_(at) {}
    T operator*() const { return ReadAs<T>(*at_); }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    Iterator operator++(int) { return Iterator(at_++); }
    bool operator==(const Iterator&) const = default;

   private:
    const value::Value* at_ = nullptr;
  };
  Iterator begin() const { return Iterator(value_.items().data()); }
  Iterator end() const { return Iterator(value_.items().data() + size()); }

 private:
  value::Value value_;
};

template <typename T>
class MapView {
 public:
  MapView() = default;
  explicit MapView(value::Value value) : value_(value) {}

  size_t size() const { return value_.members().size(); }
  bool empty() const { return size() == 0; }
  bool contains(std::string_view key) const { return value_.Find(key) != nullptr; }
  // The type's zero when there is none.
  T operator[](std::string_view key) const {
    const value::Value* found = value_.Find(key);
    return found ? ReadAs<T>(*found) : T();
  }
  const value::Value& value() const { return value_; }

  struct Entry {
    std::string_view key;
    T value;
  };
  class Iterator {
   public:
    using value_type = Entry;
    using difference_type = ptrdiff_t;
    Iterator() = default;
    explicit Iterator(const value::Member* at) : at_(at) {}
    Entry operator*() const { return {at_->key(), ReadAs<T>(at_->value)}; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    Iterator operator++(int) { return Iterator(at_++); }
    bool operator==(const Iterator&) const = default;

   private:
    const value::Member* at_ = nullptr;
  };
  Iterator begin() const { return Iterator(value_.members().data()); }
  Iterator end() const { return Iterator(value_.members().data() + size()); }

 private:
  value::Value value_;
};

}  // namespace keelson::schema
