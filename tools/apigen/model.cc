#include "model.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <unordered_map>

namespace keelson::apigen {

using schema::ApiDeclaration;
using schema::ApiField;
using schema::ApiFile;
using schema::ApiTypeRef;
using schema::Field;
using schema::ListType;
using schema::RuleKind;
using schema::Type;
using schema::TypeKind;
using schema::WireType;

namespace {

const std::unordered_map<std::string_view, TypeKind> kScalarKinds = {
    {"string", TypeKind::kString},
    {"int32", TypeKind::kInt32},
    {"int64", TypeKind::kInt64},
    {"bool", TypeKind::kBool},
    {"double", TypeKind::kDouble},
    {"bytes", TypeKind::kBytes},
    {"quantity", TypeKind::kQuantity},
    {"intOrString", TypeKind::kIntOrString},
    {"time", TypeKind::kTime},
    {"microTime", TypeKind::kMicroTime},
    {"duration", TypeKind::kDuration},
    {"rawExtension", TypeKind::kRawExtension},
    {"fieldsV1", TypeKind::kFieldsV1},
    {"json", TypeKind::kJson},
    {"any", TypeKind::kAny},
    {"schemaOrBool", TypeKind::kSchemaOrBool},
    {"schemaOrArray", TypeKind::kSchemaOrArray},
    {"schemaOrStrings", TypeKind::kSchemaOrStrings},
};

// k8s.io/api/core/v1 -> io.k8s.api.core.v1
std::string ModelPrefix(std::string_view package) {
  const size_t slash = package.find('/');
  std::string domain(package.substr(0, slash));
  std::string reversed;
  for (size_t end = domain.size(); end > 0;) {
    const size_t dot = domain.rfind('.', end - 1);
    const size_t begin = dot == std::string::npos ? 0 : dot + 1;
    if (!reversed.empty()) reversed += '.';
    reversed += domain.substr(begin, end - begin);
    end = dot == std::string::npos ? 0 : dot;
  }
  std::string path(slash == std::string_view::npos ? "" : package.substr(slash));
  std::ranges::replace(path, '/', '.');
  return reversed + path;
}

std::string ProtoPrefix(std::string_view package) {
  std::string prefix(package);
  std::ranges::replace(prefix, '/', '.');
  return prefix;
}

bool IsScalarWithZero(TypeKind kind) {
  return kind == TypeKind::kString || kind == TypeKind::kInt32 || kind == TypeKind::kInt64 ||
         kind == TypeKind::kBool;
}

WireType WireOf(TypeKind kind) {
  switch (kind) {
    case TypeKind::kInt32:
    case TypeKind::kInt64:
    case TypeKind::kBool:
      return WireType::kVarint;
    case TypeKind::kDouble:
      return WireType::kFixed64;
    default:
      return WireType::kBytes;
  }
}

class Builder {
 public:
  explicit Builder(const std::vector<ApiFile>& files) : sources_(files) {}

  Result<Model> Run() {
    for (const ApiFile& file : sources_) TRY_VOID(Declare(file));
    for (size_t i = 0; i < pending_.size(); ++i) TRY_VOID(Fill(i));
    for (size_t i = 0; i < model_.files.size(); ++i) Register(i);
    MarkReachable();
    TRY_VOID(CheckResources());
    return std::move(model_);
  }

 private:
  enum class State : uint8_t { kWaiting, kFilling, kDone };
  struct Pending {
    size_t file = 0;
    const ApiDeclaration* declaration = nullptr;
    bool list = false;  // the list type of a kind
    State state = State::kWaiting;
  };

  static std::unexpected<Error> Bad(const ApiFile& file, schema::SourcePlace place,
                                    std::string_view what) {
    return Fail(ErrorCode::kInvalid, "{}.api:{}:{}: {}", file.name, place.line, place.column, what);
  }

  // Gives every declared type its index, so that references may go in any direction.
  Result<void> Declare(const ApiFile& file) {
    for (const ModelFile& other : model_.files)
      if (other.source->name == file.name) return Bad(file, {1, 1}, "two files of this name");
    const size_t index = model_.files.size();
    model_.files.push_back({.source = &file});
    for (const ApiDeclaration& declaration : file.declarations) {
      TRY_VOID(DeclareOne(index, declaration, declaration.name, false));
      if (!declaration.list_kind.empty())
        TRY_VOID(DeclareOne(index, declaration, declaration.list_kind, true));
    }
    return {};
  }

