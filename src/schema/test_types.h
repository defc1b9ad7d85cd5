#pragma once

// A small API, shaped like the built-in one, for tests that must not depend on its tables.

#include <array>
#include <span>

#include "schema/type.h"

namespace keelson::schema::testing {

using value::Name;

inline constexpr Type kText{.kind = TypeKind::kString};
inline constexpr Type kInt{.kind = TypeKind::kInt32};
inline constexpr Type kLong{.kind = TypeKind::kInt64};
inline constexpr Type kFlag{.kind = TypeKind::kBool};
inline constexpr Type kReal{.kind = TypeKind::kDouble};
inline constexpr Type kData{.kind = TypeKind::kBytes};
inline constexpr Type kAmount{.kind = TypeKind::kQuantity};
inline constexpr Type kPort{.kind = TypeKind::kIntOrString};
inline constexpr Type kWhen{.kind = TypeKind::kTime};
inline constexpr Type kSpan{.kind = TypeKind::kDuration};
inline constexpr Type kOpaque{.kind = TypeKind::kRawExtension};
inline constexpr Type kTextMap{.kind = TypeKind::kMap, .element = &kText};
inline constexpr Type kDataMap{.kind = TypeKind::kMap, .element = &kData};
inline constexpr Type kAmountMap{.kind = TypeKind::kMap, .element = &kAmount};
inline constexpr Type kTextList{.kind = TypeKind::kList, .element = &kText};

// A struct type over fields that live as long as it does.
template <size_t N>
struct StructOf {
  std::array<uint32_t, SlotCount(N)> slots{};
  TypeInfo info;
  Type type;
  constexpr StructOf(std::string_view name, std::string_view go_name,
                     const std::array<Field, N>& fields, std::span<const WireField> wire = {},
                     uint16_t flags = 0)
      : info{.name = name, .go_name = go_name} {
    FillSlots(fields, slots);
    type.kind = TypeKind::kStruct;
    type.flags = flags;
    type.fields_data = fields.data();
    type.field_count = N;
    type.slots = slots.data();
    type.slot_mask = static_cast<uint16_t>(slots.size() - 1);
    type.wire_data = wire.data();
    type.wire_count = static_cast<uint16_t>(wire.size());
    type.info = &info;
  }
  StructOf(const StructOf&) = delete;
};

#define KEELSON_TEST_NAME(id, text) inline constexpr Name id = Name::Quoted("\"" text "\":")
KEELSON_TEST_NAME(kKindName, "kind");
KEELSON_TEST_NAME(kApiVersionName, "apiVersion");
KEELSON_TEST_NAME(kMetadataName, "metadata");
KEELSON_TEST_NAME(kNameName, "name");
KEELSON_TEST_NAME(kLabelsName, "labels");
KEELSON_TEST_NAME(kCreatedName, "creationTimestamp");
KEELSON_TEST_NAME(kSpecName, "spec");
KEELSON_TEST_NAME(kStatusName, "status");
KEELSON_TEST_NAME(kContainersName, "containers");
KEELSON_TEST_NAME(kHostNetworkName, "hostNetwork");
KEELSON_TEST_NAME(kGraceName, "terminationGracePeriodSeconds");
KEELSON_TEST_NAME(kImageName, "image");
KEELSON_TEST_NAME(kArgsName, "args");
KEELSON_TEST_NAME(kResourcesName, "resources");
KEELSON_TEST_NAME(kLimitsName, "limits");
KEELSON_TEST_NAME(kProbeName, "livenessProbe");
KEELSON_TEST_NAME(kPortName, "port");
KEELSON_TEST_NAME(kDelayName, "initialDelaySeconds");
KEELSON_TEST_NAME(kPhaseName, "phase");
KEELSON_TEST_NAME(kDataName, "data");
KEELSON_TEST_NAME(kTimeoutName, "timeout");
KEELSON_TEST_NAME(kExtraName, "extra");
KEELSON_TEST_NAME(kRatioName, "ratio");
#undef KEELSON_TEST_NAME

inline constexpr uint32_t kOmit = Field::kOmitEmpty;
inline constexpr uint32_t kOptional = Field::kOmitEmpty | Field::kPointer;

inline constexpr std::array kMetaFields = {
    Field{.name = &kNameName, .type = &kText, .flags = kOmit, .proto_number = 1},
    Field{.name = &kCreatedName,
          .type = &kWhen,
          .flags = kOmit | Field::kOmitZero,
          .proto_number = 8},
    Field{.name = &kLabelsName, .type = &kTextMap, .flags = kOmit, .proto_number = 11}};
inline constexpr std::array kMetaWire = {WireField{.number = 1, .field = 0},
                                         WireField{.number = 8, .field = 1},
                                         WireField{.number = 11, .field = 2, .repeated = true}};
inline constexpr StructOf kObjectMeta("ObjectMeta", "v1.ObjectMeta", kMetaFields, kMetaWire);

inline constexpr std::array kHandlerFields = {
    Field{.name = &kPortName, .type = &kPort, .flags = kOptional, .proto_number = 1}};
inline constexpr std::array kHandlerWire = {WireField{.number = 1, .field = 0}};
inline constexpr StructOf kProbeHandler("ProbeHandler", "v1.ProbeHandler", kHandlerFields,
                                        kHandlerWire);
inline constexpr std::array kProbeFields = {
    Field{.name = &kPortName, .type = &kPort, .flags = kOptional},
    Field{.name = &kDelayName, .type = &kInt, .flags = kOmit, .proto_number = 2}};
inline constexpr std::array kProbeWire = {
    WireField{.number = 1, .field = 0, .embedded = &kProbeHandler.type},
    WireField{.number = 2, .field = 1, .wire = WireType::kVarint}};
inline constexpr StructOf kProbe("Probe", "v1.Probe", kProbeFields, kProbeWire);

inline constexpr std::array kResourcesFields = {
    Field{.name = &kLimitsName, .type = &kAmountMap, .flags = kOmit, .proto_number = 1}};
inline constexpr std::array kResourcesWire = {WireField{.number = 1, .field = 0, .repeated = true}};
inline constexpr StructOf kResources("ResourceRequirements", "v1.ResourceRequirements",
                                     kResourcesFields, kResourcesWire);

inline constexpr std::array kContainerFields = {
    Field{.name = &kNameName, .type = &kText, .flags = Field::kRequired, .proto_number = 1},
    Field{.name = &kImageName, .type = &kText, .flags = kOmit, .proto_number = 2},
    Field{.name = &kArgsName, .type = &kTextList, .flags = kOmit, .proto_number = 4},
    Field{.name = &kResourcesName, .type = &kResources.type, .flags = kOmit, .proto_number = 8},
    Field{.name = &kProbeName, .type = &kProbe.type, .flags = kOptional, .proto_number = 10},
    Field{.name = &kRatioName, .type = &kReal, .flags = kOptional, .proto_number = 11}};
inline constexpr std::array kContainerWire = {
    WireField{.number = 1, .field = 0},
    WireField{.number = 2, .field = 1},
    WireField{.number = 4, .field = 2, .repeated = true},
    WireField{.number = 8, .field = 3},
    WireField{.number = 10, .field = 4},
    WireField{.number = 11, .field = 5, .wire = WireType::kFixed64}};
inline constexpr StructOf kContainer("Container", "v1.Container", kContainerFields, kContainerWire);
inline constexpr Type kContainerList{.kind = TypeKind::kList, .element = &kContainer.type};

inline constexpr std::array kSpecFields = {
    Field{.name = &kContainersName,
          .type = &kContainerList,
          .flags = Field::kRequired,
          .proto_number = 2},
    Field{.name = &kGraceName, .type = &kLong, .flags = kOptional, .proto_number = 4},
    Field{.name = &kHostNetworkName, .type = &kFlag, .flags = kOmit, .proto_number = 11},
    Field{.name = &kTimeoutName, .type = &kSpan, .flags = kOptional, .proto_number = 12},
    Field{.name = &kExtraName, .type = &kOpaque, .flags = kOptional, .proto_number = 13}};
inline constexpr std::array kSpecWire = {
    WireField{.number = 2, .field = 0, .repeated = true},
    WireField{.number = 4, .field = 1, .wire = WireType::kVarint},
    WireField{.number = 11, .field = 2, .wire = WireType::kVarint},
    WireField{.number = 12, .field = 3}, WireField{.number = 13, .field = 4}};
inline constexpr StructOf kPodSpec("PodSpec", "v1.PodSpec", kSpecFields, kSpecWire);

inline constexpr std::array kStatusFields = {
    Field{.name = &kPhaseName, .type = &kText, .flags = kOmit, .proto_number = 1}};
inline constexpr std::array kStatusWire = {WireField{.number = 1, .field = 0}};
inline constexpr StructOf kPodStatus("PodStatus", "v1.PodStatus", kStatusFields, kStatusWire);

inline constexpr std::array kPodFields = {
    Field{.name = &kKindName, .type = &kText, .flags = kOmit},
    Field{.name = &kApiVersionName, .type = &kText, .flags = kOmit},
    Field{.name = &kMetadataName, .type = &kObjectMeta.type, .flags = kOmit, .proto_number = 1},
    Field{.name = &kSpecName, .type = &kPodSpec.type, .flags = kOmit, .proto_number = 2},
    Field{.name = &kStatusName, .type = &kPodStatus.type, .flags = kOmit, .proto_number = 3},
    Field{.name = &kDataName, .type = &kDataMap, .flags = kOmit, .proto_number = 4}};
inline constexpr std::array kPodWire = {
    WireField{.number = 1, .field = 2}, WireField{.number = 2, .field = 3},
    WireField{.number = 3, .field = 4}, WireField{.number = 4, .field = 5, .repeated = true}};
inline constexpr StructOf kPod("Pod", "v1.Pod", kPodFields, kPodWire, Type::kHasTypeMeta);

}  // namespace keelson::schema::testing
