// Prints the tables as arrays of plain structs that refer to each other by address, so that the
// compiler lays them out in read-only memory. Every array is written front to back; what an entry
// refers to has been given its place before.

#include <algorithm>
#include <unordered_map>

#include "emit.h"

namespace keelson::apigen {

using schema::TypeKind;

namespace {

// One constant array under construction.
struct Array {
  std::string_view cpp_type;
  std::string_view name;
  std::string body;
  size_t size = 0;

  size_t Add(std::string_view row) {
    fmt::format_to(std::back_inserter(body), "{},\n", row);
    return size++;
  }
  std::string At(size_t index) const { return fmt::format("{}+{}", name, index); }
  std::string At(size_t index, size_t count) const { return count == 0 ? "nullptr" : At(index); }
};

std::string View(std::string_view text) {
  return text.empty() ? "{}" : fmt::format("{}sv", Literal(text));
}

class Tables {
 public:
  Tables(const Model& model, const NameTable& names, const EmitOptions& options)
      : model_(model), names_(names), options_(options) {}

  std::string Run() {
    for (size_t i = 0; i < model_.types.size(); ++i) TypeRow(static_cast<TypeIndex>(i));
    for (const ModelFile& file : model_.files) FileRow(file);
    return Print();
  }

 private:
  std::string TypeAt(TypeIndex index) const {
    return index == kNone ? "nullptr" : fmt::format("T+{}", index);
  }

  // A run of strings; equal runs share their place.
  std::string Strings(const std::vector<std::string>& texts) {
    if (texts.empty()) return "nullptr";
    std::string key;
    for (const std::string& text : texts) key += text + '\0';
    const auto [at, fresh] = string_runs_.try_emplace(std::move(key), strings_.size);
    if (fresh)
      for (const std::string& text : texts) strings_.Add(View(text));
    return strings_.At(at->second);
  }
  std::string Span(const std::vector<std::string>& texts) {
    return texts.empty() ? "{}" : fmt::format("{{{}, {}}}", Strings(texts), texts.size());
  }

  std::string Values(const std::vector<std::string>& texts) {
    std::string key;
    for (const std::string& text : texts) key += text + '\0';
    const auto [at, fresh] = value_runs_.try_emplace(std::move(key), values_.size);
    if (fresh)
      for (const std::string& text : texts)
        values_.Add(fmt::format("V::String({}sv)", Literal(text)));
    return values_.At(at->second);
  }

  std::string DefaultValue(const std::string& json) {
    const auto [at, fresh] = value_runs_.try_emplace("=" + json, values_.size);
    if (fresh) {
      if (json.front() == '"') {
        const std::string_view text(json.data() + 1, json.size() - 2);
        values_.Add(fmt::format("V::String({}sv, true)", Literal(text)));
      } else if (json == "true" || json == "false") {
        values_.Add(fmt::format("V::Bool({})", json));
      } else {
        values_.Add(fmt::format("V::Int({})", json));
      }
    }
    return values_.At(at->second);
  }

  std::string Extra(const ModelField& field) {
    if (!field.HasExtra()) return "nullptr";
    const std::string row =
        fmt::format("{{{}, {}, {}, {}, {}}}", View(field.description), View(field.gate),
                    View(field.merge_key), View(field.union_value),
                    field.default_json.empty() ? "nullptr" : DefaultValue(field.default_json));
    const auto [at, fresh] = extra_rows_.try_emplace(row, extras_.size);
    if (fresh) extras_.Add(row);
    return extras_.At(at->second);
  }

  std::string RuleRow(const ModelRule& rule) {
    using schema::RuleKind;
    const int kind = static_cast<int>(rule.kind);
    switch (rule.kind) {
      case RuleKind::kEnum:
        return fmt::format("{{RuleKind({}), {}, {{.values_data = {}}}}}", kind, rule.values.size(),
                           Values(rule.values));
      case RuleKind::kPattern:
      case RuleKind::kFormat:
        return fmt::format("{{RuleKind({}), {}, {{.text_data = {}}}}}", kind, rule.text.size(),
                           Literal(rule.text));
      case RuleKind::kMinimum:
      case RuleKind::kMaximum:
        return fmt::format("{{RuleKind({}), 0, {{.number = {}}}}}", kind, rule.count);
      default:
        return fmt::format("{{RuleKind({}), 0, {{.count = {}}}}}", kind, rule.count);
    }
  }