  Result<void> DeclareOne(size_t file, const ApiDeclaration& declaration, const std::string& name,
                          bool list) {
    const ApiFile& source = *model_.files[file].source;
    const auto index = static_cast<TypeIndex>(model_.types.size());
    if (!model_.names.emplace(source.name + "." + name, index).second)
      return Bad(source, declaration.place, name + " is declared twice");
    ModelType& type = model_.types.emplace_back();
    type.name = name;
    type.file = file;
    type.info_of = index;
    if (declaration.form == ApiDeclaration::Form::kScalar) {
      type.kind = kScalarKinds.at(declaration.scalar);
      if (!scalars_.emplace(type.kind, index).second)
        return Bad(source, declaration.place, "a second type for " + declaration.scalar);
    } else {
      type.kind = TypeKind::kStruct;  // enums, strings and aliases learn theirs when filled
    }
    const std::string& package = source.package;
    type.go_name = declaration.go_name.empty() ? package.substr(package.rfind('/') + 1) + "." + name
                                               : declaration.go_name;
    const bool has_model = declaration.form == ApiDeclaration::Form::kKind ||
                           declaration.form == ApiDeclaration::Form::kStruct ||
                           declaration.form == ApiDeclaration::Form::kScalar;
    if (has_model && !source.unpublished && !declaration.unpublished)
      type.model = ModelPrefix(package) + "." + name;
    if (has_model && !source.no_wire && !declaration.no_wire)
      type.proto_name = ProtoPrefix(package) + "." + name;
    model_.files[file].named.push_back(index);
    pending_.push_back({file, &declaration, list});
    return {};
  }

  Result<void> Fill(size_t index) {
    Pending& pending = pending_[index];
    const ApiFile& source = *model_.files[pending.file].source;
    const ApiDeclaration& declaration = *pending.declaration;
    if (pending.state == State::kDone) return {};
    if (pending.state == State::kFilling)
      return Bad(source, declaration.place, declaration.name + " embeds itself");
    pending.state = State::kFilling;
    if (pending.list) {
      TRY_VOID(FillList(index));
    } else {
      model_.types[index].description = declaration.description;
      switch (declaration.form) {
        case ApiDeclaration::Form::kEnum:
        case ApiDeclaration::Form::kString:
          FillString(index);
          break;
        case ApiDeclaration::Form::kAlias:
          TRY_VOID(FillAlias(index));
          break;
        case ApiDeclaration::Form::kKind:
        case ApiDeclaration::Form::kStruct:
        case ApiDeclaration::Form::kScalar:
          TRY_VOID(FillStruct(index));
          break;
      }
    }
    pending_[index].state = State::kDone;
    return {};
  }

  void FillString(size_t index) {
    const ApiDeclaration& declaration = *pending_[index].declaration;
    ModelType& type = model_.types[index];
    type.kind = TypeKind::kString;
    type.known_values = declaration.values;
    if (declaration.form != ApiDeclaration::Form::kEnum) return;
    std::vector<std::string> sorted = declaration.values;
    std::ranges::sort(sorted);
    type.rules.push_back({.kind = RuleKind::kEnum, .values = std::move(sorted)});
  }

  Result<void> FillAlias(size_t index) {
    const Pending pending = pending_[index];
    TRY(TypeIndex target, Resolve(pending.file, pending.declaration->alias));
    const ModelType& from = model_.types[target];
    const TypeKind kind = from.kind;
    const TypeIndex element = from.element;
    const ListType list_type = from.list_type;
    ModelType& type = model_.types[index];
    type.kind = kind;
    type.element = element;
    type.list_type = list_type;
    if (pending.declaration->wrapped) type.flags |= Type::kWrapped;
    return {};
  }

