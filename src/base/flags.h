#pragma once

// Command-line flags with the behaviour, the error texts and the help layout that Kubernetes
// programs have: --name value, --name=value, booleans without a value, one-letter shorthands,
// "--" ends flags, '_' equals '-' in names, flags and arguments may be mixed.
//
// Flags bind to plain option structs owned by the caller, whose initial values are the defaults.
// Not thread-safe; used once, in main.

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace keelson::flags {

// How one kind of flag reads and prints itself. Implement it for kinds not offered below.
class Value {
 public:
  virtual ~Value() = default;
  virtual std::string_view type() const = 0;  // as shown in help: "duration"
  virtual Result<void> Set(std::string_view text) = 0;
  virtual std::string Text() const = 0;
  // True when `text` is not worth printing as a default.
  virtual bool IsZero(std::string_view text) const {
    return text.empty() || text == "0" || text == "false" || text == "<nil>";
  }
  // What `--name` alone means; empty when a value is required.
  virtual std::string_view implied() const { return ""; }
};

using StringMap = std::map<std::string, std::string>;

class FlagSet {
 public:
  explicit FlagSet(std::string program) : program_(std::move(program)) {}

  // Flags added from here on are listed under "<Title> flags:" in help.
  void BeginSection(std::string title);

  void Bool(std::string name, bool& target, std::string usage);
  void String(std::string name, std::string& target, std::string usage);
  void Int(std::string name, int64_t& target, std::string usage);
  void Uint(std::string name, uint64_t& target, std::string usage);
  void Float(std::string name, double& target, std::string usage);
  void Duration(std::string name, keelson::Duration& target, std::string usage);
  // A literal IPv4 or IPv6 address; empty shows as <nil>.
  void Ip(std::string name, std::string& target, std::string usage);
  // Comma-separated with CSV quoting; the first use replaces the default, further ones append.
  void StringSlice(std::string name, std::vector<std::string>& target, std::string usage);
  // One element per use, taken as it is.
  void StringArray(std::string name, std::vector<std::string>& target, std::string usage);
  // a=1,b=2
  void Map(std::string name, StringMap& target, std::string usage);
  void Add(std::string name, char shorthand, std::unique_ptr<Value> value, std::string usage);

  // Reads the arguments (without the program's name). Returns those that are not flags.
  // "--help" and "-h" end parsing and set help_requested.
  Result<std::vector<std::string>> Parse(std::span<const std::string_view> arguments);
  bool help_requested() const { return help_requested_; }

  bool Changed(std::string_view name) const;
  // Name and current value of every flag, in order of name.
  std::vector<std::pair<std::string, std::string>> Values() const;

  // All sections, flags in order of name, as upstream lays them out.
  std::string Help(std::string_view introduction) const;

 private:
  struct Flag {
    std::string name;
    char shorthand = 0;
    std::string usage;
    std::string default_text;
    std::unique_ptr<Value> value;
    bool changed = false;
  };
  struct Section {
    std::string title;
    std::vector<std::string> names;
  };

  Result<void> ParseLong(std::string_view argument, std::span<const std::string_view>& rest);
  Result<void> ParseShort(std::string_view argument, std::span<const std::string_view>& rest);
  static Result<void> Assign(Flag& flag, std::string_view text);
  Flag* Find(std::string_view name);

  std::string program_;
  std::vector<Section> sections_;
  std::map<std::string, Flag, std::less<>> flags_;
  bool help_requested_ = false;
};

// Splits one CSV record; the error is the one pflag's string slices report.
Result<std::vector<std::string>> SplitCsv(std::string_view text);

}  // namespace keelson::flags
