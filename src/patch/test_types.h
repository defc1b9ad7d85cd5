#pragma once

// Types and objects for tests, written as text.
//
// A type is a line, a field is `name type flags`, separated by commas:
//
//   Pod: apiVersion string o, kind string o, metadata Meta, spec PodSpec
//   Port: port int32 zd, protocol string o d="TCP"
//   PodSpec: containers []Container#name merge:name, finalizers []string= o merge, nodes {}string o
//
// []T#a+b is a list keyed by a and b, []T= a set, []T! atomic, []T says nothing; {}T is a map.
// Flags: o omitempty, oz omitzero, p pointer, zd zero default, d=JSON default, merge, merge:key,
// replace, retain, atomic, granular. A type's name may be followed by atomic, preserve or custom.

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "schema/scalar_text.h"
#include "schema/type.h"
#include "value/document.h"
#include "value/json.h"

namespace keelson::patch {

class TestTypes {
 public:
  explicit TestTypes(std::string_view text) {
    ForEach(text, '\n', [&](std::string_view line) {
      size_t colon = line.find(':');
      if (colon == std::string_view::npos) return;
      DefineStruct(Words(line.substr(0, colon)), line.substr(colon + 1));
    });
  }

  const schema::Type& operator[](std::string_view name) { return *Named(name); }

 private:
  using Type = schema::Type;
  using Field = schema::Field;