  // kind X list=XList declares the usual list beside it.
  Result<void> FillList(size_t index) {
    const Pending pending = pending_[index];
    const ApiFile& source = *model_.files[pending.file].source;
    ApiDeclaration list;
    list.place = pending.declaration->place;
    list.form = ApiDeclaration::Form::kKind;
    list.name = pending.declaration->list_kind;
    list.no_wire = pending.declaration->no_wire;
    const bool here = source.name == "meta.v1";
    ApiField metadata{.place = list.place, .number = 1, .name = "metadata", .omit_empty = true};
    metadata.type = {.form = ApiTypeRef::Form::kNamed,
                     .name = here ? "ListMeta" : "meta.v1.ListMeta",
                     .place = list.place};
    metadata.description = "Standard metadata of lists.";
    ApiField items{.place = list.place, .number = 2, .name = "items", .required = true};
    ApiTypeRef element{
        .form = ApiTypeRef::Form::kNamed, .name = pending.declaration->name, .place = list.place};
    items.type = {.form = ApiTypeRef::Form::kList, .place = list.place};
    items.type.element.push_back(std::move(element));
    items.description = "The objects.";
    list.fields = {std::move(metadata), std::move(items)};
    model_.types[index].description = "A list of " + pending.declaration->name + " objects.";
    return FillFields(index, list);
  }

  Result<void> FillStruct(size_t index) { return FillFields(index, *pending_[index].declaration); }

  Result<void> FillFields(size_t index, const ApiDeclaration& declaration) {
    const size_t file = pending_[index].file;
    const bool scalar = declaration.form == ApiDeclaration::Form::kScalar;
    {
      ModelType& type = model_.types[index];
      if (declaration.atomic) type.flags |= Type::kAtomic;
      if (declaration.own_json || scalar) type.flags |= Type::kOwnJson;
      if (type.proto_name.empty()) type.flags |= Type::kNoProtobuf;
    }
    if (declaration.form == ApiDeclaration::Form::kKind) {
      ApiField type_meta{.place = declaration.place, .embedded = true};
      type_meta.type = {
          .form = ApiTypeRef::Form::kNamed,
          .name = model_.files[file].source->name == "meta.v1" ? "TypeMeta" : "meta.v1.TypeMeta",
          .place = declaration.place};
      TRY_VOID(Embed(index, file, type_meta));
      model_.types[index].flags |= Type::kHasTypeMeta;
    }
    for (const ApiField& field : declaration.fields)
      TRY_VOID(field.embedded ? Embed(index, file, field) : AddField(index, file, field, scalar));
    ModelType& type = model_.types[index];
    std::ranges::sort(type.wire, {}, &ModelWire::number);
    std::set<std::string_view> seen;
    for (const ModelField& field : type.fields)
      if (!seen.insert(field.name).second)
        return Bad(*model_.files[file].source, declaration.place,
                   "field " + field.name + " comes in twice");
    if (type.fields.size() > 4096)
      return Bad(*model_.files[file].source, declaration.place, "too many fields");
    return {};
  }

  Result<void> Embed(size_t index, size_t file, const ApiField& field) {
    TRY(TypeIndex inner, Resolve(file, field.type));
    TRY_VOID(Fill(static_cast<size_t>(inner)));
    if (model_.types[inner].kind != TypeKind::kStruct)
      return Bad(*model_.files[file].source, field.place, "only a struct can be embedded");
    ModelType& type = model_.types[index];
    const auto first = static_cast<uint16_t>(type.fields.size());
    type.embedded.push_back({inner, first, field.number});
    if (field.number != 0)
      type.wire.push_back({.number = field.number, .field = first, .embedded = inner});
    for (ModelField copy : model_.types[inner].fields) {
      copy.number = 0;
      type.fields.push_back(std::move(copy));
    }
    return {};
  }

