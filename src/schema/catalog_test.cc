// The built-in API as it was compiled: how much of it there is, and that it is all of it.
//
// With KEELSON_FACTS set to a folder of recorded type facts (one JSON file per API file), every
// struct and field is compared with the record; without, counts and a digest of the tables guard
// against accidental change.

#include "api/catalog.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "api/apps_v1.h"
#include "api/core_v1.h"
#include "value/json.h"

namespace keelson::schema {
namespace {

using value::Value;

bool IsStruct(const Type& type) {
  return type.kind == TypeKind::kStruct || type.Has(Type::kOwnJson);
}

// Fields as declared: each embedded struct counts as one.
size_t DeclaredFields(const Type& type) {
  size_t count = type.field_count;
  for (const EmbeddedInfo& embedded : type.info->embedded())
    count -= embedded.type->field_count - 1;
  return count;
}

void AppendFacts(std::string& out, const Type& type, int depth) {
  fmt::format_to(std::back_inserter(out), "({} {} {:x}", int(type.kind), int(type.list_type),
                 type.flags);
  for (std::string_view key : type.keys()) fmt::format_to(std::back_inserter(out), " {}", key);
  for (const Rule& rule : type.rules())
    fmt::format_to(std::back_inserter(out), " r{}/{}", int(rule.kind), rule.size);
  if (type.info && depth > 0) {
    fmt::format_to(std::back_inserter(out), " {}/{})", type.info->go_name, type.info->model);
    return;
  }
  if (type.element) AppendFacts(out, *type.element, depth + 1);
  for (const Field& field : type.fields()) {
    fmt::format_to(std::back_inserter(out), "\n {} {} {:x} {} ", field.text(), field.proto_number,
                   field.flags, field.merge_key());
    if (field.extra && field.extra->default_value)
      value::AppendJson(out, *field.extra->default_value);
    AppendFacts(out, *field.type, depth + 1);
  }
  for (const WireField& wire : type.wire())
    fmt::format_to(std::back_inserter(out), "\n w{} {} {} {} {}", wire.number, wire.field,
                   int(wire.wire), wire.repeated, wire.embedded ? wire.embedded->name() : "");
  out += ")\n";
}

uint64_t Fnv(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (unsigned char c : text) hash = (hash ^ c) * 0x100000001b3;
  return hash;
}

TEST(Catalog, HoldsTheWholeServedApi) {
  size_t served = 0, structs = 0, fields = 0, kinds = 0, resources = 0, subresources = 0,
         columns = 0;
  std::string facts;
  for (const GroupVersionInfo& info : api::kCatalog.group_versions()) {
    served += info.served;
    kinds += info.kinds.size();
    resources += info.resources.size();
    for (const ResourceInfo& resource : info.resources) {
      subresources += resource.subresources.size();
      columns += resource.columns.size();
    }
    for (const Type* type : info.types) {
      facts += type->name();
      AppendFacts(facts, *type, 0);
      if (!IsStruct(*type)) continue;
      ++structs;
      if (type->kind == TypeKind::kStruct) fields += DeclaredFields(*type);
    }
  }
  EXPECT_EQ(api::kCatalog.group_versions().size(), 32u);
  EXPECT_EQ(served, 22u);
  EXPECT_EQ(structs, 672u);
  EXPECT_EQ(fields, 2628u);  // without the messages of the 11 types that JSON shows as scalars
  EXPECT_EQ(resources, 68u);
  EXPECT_EQ(subresources, 45u);
  EXPECT_EQ(columns, 313u);
  EXPECT_EQ(kinds, 354u);
  EXPECT_EQ(fmt::format("{:016x}", Fnv(facts)), "5e639b661d8f9edb");
}

TEST(Catalog, EveryIndexFindsItsFields) {
  for (const GroupVersionInfo& info : api::kCatalog.group_versions()) {
    for (const Type* type : info.types) {
      for (const Field& field : type->fields()) {
        EXPECT_EQ(type->Find(field.text()), &field) << type->name() << "." << field.text();
        EXPECT_TRUE(field.name->has_quoted());
      }
      for (const WireField& wire : type->wire()) EXPECT_EQ(type->FindWire(wire.number), &wire);
      EXPECT_EQ(info.FindType(type->name()), type);
    }
    for (const KindInfo& kind : info.kinds) EXPECT_EQ(info.FindKind(kind.kind), kind.type);
    for (const ResourceInfo& resource : info.resources) {
      EXPECT_EQ(info.FindResource(resource.plural), &resource);
      EXPECT_EQ(info.FindKind(resource.kind), resource.type);
      EXPECT_FALSE(resource.description.empty()) << resource.kind;
    }
  }
}

TEST(Catalog, EqualNamesShareOneAddress) {
  const auto* core = api::kCatalog.Find("", "v1");
  ASSERT_NE(core, nullptr);
  EXPECT_EQ(core->FindType("Pod")->Find("metadata")->name,
            core->FindType("Service")->Find("metadata")->name);
  EXPECT_EQ(&api::core_v1::Pod::Names::metadata, core->FindType("Pod")->Find("metadata")->name);
}

TEST(Catalog, EmbeddedStructsAreFlatInJsonAndNestedOnTheWire) {
  const Type* probe = api::kCatalog.Find("", "v1")->FindType("Probe");
  ASSERT_NE(probe, nullptr);
  EXPECT_EQ(probe->fields()[0].text(), "exec");
  EXPECT_EQ(probe->fields()[0].proto_number, 0u);
  const WireField* handler = probe->FindWire(1);
  ASSERT_NE(handler, nullptr);
  ASSERT_NE(handler->embedded, nullptr);
  EXPECT_EQ(handler->embedded->name(), "ProbeHandler");
  EXPECT_EQ(handler->field, 0);
  EXPECT_EQ(probe->fields()[handler->embedded->field_count].text(), "initialDelaySeconds");
}

TEST(Catalog, AccessorsReadTypedValues) {
  auto document = value::ParseJson(
      R"({"metadata":{"name":"web","labels":{"app":"web"}},"spec":{"replicas":3,
          "template":{"spec":{"containers":[{"name":"a","image":"i","ports":[{"containerPort":80}]},
          {"name":"b"}],"terminationGracePeriodSeconds":5}}}})");
  ASSERT_TRUE(document.has_value());
  const api::apps_v1::Deployment deployment(document->root());
  EXPECT_EQ(deployment.metadata().name(), "web");
  EXPECT_EQ(deployment.metadata().labels()["app"], "web");
  EXPECT_EQ(deployment.spec().replicas(), 3);
  EXPECT_EQ(deployment.spec().minReadySeconds(), 0);
  EXPECT_FALSE(deployment.spec().selector());
  const auto pod = deployment.spec().template_().spec();
  EXPECT_EQ(pod.terminationGracePeriodSeconds(), 5);
  EXPECT_EQ(pod.activeDeadlineSeconds(), std::nullopt);
  std::string names;
  for (const auto container : pod.containers()) names += container.name();
  EXPECT_EQ(names, "ab");
  EXPECT_EQ(pod.containers()[0].ports()[0].containerPort(), 80);
  EXPECT_EQ(&api::core_v1::Pod::Schema(), api::kCatalog.Find("", "v1")->FindKind("Pod"));
}