  std::string Slots(const ModelType& type) {
    std::vector<value::Name> names;
    std::vector<schema::Field> fields;
    for (const ModelField& field : type.fields) names.push_back(value::Name::Plain(field.name));
    for (const value::Name& name : names) fields.push_back({.name = &name});
    std::vector<uint32_t> slots(schema::SlotCount(fields.size()));
    schema::FillSlots(fields, slots);
    const size_t first = slots_.size;
    for (uint32_t slot : slots) slots_.Add(fmt::format("{:#x}", slot));
    return slots_.At(first);
  }

  std::string Info(const ModelType& type) {
    const ModelFile& file = model_.files[type.file];
    const size_t first_union = unions_.size;
    for (const ModelUnion& one : type.unions)
      unions_.Add(fmt::format("{{{}, {}, {}, {}, {}}}", View(one.name), View(one.discriminator),
                              Strings(one.members), one.members.size(), one.at_most_one));
    const size_t first_embedded = embedded_.size;
    for (const ModelEmbedded& one : type.embedded)
      embedded_.Add(fmt::format("{{{}, {}, {}}}", TypeAt(one.type), one.first_field, one.number));
    return fmt::format("{{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}}", View(type.name),
                       View(type.go_name), View(type.model), View(type.proto_name),
                       View(type.description), View(file.source->group), View(file.source->version),
                       unions_.At(first_union, type.unions.size()), type.unions.size(),
                       embedded_.At(first_embedded, type.embedded.size()), type.embedded.size());
  }

  void TypeRow(TypeIndex index) {
    const ModelType& type = model_.types[index];
    const size_t first_field = fields_.size;
    for (const ModelField& field : type.fields)
      fields_.Add(fmt::format("{{N+{}, {}, {}, {:#x}, {}}}", names_.IndexOf(field.name),
                              TypeAt(field.type), Extra(field), field.flags, field.number));
    const size_t first_wire = wire_.size;
    for (const ModelWire& wire : type.wire)
      wire_.Add(fmt::format("{{{}, {}, WireType({}), {}, {}}}", wire.number, wire.field,
                            static_cast<int>(wire.wire), wire.repeated, TypeAt(wire.embedded)));
    const size_t first_rule = rules_.size;
    std::vector<std::string> rules;
    for (const ModelRule& rule : type.rules) rules.push_back(RuleRow(rule));
    for (const std::string& rule : rules) rules_.Add(rule);
    const size_t slot_count = type.fields.empty() ? 0 : schema::SlotCount(type.fields.size());
    std::string info = "nullptr";
    if (type.info_of == index) {
      info_of_[index] = infos_.size;
      info = infos_.At(infos_.size);
      infos_.Add(Info(type));
    } else if (type.info_of != kNone) {
      info = infos_.At(info_of_.at(type.info_of));
    }
    types_.Add(fmt::format(
        "{{TypeKind({}), ListType({}), {:#x}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, "
        "nullptr, {}}}",
        static_cast<int>(type.kind), static_cast<int>(type.list_type), type.flags,
        type.fields.size(), type.wire.size(), slot_count == 0 ? 0 : slot_count - 1,
        type.rules.size(), type.keys.size(), fields_.At(first_field, type.fields.size()),
        type.fields.empty() ? "nullptr" : Slots(type), wire_.At(first_wire, type.wire.size()),
        TypeAt(type.element), rules_.At(first_rule, type.rules.size()), Strings(type.keys), info));
  }

  static schema::VerbSet VerbBits(const std::vector<std::string>& verbs) {
    static constexpr std::string_view kNames[] = {"create", "delete", "deletecollection", "get",
                                                  "list",   "patch",  "update",           "watch"};
    schema::VerbSet bits = 0;
    for (const std::string& verb : verbs)
      bits |= 1 << (std::ranges::find(kNames, verb) - std::begin(kNames));
    return bits;
  }

  std::string Gvk(TypeIndex index) const {
    const ModelType& type = model_.types[index];
    const schema::ApiFile& file = *model_.files[type.file].source;
    return fmt::format("{{{}, {}, {}}}", View(file.group), View(file.version), View(type.name));
  }