  Result<void> AddField(size_t index, size_t file, const ApiField& source, bool scalar) {
    ModelField field{.name = source.name, .number = source.number};
    TRY(TypeIndex base, Resolve(file, source.type));
    // The schema inside an either-or type of CustomResourceDefinition.
    if (scalar && model_.types[base].kind == TypeKind::kStruct) model_.types[index].element = base;
    TRY(field.type, Specialise(file, base, source));
    TRY_VOID(FieldFlags(index, file, source, field, scalar));
    field.description = source.description;
    field.gate = source.gate;
    field.merge_key = source.merge_key;
    ModelType& type = model_.types[index];
    if (source.number != 0 && !type.proto_name.empty()) {
      const ModelType& target = model_.types[field.type];
      const bool map = target.kind == TypeKind::kMap;
      const bool list = target.kind == TypeKind::kList && (target.flags & Type::kWrapped) == 0;
      const TypeKind kind = list ? model_.types[target.element].kind : target.kind;
      type.wire.push_back({.number = source.number,
                           .field = static_cast<uint16_t>(type.fields.size()),
                           .wire = WireOf(kind),
                           .repeated = map || list});
    }
    type.fields.push_back(std::move(field));
    return {};
  }

  Result<void> FieldFlags(size_t index, size_t file, const ApiField& source, ModelField& field,
                          bool scalar) {
    const ModelType& target = model_.types[field.type];
    const auto add = [&field](bool when, uint32_t flag) { field.flags |= when ? flag : 0; };
    add(source.required, Field::kRequired);
    add(source.omit_empty && !scalar, Field::kOmitEmpty);
    add(source.omit_zero, Field::kOmitZero);
    add(source.pointer, Field::kPointer);
    add(source.hidden || scalar, Field::kNotInJson);
    add(source.immutable, Field::kImmutable);
    add(source.merge, Field::kPatchMerge);
    add(source.replace, Field::kPatchReplace);
    add(source.retain_keys, Field::kPatchRetainKeys);
    add(source.granular, Field::kGranular);
    add(source.atomic && target.kind == TypeKind::kStruct, Field::kAtomic);
    // The same rule that upstream's OpenAPI follows: a value that is always written has the
    // default that writing it makes visible, and value structs are always written.
    const bool published = !model_.types[index].model.empty();
    const bool value_struct =
        target.kind == TypeKind::kStruct || target.kind == TypeKind::kSchemaOrBool ||
        target.kind == TypeKind::kSchemaOrArray || target.kind == TypeKind::kSchemaOrStrings;
    if (source.default_json) {
      TRY_VOID(CheckDefault(file, source, target.kind));
      field.default_json = *source.default_json;
      field.flags |= Field::kDefault;
    } else if (published && !scalar && !source.pointer &&
               (value_struct || (IsScalarWithZero(target.kind) && !source.omit_empty))) {
      field.flags |= Field::kZeroDefault;
    }
    add(source.discriminator, Field::kUnionDiscriminator);
    add(source.member || !source.one_of.empty() || !source.zero_or_one_of.empty(),
        Field::kUnionMember);
    if (source.member) field.union_value = *source.member;
    AddUnions(index, source);
    return {};
  }

  Result<void> CheckDefault(size_t file, const ApiField& source, TypeKind kind) {
    const std::string& text = *source.default_json;
    const bool quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
    const bool number = text.find_first_not_of("-0123456789") == std::string::npos;
    const bool fits = kind == TypeKind::kString  ? quoted && text.find('\\') == std::string::npos
                      : kind == TypeKind::kBool  ? text == "true" || text == "false"
                      : kind == TypeKind::kInt32 ? number
                      : kind == TypeKind::kInt64 ? number
                                                 : false;
    if (!fits)
      return Bad(*model_.files[file].source, source.place, "default does not fit the type");
    return {};
  }

  void AddUnions(size_t index, const ApiField& source) {
    ModelType& type = model_.types[index];
    const auto group = [&type](std::string_view name) -> ModelUnion& {
      for (ModelUnion& existing : type.unions)
        if (existing.name == name) return existing;
      return type.unions.emplace_back(ModelUnion{.name = std::string(name)});
    };
    if (source.discriminator) group("").discriminator = source.name;
    if (source.member) group("").members.push_back(source.name);
    if (!source.one_of.empty()) group(source.one_of).members.push_back(source.name);
    if (!source.zero_or_one_of.empty()) {
      ModelUnion& one = group(source.zero_or_one_of);
      one.members.push_back(source.name);
      one.at_most_one = true;
    }
  }

