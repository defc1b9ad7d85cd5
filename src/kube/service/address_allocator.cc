#include "kube/service/address_allocator.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "api/networking_v1.h"
#include "base/log.h"
#include "kube/service/service_fields.h"
#include "rest/write.h"
#include "value/json.h"

namespace keelson::kube::service {
namespace {

constexpr std::string_view kManager = "kube-apiserver";

bool IsReady(const api::networking_v1::ServiceCIDR& range) {
  for (const auto condition : range.status().conditions()) {
    if (condition.type() == "Ready") return condition.status() == "True";
  }
  return true;  // nobody is there to say so
}

uint64_t Random(uint64_t below) {
  thread_local std::mt19937_64 random{std::random_device{}()};
  return std::uniform_int_distribution<uint64_t>(0, below - 1)(random);
}

value::Document AddressObject(const IpAddress& address, const AddressAllocator::Owner& owner) {
  value::Builder builder;
  auto root = builder.root();
  auto text = [&](std::string_view text) { return builder.String(text); };
  root.SetField("kind", Value::String("IPAddress"));
  root.SetField("apiVersion", Value::String("networking.k8s.io/v1"));
  auto metadata = root.Field("metadata");
  metadata.SetField("name", text(address.ToString()));
  auto labels = metadata.Field("labels");
  labels.SetField("ipaddress.kubernetes.io/ip-family", text(FamilyName(address.family())));
  labels.SetField("ipaddress.kubernetes.io/managed-by", text("ipallocator.k8s.io"));
  auto parent = root.Field("spec").Field("parentRef");
  parent.SetField("resource", text("services"));
  parent.SetField("namespace", text(owner.ns));
  parent.SetField("name", text(owner.name));
  return std::move(builder).Finish();
}

}  // namespace

std::string_view FamilyName(IpAddress::Family family) {
  return family == IpAddress::Family::kV4 ? kIPv4 : kIPv6;
}

AddressRange::AddressRange(const IpPrefix& prefix)
    : prefix_{prefix.address.Masked(prefix.length), prefix.length} {
  const auto& address = prefix_.address;
  const int host_bits = address.bits() - prefix.length;
  const uint64_t size = host_bits >= 63 ? uint64_t{1} << 63 : uint64_t{1} << host_bits;
  const uint64_t left_out = address.is_v4() ? 2 : 1;
  count_ = size > left_out ? size - left_out : 0;
  first_ = address.Plus(1);
  last_ = host_bits >= 63 ? address.Last(prefix.length) : first_.Plus(count_ == 0 ? 0 : count_ - 1);
}

uint64_t AddressRange::reserved() const {
  constexpr uint64_t kLeast = 16;
  constexpr uint64_t kMost = 256;
  constexpr uint64_t kShare = 16;
  if (count_ <= kLeast) return 0;
  return std::clamp(count_ / kShare, kLeast, kMost);
}

void AddressAllocator::Connect(rest::ResourceSpec addresses, rest::ResourceSpec ranges) {
  addresses_ = std::move(addresses);
  addresses_->admission = nullptr;  // the server itself writes them
  range_objects_ = std::move(ranges);
}

bool AddressAllocator::Has(IpAddress::Family family) const {
  return std::ranges::any_of(ranges_,
                             [&](const auto& range) { return range.address.family() == family; });
}

Task<std::vector<AddressRange>> AddressAllocator::Ranges() {
  std::vector<AddressRange> ranges;
  for (const auto& range : ranges_) ranges.emplace_back(range);
  auto listed = co_await range_objects_->store->List({.resource_version = "0"});
  if (!listed) co_return ranges;
  for (const auto& object : listed->objects) {
    const auto decoded = rest::DecodeStored(*range_objects_, *object);
    if (!decoded) continue;
    const api::networking_v1::ServiceCIDR range(decoded->root());
    if (!range.metadata().value()["deletionTimestamp"].is_null() || !IsReady(range)) continue;
    for (const auto text : range.spec().cidrs()) {
      const auto prefix = IpPrefix::Parse(text);
      if (prefix && std::ranges::none_of(
                        ranges, [&](const auto& known) { return known.prefix() == *prefix; })) {
        ranges.emplace_back(*prefix);
      }
    }
  }
  co_return ranges;
}

Task<ApiResult<bool>> AddressAllocator::Create(IpAddress address, Owner owner) {
  const std::string name = address.ToString();
  const rest::WriteScope scope{
      .name = name, .now = addresses_->clock->WallNow(), .manager = kManager};
  auto created = co_await rest::CreateObject(*addresses_, scope, AddressObject(address, owner));
  if (created) co_return true;
  if (created.error().reason == "AlreadyExists") co_return false;
  co_return std::unexpected(std::move(created).error());
}

Task<std::expected<void, AddressAllocator::Refusal>> AddressAllocator::Take(IpAddress address,
                                                                            Owner owner,
                                                                            bool dry_run) {
  // The narrowest range that holds it decides.
  std::optional<AddressRange> best;
  for (const auto& range : co_await Ranges()) {
    if (range.prefix().Contains(address) &&
        (!best || range.prefix().length > best->prefix().length)) {
      best = range;
    }
  }
  if (!best) {
    co_return std::unexpected(Refusal{"the provided network does not match the current range"});
  }
  if (!best->Usable(address)) {
    co_return std::unexpected(
        Refusal{fmt::format("the provided IP ({}) is not in the valid range. The range of valid "
                            "IPs is {}",
                            address.ToString(), best->prefix().ToString())});
  }
  if (dry_run) co_return std::expected<void, Refusal>();
  auto created = co_await Create(address, std::move(owner));
  if (!created) co_return std::unexpected(Refusal{created.error().message});
  if (!*created) co_return std::unexpected(Refusal{"provided IP is already allocated"});
  co_return std::expected<void, Refusal>();
}

Task<std::expected<std::optional<IpAddress>, AddressAllocator::Refusal>> AddressAllocator::TakeFrom(
    AddressRange range, uint64_t begin, uint64_t count, Owner owner) {
  if (count == 0) co_return std::nullopt;
  const uint64_t start = Random(count);
  for (uint64_t i = 0; i < count; ++i) {
    const auto address = range.first().Plus(begin + (start + i) % count);
    // What the cache knows to be taken need not be tried.
    if (co_await addresses_->store->Get("", address.ToString(), "0")) continue;
    auto created = co_await Create(address, owner);
    if (!created) co_return std::unexpected(Refusal{created.error().message});
    if (*created) co_return address;
  }
  co_return std::nullopt;
}

Task<std::expected<IpAddress, AddressAllocator::Refusal>> AddressAllocator::TakeAny(
    IpAddress::Family family, Owner owner, bool dry_run) {
  // Which one it will be is not known before it is taken.
  for (const auto& range : ranges_) {
    if (dry_run && range.address.family() == family) co_return range.address.Masked(range.length);
  }
  for (const auto& range : co_await Ranges()) {
    if (range.prefix().address.family() != family) continue;
    const uint64_t reserved = range.reserved();
    auto taken = co_await TakeFrom(range, reserved, range.count() - reserved, owner);
    if (taken && !*taken) taken = co_await TakeFrom(range, 0, reserved, owner);
    if (!taken) co_return std::unexpected(std::move(taken).error());
    if (*taken) co_return **taken;
  }
  co_return std::unexpected(Refusal{.message = "range is full", .exhausted = true});
}

Task<void> AddressAllocator::GiveBack(IpAddress address) {
  const std::string name = address.ToString();
  auto deleted = co_await addresses_->store->Delete("", name);
  if (!deleted && deleted.error().code != 404) {
    log::Error("error releasing ip {}: {}", name, deleted.error().message);
  }
}

}  // namespace keelson::kube::service