  template <typename Visit>
  static void ForEach(std::string_view text, char separator, Visit&& visit) {
    while (!text.empty()) {
      size_t end = std::min(text.find(separator), text.size());
      visit(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }
  static std::vector<std::string_view> Words(std::string_view text) {
    std::vector<std::string_view> words;
    ForEach(text, ' ', [&](std::string_view word) {
      if (!word.empty()) words.push_back(word);
    });
    return words;
  }
  std::string_view Keep(std::string_view text) { return texts_.emplace_back(text); }

  Type* Named(std::string_view name) {
    auto [at, is_new] = named_.try_emplace(std::string(name));
    if (!is_new) return &at->second;
    static const std::map<std::string_view, schema::TypeKind> kScalars = {
        {"string", schema::TypeKind::kString},
        {"int32", schema::TypeKind::kInt32},
        {"int64", schema::TypeKind::kInt64},
        {"bool", schema::TypeKind::kBool},
        {"double", schema::TypeKind::kDouble},
        {"bytes", schema::TypeKind::kBytes},
        {"quantity", schema::TypeKind::kQuantity},
        {"intOrString", schema::TypeKind::kIntOrString},
        {"time", schema::TypeKind::kTime},
        {"microTime", schema::TypeKind::kMicroTime},
        {"duration", schema::TypeKind::kDuration},
        {"rawExtension", schema::TypeKind::kRawExtension},
        {"fieldsV1", schema::TypeKind::kFieldsV1},
        {"json", schema::TypeKind::kJson},
        {"any", schema::TypeKind::kAny}};
    auto scalar = kScalars.find(name);
    at->second.kind = scalar != kScalars.end() ? scalar->second : schema::TypeKind::kStruct;
    return &at->second;
  }

  const Type* Parse(std::string_view text) {
    bool list = text.starts_with("[]");
    if (!list && !text.starts_with("{}")) return Named(text);
    Type& type = anonymous_.emplace_back();
    std::string_view element = text.substr(2);
    type.kind = list ? schema::TypeKind::kList : schema::TypeKind::kMap;
    if (list && element.ends_with('=')) {
      type.list_type = schema::ListType::kSet;
      element.remove_suffix(1);
    } else if (list && element.ends_with('!')) {
      type.list_type = schema::ListType::kAtomic;
      element.remove_suffix(1);
    } else if (size_t hash = element.find('#'); list && hash != std::string_view::npos) {
      type.list_type = schema::ListType::kMap;
      auto& keys = keys_.emplace_back();
      ForEach(element.substr(hash + 1), '+', [&](auto key) { keys.push_back(Keep(key)); });
      type.keys_data = keys.data();
      type.key_count = static_cast<uint16_t>(keys.size());
      element = element.substr(0, hash);
    }
    type.element = Parse(element);
    return &type;
  }

  void SetFlag(Field& field, schema::FieldExtra& extra, std::string_view flag) {
    static const std::map<std::string_view, uint32_t> kFlags = {
        {"o", Field::kOmitEmpty},
        {"oz", Field::kOmitZero},
        {"p", Field::kPointer},
        {"zd", Field::kZeroDefault},
        {"merge", Field::kPatchMerge},
        {"replace", Field::kPatchReplace},
        {"atomic", Field::kAtomic},
        {"granular", Field::kGranular},
        {"retain", Field::kPatchRetainKeys}};
    if (auto known = kFlags.find(flag); known != kFlags.end()) {
      field.flags |= known->second;
    } else if (flag.starts_with("merge:")) {
      field.flags |= Field::kPatchMerge;
      extra.patch_merge_key = Keep(flag.substr(6));
    } else if (flag.starts_with("key:")) {
      extra.patch_merge_key = Keep(flag.substr(4));
    } else if (flag.starts_with("d=")) {
      field.flags |= Field::kDefault;
      schema::JsonScanner scanner(*arena_, Keep(flag.substr(2)));
      extra.default_value = &defaults_.emplace_back(*scanner.Any());
    } else {
      ADD_FAILURE() << "unknown flag " << flag;
    }
  }

  void DefineStruct(const std::vector<std::string_view>& head, std::string_view text) {
    Type& type = *Named(head[0]);
    auto& fields = fields_.emplace_back();
    ForEach(text, ',', [&](std::string_view part) {
      auto words = Words(part);
      if (words.size() < 2) return;
      Field& field = fields.emplace_back();
      field.name = value::InternName(*arena_, words[0]);
      field.type = Parse(words[1]);
      auto& extra = extras_.emplace_back();
      field.extra = &extra;
      for (size_t i = 2; i < words.size(); ++i) SetFlag(field, extra, words[i]);
    });
    auto& slots = slots_.emplace_back(schema::SlotCount(fields.size()));
    schema::FillSlots(fields, slots);
    auto& info = infos_.emplace_back();
    info.name = Keep(head[0]);
    type.fields_data = fields.data();
    type.field_count = static_cast<uint16_t>(fields.size());
    type.slots = slots.data();
    type.slot_mask = static_cast<uint16_t>(slots.size() - 1);
    type.info = &info;
    for (size_t i = 1; i < head.size(); ++i) {
      if (head[i] == "atomic") type.flags |= Type::kAtomic;
      if (head[i] == "preserve") type.flags |= Type::kPreserveUnknown;
      if (head[i] == "custom") type.info = nullptr;
    }
  }

  value::ArenaRef arena_ = value::Arena::Make();
  std::map<std::string, Type> named_;
  std::deque<Type> anonymous_;
  std::deque<std::string> texts_;
  std::deque<std::vector<std::string_view>> keys_;
  std::deque<std::vector<Field>> fields_;
  std::deque<std::vector<uint32_t>> slots_;
  std::deque<schema::FieldExtra> extras_;
  std::deque<schema::TypeInfo> infos_;
  std::deque<value::Value> defaults_;
};

// The document of a JSON text.
inline value::Document Parse(std::string_view json) {
  auto document = value::ParseJson(json);
  EXPECT_TRUE(document.has_value()) << json;
  return document ? *document : value::Document();
}

// Compact JSON with sorted members.
inline std::string Text(const value::Value& value) {
  std::string text;
  schema::AppendScalarJson(text, value);
  return text;
}
inline std::string Text(const value::Document& document) { return Text(document.root()); }

}  // namespace keelson::patch
