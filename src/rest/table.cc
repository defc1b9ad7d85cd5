#include "rest/table.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>

#include "base/status.h"
#include "value/json.h"
#include "value/timestamp.h"

namespace keelson::rest {
namespace {

using value::Value;

constexpr Cell kPlainCells[] = {
    kNameCell,
    ComputedCell(
        [](const Value& object, Row& row) {
          const auto created = object["metadata"]["creationTimestamp"].AsString();
          row.Text(created.empty() ? "0001-01-01T00:00:00Z" : created);
        },
        "metadata.creationTimestamp"),
};
constexpr schema::TableColumn kPlainColumns[] = {
    {.name = "Name", .type = "string", .format = "name", .path = "metadata.name"},
    {.name = "Created At", .type = "date", .path = "metadata.creationTimestamp"},
};

template <typename Visit>
void ForEachWord(std::string_view words, char separator, Visit visit) {
  while (!words.empty()) {
    const auto end = words.find(separator);
    if (auto word = words.substr(0, end); !word.empty()) visit(word);
    if (end == std::string_view::npos) return;
    words.remove_prefix(end + 1);
  }
}

std::vector<std::string> Steps(std::string_view path) {
  std::vector<std::string> steps;
  ForEachWord(path, '.', [&](std::string_view step) { steps.emplace_back(step); });
  return steps;
}

Value At(Value value, const std::vector<std::string>& path) {
  for (const auto& step : path) value = value[std::string_view(step)];
  return value;
}

std::span<const Cell> CellsOf(const TablePrinter* printer) {
  return printer != nullptr ? printer->cells : std::span<const Cell>(kPlainCells);
}

value::Projection PartsOf(const TablePrinter* printer) {
  std::vector<std::string_view> paths;
  auto add = [&](std::string_view path) { paths.push_back(path); };
  for (const auto& cell : CellsOf(printer)) ForEachWord(cell.reads, ' ', add);
  if (printer != nullptr && !printer->order.empty()) add(printer->order);
  return value::Projection(paths);
}

// Texts of anything else than text are its JSON, or what a person would write for a number.
std::string TextOf(const Value& value) {
  if (value.is_string()) return std::string(value.AsString());
  return value.is_null() ? "null" : value::ToJson(value);
}

// Only the first result is shown; what does not fit the column's type is left empty.
void PrintColumn(const Cell& cell, const Value& object, Row& row) {
  const auto found = cell.path->Find(object);
  if (found.empty()) return row.Null();
  const Value& value = found[0];
  if (cell.type == "string") return row.Text(TextOf(value));
  if (cell.type == "integer" && value.is_number()) {
    return row.Int(value.is_int() ? value.AsInt() : static_cast<int64_t>(value.AsDouble()));
  }
  if (cell.type == "number" && value.is_number()) return row.Double(value.AsDouble());
  if (cell.type == "boolean" && value.is_bool()) return row.Bool(value.AsBool());
  if (cell.type == "date" && value.is_string()) {
    const bool readable = value::ParseTime(value.AsString()).has_value();
    return readable ? row.Age(value.AsString()) : row.Text("<invalid>");
  }
  row.Null();
}

// What the schema says about the field at `path`.
std::string_view DescriptionOf(const schema::Type* type, std::string_view path) {
  std::string_view description;
  ForEachWord(path, '.', [&](std::string_view step) {
    while (type != nullptr && type->kind == schema::TypeKind::kList) type = type->element;
    const schema::Field* found = nullptr;
    if (type != nullptr) {
      for (const auto& field : type->fields()) {
        if (field.text() == step) found = &field;
      }
    }
    description = found != nullptr ? found->description() : std::string_view();
    type = found != nullptr ? found->type : nullptr;
  });
  return description;
}

}  // namespace

std::string HumanDuration(Duration duration) {
  using std::chrono::duration_cast;
  const auto seconds = duration_cast<std::chrono::seconds>(duration).count();
  // Clocks of two machines may differ by a second or two.
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 120) return fmt::format(FMT_COMPILE("{}s"), seconds);
  // Two units while the first one is small, then one.
  auto spell = [](int64_t large, char unit, int64_t small, char part) {
    return small == 0 ? fmt::format(FMT_COMPILE("{}{}"), large, unit)
                      : fmt::format(FMT_COMPILE("{}{}{}{}"), large, unit, small, part);
  };
  const auto minutes = seconds / 60;
  if (minutes < 10) return spell(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return spell(minutes, 'm', 0, ' ');
  const auto hours = minutes / 60;
  if (hours < 8) return spell(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return spell(hours, 'h', 0, ' ');
  const auto days = hours / 24;
  if (hours < 24 * 8) return spell(days, 'd', hours % 24, 'h');
  if (hours < 24 * 365 * 2) return spell(days, 'd', 0, ' ');
  if (hours < 24 * 365 * 8) return spell(days / 365, 'y', days % 365, 'd');
  return spell(days / 365, 'y', 0, ' ');
}

void Row::Separate() {
  if (!first_) out_ += ',';
  first_ = false;
}

void Row::Text(std::string_view text) {
  Separate();
  AppendJsonString(out_, text);
}

void Row::Int(int64_t number) {
  Separate();
  char digits[24];
  out_.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

void Row::Double(double number) {
  Separate();
  value::AppendJsonDouble(out_, number);
}

void Row::Null() {
  Separate();
  out_ += "null";
}

void Row::Bool(bool truth) {
  Separate();
  out_ += truth ? "true" : "false";
}

std::string Row::AgeText(std::string_view time) const {
  const auto then =
      time.empty() ? value::Timestamp{} : value::ParseTime(time).value_or(value::Timestamp{});
  if (then.IsZero()) return "<unknown>";
  const auto since = now_.time_since_epoch() - std::chrono::seconds(then.seconds) -
                     std::chrono::nanoseconds(then.nanos);
  return HumanDuration(since);
}

TableLayout::TableLayout(const schema::ResourceInfo& info, const TablePrinter* printer)
    : has_printer_(printer != nullptr), parts_(PartsOf(printer)) {
  for (const auto& cell : CellsOf(printer)) {
    cells_.push_back({cell, cell.kind == Cell::Kind::kComputed ? std::vector<std::string>()
                                                               : Steps(cell.reads)});
  }
  if (printer != nullptr) order_ = Steps(printer->order);

  const auto columns =
      has_printer_ ? info.columns : std::span<const schema::TableColumn>(kPlainColumns);
  // What a column shows is described with the field it reads, when it reads but one.
  std::vector<std::string_view> paths;
  for (const auto& compiled : cells_) {
    // A computed cell may be several; how many does not depend on the object.
    std::string text = "[";
    Row row(text, {});
    Print(compiled, Value::EmptyObject(), row);
    const auto reads = compiled.cell.reads;
    paths.insert(paths.end(), value::ParseJson(text + "]")->root().size(),
                 reads.contains(' ') ? "" : reads);
  }
  paths.resize(std::max(paths.size(), columns.size()));
  columns_ = "[";
  for (size_t i = 0; i < columns.size(); ++i) {
    const auto& column = columns[i];
    auto description = column.description;
    if (description.empty()) {
      description = DescriptionOf(info.type, column.path.empty() ? paths[i] : column.path);
    }
    if (i > 0) columns_ += ',';
    columns_ += R"({"name":)";
    AppendJsonString(columns_, column.name);
    columns_ +=
        fmt::format(R"(,"type":"{}","format":"{}","description":)", column.type, column.format);
    AppendJsonString(columns_, description);
    columns_ += fmt::format(R"(,"priority":{}}})", column.priority);
  }
  columns_ += ']';
}

void TableLayout::Print(const CompiledCell& compiled, const Value& object, Row& row) {
  const auto& [cell, path] = compiled;
  switch (cell.kind) {
    case Cell::Kind::kText: {
      const auto value = At(object, path);
      row.Text(value.AsString().empty() ? cell.absent : value.AsString());
      return;
    }
    case Cell::Kind::kInt:
      return row.Int(At(object, path).AsInt());
    case Cell::Kind::kBool: {
      const auto value = At(object, path);
      return row.Bool(value.is_bool() ? value.AsBool() : cell.absent_truth);
    }
    case Cell::Kind::kCount: {
      const auto value = At(object, path);
      return row.Int(value.is_list() || value.is_object() ? value.size() : 0);
    }
    case Cell::Kind::kAge:
      return row.Age(At(object, path).AsString());
    case Cell::Kind::kComputed:
      return cell.compute(object, row);
    case Cell::Kind::kColumn:
      return PrintColumn(cell, object, row);
  }
}

int64_t TableLayout::OrderOf(std::string_view json) const {
  auto arena = value::Arena::Make();
  return At(parts_.Read(json, *arena), order_).AsInt();
}

void TableLayout::PrintCells(const Value& object, Row& row) const {
  for (const auto& cell : cells_) Print(cell, object, row);
}

void TableLayout::AppendRow(const Slice& json, const Slice& object, const TableForm& form,
                            Body& body) const {
  auto arena = value::Arena::Make();
  std::string_view metadata;
  const auto parts = parts_.Read(json.view(), *arena, &metadata);
  auto& out = body.text();
  out += R"({"cells":[)";
  Row row(out, form.now);
  PrintCells(parts, row);
  out += ']';
  if (!row.completed_reason().empty()) {
    out += fmt::format(
        R"(,"conditions":[{{"type":"Completed","status":"True","reason":"{}","message":"{}"}}])",
        row.completed_reason(), row.completed_message());
  }
  switch (form.include) {
    case IncludeObject::kNone:
      out += R"(,"object":null})";
      return;
    case IncludeObject::kObject:
      out += R"(,"object":)";
      body.Share(object);
      body.text() += '}';
      return;
    case IncludeObject::kMetadata:
      out += R"(,"object":)";
      AppendPartialMetadata(json, metadata, form.beta, body);
      body.text() += '}';
  }
}

void AppendPartialMetadata(const Slice& json, std::string_view metadata, bool beta, Body& body) {
  body.text() += beta ? R"({"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1beta1",)"
                      : R"({"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1",)";
  body.text() += R"("metadata":)";
  if (metadata.empty()) {
    body.text() += "{}";
  } else {
    body.Share(json.Sub(static_cast<size_t>(metadata.data() - json.data()), metadata.size()));
  }
  body.text() += '}';
}

void AppendPartialMetadata(const Slice& json, bool beta, Body& body) {
  std::string_view metadata;
  value::JsonCursor cursor(json.view());
  for (bool more = cursor.Enter('{'); more; more = cursor.Next('}')) {
    const bool found = cursor.TakeKey().raw == "metadata";
    const auto raw = cursor.TakeRaw();
    if (!found) continue;
    metadata = raw;
    break;
  }
  AppendPartialMetadata(json, metadata, beta, body);
}

}  // namespace keelson::rest
