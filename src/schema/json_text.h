#pragma once

// Writes JSON text member by member; keeps track of commas.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace keelson::schema {

class JsonText {
 public:
  JsonText& Begin() { return Open('{'); }
  JsonText& BeginList() { return Open('['); }
  JsonText& End() { return Close('}'); }
  JsonText& EndList() { return Close(']'); }

  JsonText& Key(std::string_view name) {
    Separate();
    AppendJsonString(out_, name);
    out_ += ':';
    first_ = true;
    return *this;
  }
  JsonText& String(std::string_view text) {
    Separate();
    AppendJsonString(out_, text);
    return *this;
  }
  // Finished JSON.
  JsonText& Raw(std::string_view json) {
    Separate();
    out_ += json;
    return *this;
  }
  JsonText& Field(std::string_view name, std::string_view text) { return Key(name).String(text); }
  JsonText& RawField(std::string_view name, std::string_view json) { return Key(name).Raw(json); }

  std::string Take() && { return std::move(out_); }

 private:
  void Separate() {
    if (!first_) out_ += ',';
    first_ = false;
  }
  JsonText& Open(char bracket) {
    Separate();
    out_ += bracket;
    first_ = true;
    return *this;
  }
  JsonText& Close(char bracket) {
    out_ += bracket;
    first_ = false;
    return *this;
  }

  std::string out_;
  bool first_ = true;
};

}  // namespace keelson::schema