  // The field's own facts about lists, maps and ranges make a variant of its type.
  Result<TypeIndex> Specialise(size_t file, TypeIndex base, const ApiField& source) {
    const ApiFile& api = *model_.files[file].source;
    ModelType variant = model_.types[base];
    const bool list = variant.kind == TypeKind::kList;
    const bool listlike = list || variant.kind == TypeKind::kBytes;
    if ((source.set || !source.map_keys.empty()) && !list)
      return Bad(api, source.place, "set and map(...) are for lists");
    if (source.granular && variant.kind != TypeKind::kStruct && variant.kind != TypeKind::kMap)
      return Bad(api, source.place, "granular is for structs and maps");
    bool changed = false;
    if (listlike && (source.atomic || source.set || !source.map_keys.empty())) {
      variant.list_type = source.atomic ? ListType::kAtomic
                          : source.set  ? ListType::kSet
                                        : ListType::kMap;
      variant.keys = source.map_keys;
      changed = true;
    } else if (source.atomic && variant.kind == TypeKind::kMap) {
      variant.flags |= Type::kAtomic;
      changed = true;
    } else if (source.atomic && variant.kind != TypeKind::kStruct) {
      return Bad(api, source.place, "atomic is for lists, maps and structs");
    }
    for (const auto& constraint : source.constraints) {
      TRY(ModelRule rule, MakeRule(api, source, constraint));
      variant.rules.push_back(std::move(rule));
      changed = true;
    }
    if (!changed) return base;
    if (variant.kind == TypeKind::kStruct)
      return Bad(api, source.place, "a struct takes no constraint");
    return Intern(std::move(variant));
  }

  Result<ModelRule> MakeRule(const ApiFile& api, const ApiField& source,
                             const schema::ApiConstraint& constraint) {
    static const std::unordered_map<std::string_view, RuleKind> kKinds = {
        {"min", RuleKind::kMinimum},         {"max", RuleKind::kMaximum},
        {"minLength", RuleKind::kMinLength}, {"maxLength", RuleKind::kMaxLength},
        {"maxBytes", RuleKind::kMaxBytes},   {"maxItems", RuleKind::kMaxItems},
        {"pattern", RuleKind::kPattern},     {"format", RuleKind::kFormat},
    };
    ModelRule rule{.kind = kKinds.at(constraint.name)};
    if (rule.kind == RuleKind::kPattern || rule.kind == RuleKind::kFormat) {
      rule.text = constraint.value;
      return rule;
    }
    const char* end = constraint.value.data() + constraint.value.size();
    const auto parsed = std::from_chars(constraint.value.data(), end, rule.count);
    if (parsed.ec != std::errc() || parsed.ptr != end)
      return Bad(api, source.place, constraint.name + " needs a whole number");
    rule.number = static_cast<double>(rule.count);
    return rule;
  }

  Result<TypeIndex> Resolve(size_t file, const ApiTypeRef& ref) {
    const ApiFile& source = *model_.files[file].source;
    ModelType type;
    switch (ref.form) {
      case ApiTypeRef::Form::kNamed: {
        const TypeIndex found = model_.Find(source, ref.name);
        if (found == kNone) return Bad(source, ref.place, "no type " + ref.name);
        // An alias or a named string must be known before a variant of it can be made.
        if (pending_[found].declaration->form != ApiDeclaration::Form::kKind &&
            pending_[found].declaration->form != ApiDeclaration::Form::kStruct &&
            pending_[found].state == State::kWaiting)
          TRY_VOID(Fill(static_cast<size_t>(found)));
        return found;
      }
      case ApiTypeRef::Form::kScalar:
        type.kind = kScalarKinds.at(ref.name);
        // Those with a declaration of their own bring its names along.
        if (const auto declared = scalars_.find(type.kind); declared != scalars_.end())
          return declared->second;
        return Intern(std::move(type));
      case ApiTypeRef::Form::kList:
      case ApiTypeRef::Form::kMap:
        type.kind = ref.form == ApiTypeRef::Form::kList ? TypeKind::kList : TypeKind::kMap;
        TRY(type.element, Resolve(file, ref.element[0]));
        return Intern(std::move(type));
    }
    return kNone;
  }