  std::string ResourceRow(const schema::ApiFile& file, const schema::ApiResource& resource) {
    const TypeIndex kind = model_.Find(file, resource.kind);
    const schema::ApiDeclaration* declared = nullptr;
    for (const auto& declaration : file.declarations)
      if (declaration.name == resource.kind) declared = &declaration;
    const size_t first_sub = subresources_.size;
    for (const auto& sub : resource.subresources) {
      const TypeIndex body = sub.body.empty() ? kind : model_.Find(file, sub.body);
      schema::VerbSet verbs = VerbBits(sub.verbs);
      if (sub.connect) verbs |= schema::kVerbConnect;
      subresources_.Add(fmt::format(
          "{{{}, {}, {}, {}, {}, {}}}", View(sub.name), Gvk(body), TypeAt(body), verbs, sub.path,
          sub.options.empty() ? "nullptr" : TypeAt(model_.Find(file, sub.options))));
    }
    const size_t first_column = columns_.size;
    for (const auto& column : resource.columns)
      columns_.Add(fmt::format("{{{}, {}, {}, {{}}, {{}}, {}}}", View(column.name),
                               View(column.type), View(column.format), column.wide ? 1 : 0));
    const size_t first_selector = selectors_.size;
    for (const auto& selector : resource.selectors)
      selectors_.Add(fmt::format("{{{}, {}}}", View(selector.label), View(selector.path)));
    const auto span = [](const Array& array, size_t first) {
      return array.size == first ? "{}"
                                 : fmt::format("{{{}, {}}}", array.At(first), array.size - first);
    };
    return fmt::format(
        "{{{}, {}, {}, {}, {}, {}, {}, Scope({}), {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}}",
        View(file.group), View(file.version), View(resource.kind), View(declared->list_kind),
        View(resource.plural), View(resource.singular), View(declared->description),
        resource.namespaced ? 1 : 0, VerbBits(resource.verbs), TypeAt(kind),
        declared->list_kind.empty() ? "nullptr" : TypeAt(model_.Find(file, declared->list_kind)),
        Span(resource.short_names), Span(resource.categories), span(subresources_, first_sub),
        span(columns_, first_column), span(selectors_, first_selector), View(resource.storage_hash),
        resource.returns_deleted,
        resource.stored.empty() ? "{}" : Gvk(model_.Find(file, resource.stored)));
  }

  void FileRow(const ModelFile& file) {
    const schema::ApiFile& source = *file.source;
    const size_t first_named = named_.size;
    for (TypeIndex type : file.named) named_.Add(TypeAt(type));
    const size_t first_kind = kinds_.size;
    for (const auto& [kind, type] : file.kinds)
      kinds_.Add(fmt::format("{{{}, {}}}", View(kind), TypeAt(type)));
    std::vector<std::string> rows;
    for (const auto& resource : source.resources) rows.push_back(ResourceRow(source, resource));
    const size_t first_resource = resources_.size;
    for (const std::string& row : rows) resources_.Add(row);
    const auto span = [](const Array& array, size_t first) {
      return array.size == first ? "{}"
                                 : fmt::format("{{{}, {}}}", array.At(first), array.size - first);
    };
    group_versions_.Add(fmt::format(
        "{{{}, {}, {}, {}, {}, {}, {}, {}, {}}}", View(source.group), View(source.version),
        View(source.name), source.served, source.group_priority, source.version_priority,
        span(named_, first_named), span(kinds_, first_kind), span(resources_, first_resource)));
  }