// Compares the tables with one recorded file.
class FactsCheck {
 public:
  FactsCheck() {
    for (const GroupVersionInfo& info : api::kCatalog.group_versions())
      for (const Type* type : info.types) file_of_[type] = info.file;
  }

  void File(const GroupVersionInfo& info, const Value& facts) {
    file_ = info.file;
    std::set<std::string_view> seen;
    for (const value::Member& member : facts["types"].members()) {
      const Type* type = info.FindType(member.key());
      where_ = fmt::format("{} {}", file_, member.key());
      seen.insert(member.key());
      if (!type) {
        Differs("type", "present", "absent");
        continue;
      }
      Named(info, *type, member.value);
    }
    for (const Type* type : info.types)
      if (!seen.contains(type->name()) && type->info->go_name != "types.UID")
        Differs(std::string(type->name()), "absent", "present");
  }

  size_t structs = 0;
  size_t fields = 0;
  size_t differences = 0;

 private:
  void Differs(std::string_view what, std::string_view recorded, std::string_view compiled) {
    if (++differences <= 20)
      ADD_FAILURE() << where_ << ": " << what << " recorded " << recorded << ", compiled "
                    << compiled;
  }
  void Same(std::string_view what, std::string_view recorded, std::string_view compiled) {
    if (recorded != compiled) Differs(what, recorded, compiled);
  }
  void Same(std::string_view what, bool recorded, bool compiled) {
    if (recorded != compiled)
      Differs(what, recorded ? "true" : "false", compiled ? "true" : "false");
  }