  // One entry for all anonymous types that look the same.
  TypeIndex Intern(ModelType type) {
    std::string key =
        fmt::format("{} {} {} {} {}", static_cast<int>(type.kind), static_cast<int>(type.list_type),
                    type.flags, type.element, type.info_of);
    for (const std::string& name : type.keys) key += " k" + name;
    for (const ModelRule& rule : type.rules) {
      key += fmt::format(" r{} {} {}", static_cast<int>(rule.kind), rule.count, rule.text);
      for (const std::string& value : rule.values) key += " v" + value;
    }
    const auto [at, fresh] =
        anonymous_.try_emplace(std::move(key), static_cast<TypeIndex>(model_.types.size()));
    if (fresh) {
      type.name.clear();
      model_.types.push_back(std::move(type));
    }
    return at->second;
  }

  void Register(size_t index) {
    ModelFile& file = model_.files[index];
    std::ranges::sort(file.named, {}, [this](TypeIndex type) { return model_.types[type].name; });
    for (const ModelFile& other : model_.files) {
      for (const ApiDeclaration& declaration : other.source->declarations) {
        const bool own = &other == &file && declaration.form == ApiDeclaration::Form::kKind &&
                         !declaration.unversioned && !declaration.everywhere;
        const bool core = file.source->versioned && file.source->group.empty();
        const bool shared =
            (declaration.everywhere && file.source->versioned) || (declaration.unversioned && core);
        if (!own && !shared) continue;
        const TypeIndex type = model_.names.at(other.source->name + "." + declaration.name);
        file.kinds.emplace_back(declaration.name, type);
        if (own && !declaration.list_kind.empty())
          file.kinds.emplace_back(declaration.list_kind, model_.names.at(other.source->name + "." +
                                                                         declaration.list_kind));
      }
    }
    std::ranges::sort(file.kinds);
  }

  // kHasDefaults and kHasRules: a fixed point over fields and elements.
  void MarkReachable() {
    for (bool changed = true; changed;) {
      changed = false;
      for (ModelType& type : model_.types) {
        uint16_t flags = type.flags;
        if (!type.rules.empty()) flags |= Type::kHasRules;
        const auto take = [&](TypeIndex from) {
          flags |= model_.types[from].flags & (Type::kHasDefaults | Type::kHasRules);
        };
        if (type.element != kNone) take(type.element);
        for (const ModelField& field : type.fields) {
          if (field.flags & Field::kDefault) flags |= Type::kHasDefaults;
          if (field.flags & (Field::kRequired | Field::kImmutable)) flags |= Type::kHasRules;
          take(field.type);
        }
        changed |= flags != type.flags;
        type.flags = flags;
      }
    }
  }

  Result<void> CheckResources() {
    for (const ModelFile& file : model_.files) {
      const ApiFile& source = *file.source;
      for (const schema::ApiResource& resource : source.resources) {
        const TypeIndex type = model_.Find(source, resource.kind);
        if (type == kNone || (model_.types[type].flags & Type::kHasTypeMeta) == 0)
          return Bad(source, resource.place, resource.kind + " is not a kind of this file");
        for (const auto& sub : resource.subresources)
          for (const std::string* type : {&sub.body, &sub.options})
            if (!type->empty() && model_.Find(source, *type) == kNone)
              return Bad(source, sub.place, "no type " + *type);
        if (!resource.stored.empty() && model_.Find(source, resource.stored) == kNone)
          return Bad(source, resource.place, "no type " + resource.stored);
      }
    }
    return {};
  }

  const std::vector<ApiFile>& sources_;
  Model model_;
  std::vector<Pending> pending_;  // by type index; declared types come first
  std::map<std::string, TypeIndex> anonymous_;
  std::map<TypeKind, TypeIndex> scalars_;  // declared with `scalar`
};

}  // namespace

TypeIndex Model::Find(const ApiFile& from, std::string_view name) const {
  const bool local = name.find('.') == std::string_view::npos;
  const auto found = names.find(local ? from.name + "." + std::string(name) : std::string(name));
  return found == names.end() ? kNone : found->second;
}

Result<Model> BuildModel(const std::vector<ApiFile>& files) { return Builder(files).Run(); }

}  // namespace keelson::apigen
