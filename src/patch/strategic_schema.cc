#include "patch/strategic_schema.h"

namespace keelson::patch {
namespace {

using schema::Field;
using schema::Type;
using schema::TypeKind;

// Go declares the types that write their own JSON as structs; none of their fields shows.
bool IsGoStruct(const Type& type) {
  switch (type.kind) {
    case TypeKind::kStruct:
    case TypeKind::kRawExtension:
    case TypeKind::kFieldsV1:
    case TypeKind::kJson:
    case TypeKind::kTime:
    case TypeKind::kMicroTime:
    case TypeKind::kDuration:
    case TypeKind::kQuantity:
    case TypeKind::kIntOrString:
    case TypeKind::kSchemaOrBool:
    case TypeKind::kSchemaOrArray:
    case TypeKind::kSchemaOrStrings:
      return true;
    default:
      return false;
  }
}

Result<const Field*> FindField(const Type* type, std::string_view name) {
  if (!type || !IsGoStruct(*type)) {
    return Fail(ErrorCode::kInvalid,
                "merging an object in json but data type is not struct, instead is: {}",
                GoKind(type));
  }
  const Field* field = type->kind == TypeKind::kStruct ? type->Find(name) : nullptr;
  if (!field) {
    return Fail(ErrorCode::kInvalid,
                "unable to find api field in struct {} for the json field \"{}\"", type->name(),
                name);
  }
  return field;
}

Strategy StrategyOf(const Field& field) {
  if (field.Has(Field::kPatchMerge)) return Strategy::kMerge;
  return field.Has(Field::kPatchReplace) ? Strategy::kReplace : Strategy::kDefault;
}

}  // namespace

std::string_view GoKind(const Type* type) {
  if (!type) return "interface";
  if (IsGoStruct(*type)) return "struct";
  switch (type->kind) {
    case TypeKind::kMap:
      return "map";
    case TypeKind::kList:
    case TypeKind::kBytes:
      return "slice";
    case TypeKind::kString:
      return "string";
    case TypeKind::kInt32:
      return "int32";
    case TypeKind::kInt64:
      return "int64";
    case TypeKind::kBool:
      return "bool";
    case TypeKind::kDouble:
      return "float64";
    default:
      return "interface";
  }
}

Result<StrategicField> LookupObject(const Type* type, std::string_view name) {
  TRY(auto field, FindField(type, name));
  return StrategicField{field->type, StrategyOf(*field), field->merge_key()};
}

Result<StrategicField> LookupList(const Type* type, std::string_view name) {
  TRY(auto field, FindField(type, name));
  StrategicField found{field->type, StrategyOf(*field), field->merge_key()};
  if (field->type->kind == TypeKind::kList) {
    found.type = field->type->element;
    if (!field->pointer() && found.type &&
        (found.type->kind == TypeKind::kList || found.type->kind == TypeKind::kBytes)) {
      return Fail(ErrorCode::kInvalid, "unexpected slice of slice");
    }
    return found;
  }
  if (field->pointer() || field->type->kind == TypeKind::kBytes) return found;
  return Fail(ErrorCode::kInvalid, "expected slice or array type, but got: {}", GoKind(type));
}

}  // namespace keelson::patch