  std::string Spell(const Type& type) const {
    static constexpr std::string_view kNames[] = {"",
                                                  "",
                                                  "",
                                                  "string",
                                                  "int32",
                                                  "int64",
                                                  "bool",
                                                  "double",
                                                  "bytes",
                                                  "quantity",
                                                  "intOrString",
                                                  "time",
                                                  "microTime",
                                                  "duration",
                                                  "rawExtension",
                                                  "fieldsV1",
                                                  "json",
                                                  "any"};
    switch (type.kind) {
      case TypeKind::kList:
        return fmt::format("list<{}>", Spell(*type.element));
      case TypeKind::kMap:
        return fmt::format("map<string,{}>", Spell(*type.element));
      case TypeKind::kStruct:
      case TypeKind::kSchemaOrBool:
      case TypeKind::kSchemaOrArray:
      case TypeKind::kSchemaOrStrings: {
        const std::string_view file = file_of_.at(&type);
        return file == file_ ? fmt::format("ref:{}", type.name())
                             : fmt::format("ref:{}.{}", file, type.name());
      }
      default:
        return std::string(kNames[size_t(type.kind)]);
    }
  }

  void Named(const GroupVersionInfo& info, const Type& type, const Value& facts) {
    if (!facts.Find("fields")) {  // an alias
      Same("enum", facts["enum"].AsBool(), type.FindRule(RuleKind::kEnum) != nullptr);
      return;
    }
    ++structs;
    const bool published = facts.Find("model") && !facts.Find("openapi");
    Same("model", published ? facts["model"].AsString() : "", type.info->model);
    Same("mapType", facts["mapType"].AsString() == "atomic", type.Has(Type::kAtomic));
    if (facts.Find("kind")) {
      Same("kind", true, info.FindKind(facts["kind"].AsString()) == &type);
      if (facts.Find("listKind"))
        Same("listKind", true, info.FindKind(facts["listKind"].AsString()) != nullptr);
    }
    if (type.kind != TypeKind::kStruct) {
      fields += facts["fields"].size();
      Same("customJSON", facts["customJSON"].AsBool(), true);
      return;
    }
    Fields(type, facts["fields"]);
    Unions(type, facts["unions"]);
  }

  void Fields(const Type& type, const Value& facts) {
    size_t next = 0;
    auto embedded = type.info->embedded();
    for (const Value& fact : facts.items()) {
      ++fields;
      const std::string outer = where_;
      if (fact["inline"].AsBool()) {
        where_ += " inline";
        if (embedded.empty() || embedded[0].first_field != next) {
          Differs("embedded", fact["type"].AsString(), "nothing");
        } else {
          Same("type", fact["type"].AsString(), Spell(*embedded[0].type));
          Same("pb", fmt::to_string(fact["pb"].AsInt()), fmt::to_string(embedded[0].proto_number));
          next += embedded[0].type->field_count;
          embedded = embedded.subspan(1);
        }
      } else if (next < type.field_count) {
        const Field& field = type.fields()[next++];
        where_ += fmt::format(".{}", fact["name"].AsString());
        One(type, field, fact);
      } else {
        Differs("field", "present", "absent");
      }
      where_ = outer;
    }
    Same("field count", fmt::to_string(next), fmt::to_string(type.field_count));
  }

  void One(const Type& type, const Field& field, const Value& fact) {
    const bool hidden = fact["name"].AsString() == "-";
    if (!hidden) Same("name", fact["name"].AsString(), field.text());
    Same("hidden", hidden, field.Has(Field::kNotInJson));
    Same("type", fact["type"].AsString(), Spell(*field.type));
    Same("req", fact["req"].AsBool(), field.required());
    if (!hidden) Same("omitempty", fact["omitempty"].AsBool(), field.omit_empty());
    Same("omitzero", fact["omitzero"].AsBool(), field.Has(Field::kOmitZero));
    Same("ptr", fact["ptr"].AsBool(), field.pointer());
    Wire(type, field, fact);
    Default(field, fact);
    Enum(*field.type, fact["enum"]);
    if (field.type->kind == TypeKind::kList) Enum(*field.type->element, fact["itemEnum"]);
    static constexpr std::string_view kListTypes[] = {"", "atomic", "set", "map"};
    Same("listType", fact["listType"].AsString(), kListTypes[size_t(field.type->list_type)]);
    std::string keys, recorded_keys;
    for (std::string_view key : field.type->keys()) keys += fmt::format("{},", key);
    for (const Value& key : fact["listMapKeys"].items())
      recorded_keys += fmt::format("{},", key.AsString());
    Same("listMapKeys", recorded_keys, keys);
    const bool atomic = field.Has(Field::kAtomic) ||
                        (field.type->kind == TypeKind::kMap && field.type->Has(Type::kAtomic));
    Same("mapType", fact["mapType"].AsString(),
         atomic                        ? "atomic"
         : field.Has(Field::kGranular) ? "granular"
                                       : "");
    std::string strategy;
    for (auto [flag, name] : {std::pair(Field::kPatchMerge, "merge"),
                              {Field::kPatchReplace, "replace"},
                              {Field::kPatchRetainKeys, "retainKeys"}})
      if (field.Has(flag)) strategy += (strategy.empty() ? "" : ",") + std::string(name);
    Same("patchStrategy", fact["patchStrategy"].AsString(), strategy);
    Same("patchMergeKey", fact["patchMergeKey"].AsString(), field.merge_key());
  }

