#include "patch/conflict.h"

#include "base/quote.h"

namespace keelson::patch {
namespace {

// "kubectl" with subresource "status" using apps/v1
std::string WriterText(const ManagedEntry& writer) {
  std::string text;
  AppendQuoted(text, writer.manager);
  if (!writer.subresource.empty()) {
    text += " with subresource ";
    AppendQuoted(text, writer.subresource);
  }
  if (writer.operation == Operation::kUpdate) {
    text.append(" using ").append(writer.api_version);
  }
  return text;
}

}  // namespace

Status ApplyConflictStatus(const Conflicts& conflicts) {
  StatusDetails details;
  std::string listing;
  for (const Conflict& conflict : conflicts) {
    std::string writer = WriterText(conflict.writer);
    if (!listing.empty()) listing += '\n';
    listing += "conflicts with " + writer + ":";
    conflict.fields.ForEach([&](auto path) {
      std::string field = schema::PathToString(path);
      listing += "\n- " + field;
      details.causes.push_back({"FieldManagerConflict", "conflict with " + writer, field});
    });
  }
  Status status;
  status.code = 409;
  status.reason = "Conflict";
  if (details.causes.size() == 1) {
    status.message = fmt::format("Apply failed with 1 conflict: {}: {}", details.causes[0].message,
                                 details.causes[0].field);
  } else {
    status.message =
        fmt::format("Apply failed with {} conflicts: {}", details.causes.size(), listing);
  }
  status.details = std::move(details);
  return status;
}

}  // namespace keelson::patch
