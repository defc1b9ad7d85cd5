#pragma once

// Tables: objects as rows, the form in which kubectl prints them.
//
// Which columns a kind has is data of its schema (schema::ResourceInfo::columns); what stands in
// them is said by a TablePrinter, a list of cells. Most cells are a path into the object; the
// others are computed by a function. Each names everything it reads, so that a row is made from the
// object's finished JSON by reading those parts alone. A kind without a printer shows name and time
// of creation.
//
// Printers and layouts are immutable and shared by all threads.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "rest/body.h"
#include "rest/options.h"
#include "schema/resource.h"
#include "value/json_path.h"
#include "value/projection.h"
#include "value/value.h"

namespace keelson::rest {

// How long something lasted, as people like to read it: 5s, 2m1s, 3h, 2d4h, 2y80d.
std::string HumanDuration(Duration duration);

// The cells of one row, written one after the other.
class Row {
 public:
  // Appends to `out`.
  Row(std::string& out, WallTime now) : out_(out), now_(now) {}

  void Text(std::string_view text);
  void Int(int64_t number);
  void Double(double number);
  void Bool(bool truth);
  void Null();
  // The time since then, from a Time or MicroTime; "<unknown>" when there is none.
  void Age(std::string_view time) { Text(AgeText(time)); }
  std::string AgeText(std::string_view time) const;

  WallTime now() const { return now_; }

  // Says that the row's object will not change any more.
  void Completed(std::string_view reason, std::string_view message) {
    completed_reason_ = reason;
    completed_message_ = message;
  }
  std::string_view completed_reason() const { return completed_reason_; }
  std::string_view completed_message() const { return completed_message_; }

 private:
  void Separate();

  std::string& out_;
  const WallTime now_;
  bool first_ = true;
  std::string_view completed_reason_;
  std::string_view completed_message_;
};

struct Cell {
  enum class Kind : uint8_t {
    kText,      // a string
    kInt,       // a number
    kBool,      // true or false
    kCount,     // how many items or members there are
    kAge,       // the time since then
    kComputed,  // whatever `compute` writes: one cell or several
    kColumn,    // what `path` leads to, in the form of a column of type `type`
  };
  using Compute = void (*)(const value::Value& object, Row& row);

  Kind kind = Kind::kText;
  // The path it shows; of a computed one all paths it reads, separated by spaces.
  std::string_view reads;
  // Stands for a text that is missing or empty.
  std::string_view absent = {};
  Compute compute = nullptr;
  // Stands for a boolean that is missing.
  bool absent_truth = false;
  const value::JsonPath* path = nullptr;
  std::string_view type = {};
};

constexpr Cell TextCell(std::string_view path, std::string_view absent = "") {
  return {.kind = Cell::Kind::kText, .reads = path, .absent = absent};
}
constexpr Cell IntCell(std::string_view path) { return {.kind = Cell::Kind::kInt, .reads = path}; }
constexpr Cell BoolCell(std::string_view path, bool absent = false) {
  return {.kind = Cell::Kind::kBool, .reads = path, .absent_truth = absent};
}
constexpr Cell CountCell(std::string_view path) {
  return {.kind = Cell::Kind::kCount, .reads = path};
}
constexpr Cell ComputedCell(Cell::Compute compute, std::string_view reads) {
  return {.kind = Cell::Kind::kComputed, .reads = reads, .compute = compute};
}
// A column of a custom resource: string, integer, number, boolean or date. `reads` is what the path
// needs.
constexpr Cell ColumnCell(const value::JsonPath& path, std::string_view reads,
                          std::string_view type) {
  return {.kind = Cell::Kind::kColumn, .reads = reads, .path = &path, .type = type};
}
inline constexpr Cell kNameCell = TextCell("metadata.name");
inline constexpr Cell kAgeCell = {.kind = Cell::Kind::kAge, .reads = "metadata.creationTimestamp"};

struct TablePrinter {
  std::string_view group;
  std::string_view resource;
  std::span<const Cell> cells;
  // Path of a number by which lists are ordered, when not by name.
  std::string_view order = {};
};

// How one request wants its table.
struct TableForm {
  IncludeObject include = IncludeObject::kMetadata;
  bool beta = false;  // meta.k8s.io/v1beta1
  WallTime now{};
};

class TableLayout {
 public:
  // Without a printer the columns are the two that every kind can fill. `info` and `printer` stay.
  TableLayout(const schema::ResourceInfo& info, const TablePrinter* printer);

  // The array of column definitions.
  const std::string& columns() const { return columns_; }

  // The cells of an object, of which at least what they read must be there.
  void PrintCells(const value::Value& object, Row& row) const;
  // Appends the row of an object, given as finished JSON; `object` is what the row shows as a
  // whole.
  void AppendRow(const Slice& json, const Slice& object, const TableForm& form, Body& body) const;
  // The key by which lists are ordered; nothing when they keep the order of names.
  bool ordered() const { return !order_.empty(); }
  int64_t OrderOf(std::string_view json) const;
  // Upstream writes no rows as null for kinds without a printer.
  bool has_printer() const { return has_printer_; }

 private:
  struct CompiledCell {
    Cell cell;
    std::vector<std::string> path;
  };
  static void Print(const CompiledCell& compiled, const value::Value& object, Row& row);

  bool has_printer_;
  std::vector<CompiledCell> cells_;
  std::vector<std::string> order_;
  value::Projection parts_;
  std::string columns_;
};

// An object as PartialObjectMetadata: its metadata alone, shared with `json`. The first form is
// told where that stands.
void AppendPartialMetadata(const Slice& json, std::string_view metadata, bool beta, Body& body);
void AppendPartialMetadata(const Slice& json, bool beta, Body& body);

}  // namespace keelson::rest