  void Wire(const Type& type, const Field& field, const Value& fact) {
    Same("pb", fmt::to_string(fact["pb"].AsInt()), fmt::to_string(field.proto_number));
    if (fact["pb"].AsInt() == 0) return;
    const WireField* wire = type.FindWire(field.proto_number);
    if (!wire) return Differs("wire", "present", "absent");
    Same("wire field", true, &type.fields()[wire->field] == &field);
    Same("wire", fact["wire"].AsString(),
         wire->wire == WireType::kVarint    ? "varint"
         : wire->wire == WireType::kFixed64 ? "fixed64"
                                            : "bytes");
    Same("rep", fact["rep"].AsBool(), wire->repeated);
  }

  void Default(const Field& field, const Value& fact) {
    std::string compiled;
    if (field.Has(Field::kDefault)) compiled = value::ToJson(*field.extra->default_value);
    if (field.Has(Field::kZeroDefault)) {
      compiled = field.type->kind == TypeKind::kString ? "\"\""
                 : field.type->kind == TypeKind::kBool ? "false"
                 : field.type->kind == TypeKind::kInt32 || field.type->kind == TypeKind::kInt64
                     ? "0"
                     : "{}";
    }
    const Value* recorded = fact.Find("default");
    Same("default", recorded ? value::ToJson(*recorded) : "", compiled);
  }

  void Enum(const Type& type, const Value& recorded) {
    std::string text, compiled;
    for (const Value& value : recorded.items()) text += fmt::format("{},", value.AsString());
    if (const Rule* rule = type.FindRule(RuleKind::kEnum))
      for (const Value& value : rule->values()) compiled += fmt::format("{},", value.AsString());
    Same("enum", text, compiled);
  }

  void Unions(const Type& type, const Value& recorded) {
    std::string text, compiled;
    for (const Value& one : recorded.items()) {
      text += fmt::format("{}:", one["discriminator"].AsString());
      for (const auto& member : one["fields-to-discriminateBy"].members())
        text += fmt::format("{}={},", member.key(), member.value.AsString());
    }
    for (const UnionInfo& one : type.info->unions()) {
      if (!one.name.empty()) continue;
      compiled += fmt::format("{}:", one.discriminator);
      std::set<std::string_view> members(one.members().begin(), one.members().end());
      for (std::string_view member : members)
        compiled += fmt::format("{}={},", member, type.Find(member)->extra->union_value);
    }
    Same("unions", text, compiled);
  }

  std::map<const Type*, std::string_view> file_of_;
  std::string_view file_;
  std::string where_;
};

TEST(Catalog, EqualsTheRecordedTypeFacts) {
  const char* folder = std::getenv("KEELSON_FACTS");
  if (!folder) GTEST_SKIP() << "KEELSON_FACTS is not set";
  FactsCheck check;
  for (const GroupVersionInfo& info : api::kCatalog.group_versions()) {
    if (info.file == "version") continue;  // not recorded as a type
    const auto path = std::filesystem::path(folder) / fmt::format("types/{}.json", info.file);
    std::ifstream in(path);
    std::ostringstream text;
    text << in.rdbuf();
    auto facts = value::ParseJson(text.str());
    ASSERT_TRUE(facts.has_value()) << path << ": " << facts.error().message;
    check.File(info, facts->root());
  }
  fmt::print("{} structs, {} fields, {} differences\n", check.structs, check.fields,
             check.differences);
  EXPECT_EQ(check.structs, 671u);
  EXPECT_EQ(check.fields, 2631u);
  EXPECT_EQ(check.differences, 0u);
}

}  // namespace
}  // namespace keelson::schema
