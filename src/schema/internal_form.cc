#include "schema/internal_form.h"

#include <algorithm>
#include <string_view>

#include "base/status.h"
#include "base/unified_diff.h"
#include "value/json.h"

namespace keelson::schema {
namespace {

using value::Value;

// Words that Go spells in capitals, as JSON names begin with or contain them.
constexpr std::string_view kInitialisms[] = {
    "api",   "aws", "cidr", "cpu", "csi", "dns", "fc",  "fs",  "gce", "gmsa", "http", "id",  "ip",
    "iscsi", "nfs", "os",   "pd",  "rbd", "se",  "tcp", "tls", "ttl", "tty",  "uid",  "url", "wwn"};

bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
char Upper(char c) { return IsLower(c) ? static_cast<char>(c - 'a' + 'A') : c; }

// "apiVersion" is APIVersion, "hostIP" HostIP, "clusterIPs" ClusterIPs, "rollingUpdate"
// RollingUpdate.
void AppendGoName(std::string& out, std::string_view name) {
  const auto word =
      name.substr(0, std::find_if_not(name.begin(), name.end(), IsLower) - name.begin());
  const bool initialism = std::ranges::find(kInitialisms, word) != std::end(kInitialisms);
  const size_t capitals = initialism ? word.size() : 1;
  for (size_t i = 0; i < name.size(); ++i) out += i < capitals ? Upper(name[i]) : name[i];
}

bool IsMeta(const Type& type) {
  return type.info != nullptr && type.info->model.starts_with("io.k8s.apimachinery.");
}

void Append(std::string& out, const Type& type, const Value& value);

// A zero that the tree leaves out.
void AppendAbsent(std::string& out, const Field& field) {
  if (field.pointer()) {
    out += "null";
    return;
  }
  switch (field.type->kind) {
    case TypeKind::kString:
      out += "\"\"";
      break;
    case TypeKind::kInt32:
    case TypeKind::kInt64:
    case TypeKind::kDouble:
    case TypeKind::kIntOrString:
      out += '0';
      break;
    case TypeKind::kBool:
      out += "false";
      break;
    case TypeKind::kQuantity:
      out += "\"0\"";
      break;
    case TypeKind::kDuration:
      out += "\"0s\"";
      break;
    case TypeKind::kStruct:
      Append(out, *field.type, Value::EmptyObject());
      break;
    default:
      out += "null";
  }
}

// Adds the members of one JSON object.
class MemberList {
 public:
  explicit MemberList(std::string& out) : out_(out) { out_ += '{'; }
  ~MemberList() { out_ += '}'; }
  MemberList(const MemberList&) = delete;
  MemberList& operator=(const MemberList&) = delete;

  void Field(const Type& type, std::string_view name, const Value& object) {
    const schema::Field* field = type.Find(name);
    if (field == nullptr || field->Has(Field::kNotInJson)) return;
    Start();
    AppendGoName(out_, name);
    out_ += "\":";
    const Value* set = object.Find(*field->name);
    if (set == nullptr || set->is_null()) {
      AppendAbsent(out_, *field);
    } else {
      Append(out_, *field->type, *set);
    }
  }
  // Metadata is embedded, so its own JSON names stand among the outer fields.
  void Embedded(const Value& metadata) {
    for (const auto& [name, value] : metadata.members()) {
      Start();
      out_ += name->text();
      out_ += "\":";
      out_ += value::ToJson(value);
    }
  }
  void Start() {
    if (out_.back() != '{') out_ += ',';
    out_ += '"';
  }

