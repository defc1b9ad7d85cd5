// Events. Those of the events group are stored as these.

#include <fmt/format.h>

#include "kube/print/cell_text.h"
#include "kube/print/printers.h"

namespace keelson::kube::print {
namespace {

using rest::Row;
using value::Value;

struct Seen {
  std::string_view first;
  std::string_view last;
  std::string_view event;  // when it happened, for events that are not counted
  std::string_view last_of_series;
  bool series = false;
  int64_t count = 0;
};

std::string FirstSeen(const Seen& seen, const Row& row) {
  return row.AgeText(OrElse(seen.first, seen.event));
}

std::string LastSeen(const Seen& seen, const Row& row) {
  if (seen.series) return row.AgeText(seen.last_of_series);
  return seen.last.empty() ? FirstSeen(seen, row) : row.AgeText(seen.last);
}

Seen SeenOf(const api::core_v1::Event& event) {
  const auto series = event.series();
  return {.first = event.firstTimestamp(),
          .last = event.lastTimestamp(),
          .event = event.eventTime(),
          .last_of_series = series.lastObservedTime(),
          .series = static_cast<bool>(series),
          .count = series ? series.count() : event.count()};
}

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\n\v\f\r";
  const auto first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

void EventCells(const Value& object, Row& row) {
  const api::core_v1::Event event(object);
  const auto seen = SeenOf(event);
  const auto about = event.involvedObject();
  const auto component = OrElse(event.source().component(), event.reportingComponent());
  const auto instance = OrElse(event.source().host(), event.reportingInstance());
  const auto kind = LowerCase(about.kind());
  row.Text(LastSeen(seen, row));
  row.Text(event.type());
  row.Text(event.reason());
  row.Text(about.name().empty() ? kind : fmt::format("{}/{}", kind, about.name()));
  row.Text(about.fieldPath());
  row.Text(instance.empty() ? std::string(component) : fmt::format("{}, {}", component, instance));
  row.Text(Trim(event.message()));
  row.Text(FirstSeen(seen, row));
  row.Int(seen.count == 0 && !seen.series ? 1 : seen.count);
}

constexpr rest::Cell kEventCells[] = {
    rest::ComputedCell(EventCells,
                       "lastTimestamp firstTimestamp eventTime series count type reason "
                       "involvedObject source reportingComponent reportingInstance message"),
    rest::kNameCell,
};

constexpr rest::TablePrinter kPrinters[] = {
    {"", "events", kEventCells},
};

}  // namespace

std::span<const rest::TablePrinter> EventPrinters() { return kPrinters; }

}  // namespace keelson::kube::print