  std::string Print() {
    std::string out = fmt::format(
        "// Made by apigen. Do not edit.\n\n#include \"{}/catalog.h\"\n\n"
        "namespace {}::internal {{\n\nusing namespace std::string_view_literals;\n"
        "using namespace keelson::schema;\nusing V = keelson::value::Value;\n\n",
        options_.include_dir, options_.cpp_namespace);
    fmt::format_to(std::back_inserter(out),
                   "constinit const keelson::value::Name kNames[{}] = {{\n", names_.names().size());
    for (const std::string& name : names_.names())
      fmt::format_to(std::back_inserter(out), "keelson::value::Name::Quoted({}sv),\n",
                     Literal("\"" + name + "\":"));
    out += "};\n\nnamespace {\n";
    fmt::format_to(std::back_inserter(out),
                   "constexpr const Type* T = kTypes;\n"
                   "constexpr const keelson::value::Name* N = kNames;\n");
    const Array* const arrays[] = {&strings_,   &values_, &slots_,        &extras_,
                                   &rules_,     &unions_, &embedded_,     &infos_,
                                   &fields_,    &wire_,   &subresources_, &columns_,
                                   &selectors_, &named_,  &kinds_,        &resources_};
    for (const Array* array : arrays) PrintArray(out, *array, "constinit const ");
    out += "}  // namespace\n\n";
    PrintArray(out, types_, "constinit const ");
    PrintArray(out, group_versions_, "constinit const ");
    fmt::format_to(std::back_inserter(out), "}}  // namespace {}::internal\n",
                   options_.cpp_namespace);
    return out;
  }

  static void PrintArray(std::string& out, const Array& array, std::string_view how) {
    if (array.size == 0) return;
    fmt::format_to(std::back_inserter(out), "{}{} {}[{}] = {{\n{}}};\n", how, array.cpp_type,
                   array.name, array.size, array.body);
  }

  const Model& model_;
  const NameTable& names_;
  const EmitOptions& options_;
  std::unordered_map<std::string, size_t> string_runs_;
  std::unordered_map<std::string, size_t> value_runs_;
  std::unordered_map<std::string, size_t> extra_rows_;
  std::unordered_map<TypeIndex, size_t> info_of_;
  Array strings_{"std::string_view", "S", {}};
  Array values_{"keelson::value::Value", "Z", {}};
  Array slots_{"uint32_t", "L", {}};
  Array extras_{"FieldExtra", "E", {}};
  Array rules_{"Rule", "R", {}};
  Array unions_{"UnionInfo", "U", {}};
  Array embedded_{"EmbeddedInfo", "B", {}};
  Array infos_{"TypeInfo", "I", {}};
  Array fields_{"Field", "F", {}};
  Array wire_{"WireField", "W", {}};
  Array types_{"Type", "kTypes", {}};
  Array subresources_{"Subresource", "kSubresources", {}};
  Array columns_{"TableColumn", "kColumns", {}};
  Array selectors_{"SelectableField", "kSelectors", {}};
  Array named_{"Type* const", "kNamed", {}};
  Array kinds_{"KindInfo", "kKinds", {}};
  Array resources_{"ResourceInfo", "kResources", {}};
  Array group_versions_{"GroupVersionInfo", "kGroupVersions", {}};
};

}  // namespace

NameTable::NameTable(const Model& model) {
  for (const ModelType& type : model.types)
    for (const ModelField& field : type.fields) names_.push_back(field.name);
  std::ranges::sort(names_);
  names_.erase(std::ranges::unique(names_).begin(), names_.end());
}

size_t NameTable::IndexOf(std::string_view name) const {
  const auto found = std::ranges::lower_bound(names_, name);
  KEELSON_CHECK(found != names_.end() && *found == name);
  return static_cast<size_t>(found - names_.begin());
}

std::string FileIdentifier(std::string_view file_name) {
  std::string identifier(file_name);
  for (char& c : identifier)
    if (c == '.' || c == '-') c = '_';
  return identifier;
}

std::string Literal(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string EmitTables(const Model& model, const NameTable& names, const EmitOptions& options) {
  return Tables(model, names, options).Run();
}

std::string EmitCatalogHeader(const Model& model, const NameTable& names,
                              const EmitOptions& options) {
  return fmt::format(
      "#pragma once\n\n// Made by apigen. Do not edit.\n\n#include \"schema/resource.h\"\n\n"
      "namespace {0} {{\n\nnamespace internal {{\n"
      "extern const keelson::value::Name kNames[{1}];\n"
      "extern const keelson::schema::Type kTypes[{2}];\n"
      "extern const keelson::schema::GroupVersionInfo kGroupVersions[{3}];\n"
      "}}  // namespace internal\n\n"
      "inline constexpr keelson::schema::Catalog kCatalog(internal::kGroupVersions);\n\n"
      "}}  // namespace {0}\n",
      options.cpp_namespace, names.names().size(), model.types.size(), model.files.size());
}

}  // namespace keelson::apigen