 private:
  std::string& out_;
};

// Pod specs are the exception: what a pod shares with its host stands in the security context, and
// the order differs.
constexpr std::string_view kPodSpecFields[] = {"volumes",
                                               "initContainers",
                                               "containers",
                                               "ephemeralContainers",
                                               "restartPolicy",
                                               "terminationGracePeriodSeconds",
                                               "activeDeadlineSeconds",
                                               "dnsPolicy",
                                               "nodeSelector",
                                               "serviceAccountName",
                                               "automountServiceAccountToken",
                                               "nodeName",
                                               "securityContext",
                                               "imagePullSecrets",
                                               "hostname",
                                               "subdomain",
                                               "setHostnameAsFQDN",
                                               "affinity",
                                               "schedulerName",
                                               "tolerations",
                                               "hostAliases",
                                               "priorityClassName",
                                               "priority",
                                               "preemptionPolicy",
                                               "dnsConfig",
                                               "readinessGates",
                                               "runtimeClassName",
                                               "overhead",
                                               "enableServiceLinks",
                                               "topologySpreadConstraints",
                                               "os",
                                               "schedulingGates",
                                               "resourceClaims",
                                               "resources",
                                               "hostnameOverride",
                                               "schedulingGroup"};
constexpr std::string_view kHostFields[] = {"hostNetwork", "hostPID", "hostIPC",
                                            "shareProcessNamespace", "hostUsers"};
constexpr std::string_view kPodSecurityFields[] = {"seLinuxOptions",
                                                   "windowsOptions",
                                                   "runAsUser",
                                                   "runAsGroup",
                                                   "runAsNonRoot",
                                                   "supplementalGroups",
                                                   "supplementalGroupsPolicy",
                                                   "fsGroup",
                                                   "fsGroupChangePolicy",
                                                   "sysctls",
                                                   "seccompProfile",
                                                   "appArmorProfile",
                                                   "seLinuxChangePolicy"};

void AppendPodSpec(std::string& out, const Type& type, const Value& spec) {
  MemberList members(out);
  for (auto name : kPodSpecFields) {
    const schema::Field* field = type.Find(name);
    if (name != "securityContext" || field == nullptr) {
      members.Field(type, name, spec);
      continue;
    }
    members.Start();
    out += "SecurityContext\":";
    MemberList security(out);
    for (auto host : kHostFields) security.Field(type, host, spec);
    for (auto own : kPodSecurityFields) security.Field(*field->type, own, spec[name]);
  }
}

void AppendStruct(std::string& out, const Type& type, const Value& value) {
  if (type.info != nullptr && type.info->model == "io.k8s.api.core.v1.PodSpec") {
    AppendPodSpec(out, type, value);
    return;
  }
  MemberList members(out);
  for (const Field& field : type.fields()) {
    if (field.text() == "metadata" && IsMeta(*field.type)) {
      members.Embedded(value[*field.name]);
    } else {
      members.Field(type, field.text(), value);
    }
  }
}

void Append(std::string& out, const Type& type, const Value& value) {
  if (value.is_null()) {
    out += "null";
  } else if (type.kind == TypeKind::kStruct && !IsMeta(type)) {
    AppendStruct(out, type, value);
  } else if (type.kind == TypeKind::kList) {
    out += '[';
    for (size_t i = 0; i < value.items().size(); ++i) {
      if (i > 0) out += ',';
      Append(out, *type.element, value.items()[i]);
    }
    out += ']';
  } else if (type.kind == TypeKind::kMap) {
    out += '{';
    for (size_t i = 0; i < value.members().size(); ++i) {
      if (i > 0) out += ',';
      AppendJsonString(out, value.members()[i].key());
      out += ':';
      Append(out, *type.element, value.members()[i].value);
    }
    out += '}';
  } else {
    out += value::ToJson(value);
  }
}

}  // namespace

std::string InternalForm(const Type& type, const Value& value) {
  std::string out;
  Append(out, type, value);
  return out;
}

namespace {

// Compact JSON, one member or item to a line, indented by its depth.
std::string OneSpaceIndent(std::string_view compact) {
  std::string out;
  size_t depth = 0;
  bool in_string = false;
  auto new_line = [&] {
    out += '\n';
    out.append(depth, ' ');
  };
  for (size_t i = 0; i < compact.size(); ++i) {
    const char c = compact[i];
    const char next = i + 1 < compact.size() ? compact[i + 1] : '\0';
    if (in_string) {
      out += c;
      if (c == '\\') out += compact[++i];
      in_string = c != '"';
    } else if (c == '{' || c == '[') {
      out += c;
      if (next == '}' || next == ']') {
        out += compact[++i];
      } else {
        ++depth;
        new_line();
      }
    } else if (c == '}' || c == ']') {
      --depth;
      new_line();
      out += c;
    } else {
      out += c;
      in_string = c == '"';
      if (c == ',') new_line();
      if (c == ':') out += ' ';
    }
  }
  return out;
}

}  // namespace

std::string InternalDiff(const Type& type, const Value& before, const Value& after) {
  return UnifiedDiff(OneSpaceIndent(InternalForm(type, before)),
                     OneSpaceIndent(InternalForm(type, after)));
}

}  // namespace keelson::schema
