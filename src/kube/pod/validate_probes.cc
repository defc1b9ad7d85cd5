// Probes and lifecycle handlers of a container.

#include <fmt/format.h>

#include "kube/pod/validation.h"

namespace keelson::kube::pod {
namespace {

using schema::Forbidden;
using schema::Invalid;
using schema::NotSupported;
using schema::Required;

constexpr std::string_view kLinuxSignals[] = {
    "SIGABRT",     "SIGALRM",     "SIGBUS",      "SIGCHLD",     "SIGCLD",      "SIGCONT",
    "SIGFPE",      "SIGHUP",      "SIGILL",      "SIGINT",      "SIGIO",       "SIGIOT",
    "SIGKILL",     "SIGPIPE",     "SIGPOLL",     "SIGPROF",     "SIGPWR",      "SIGQUIT",
    "SIGRTMAX",    "SIGRTMAX-1",  "SIGRTMAX-10", "SIGRTMAX-11", "SIGRTMAX-12", "SIGRTMAX-13",
    "SIGRTMAX-14", "SIGRTMAX-2",  "SIGRTMAX-3",  "SIGRTMAX-4",  "SIGRTMAX-5",  "SIGRTMAX-6",
    "SIGRTMAX-7",  "SIGRTMAX-8",  "SIGRTMAX-9",  "SIGRTMIN",    "SIGRTMIN+1",  "SIGRTMIN+10",
    "SIGRTMIN+11", "SIGRTMIN+12", "SIGRTMIN+13", "SIGRTMIN+14", "SIGRTMIN+15", "SIGRTMIN+2",
    "SIGRTMIN+3",  "SIGRTMIN+4",  "SIGRTMIN+5",  "SIGRTMIN+6",  "SIGRTMIN+7",  "SIGRTMIN+8",
    "SIGRTMIN+9",  "SIGSEGV",     "SIGSTKFLT",   "SIGSTOP",     "SIGSYS",      "SIGTERM",
    "SIGTRAP",     "SIGTSTP",     "SIGTTIN",     "SIGTTOU",     "SIGURG",      "SIGUSR1",
    "SIGUSR2",     "SIGVTALRM",   "SIGWINCH",    "SIGXCPU",     "SIGXFSZ"};
constexpr std::string_view kWindowsSignals[] = {"SIGKILL", "SIGTERM"};
constexpr std::string_view kSchemes[] = {"HTTP", "HTTPS"};

void CheckPort(const Value& port, const Path& path, FieldErrors& errors) {
  if (port.is_string()) {
    AddInvalid(errors, path, port.AsString(), names::CheckPortName(port.AsString()));
    return;
  }
  for (auto& complaint : names::CheckPortNumber(port.AsInt())) {
    errors.push_back(Invalid(path, port.AsInt(), complaint));
  }
}

void ValidateHttpGet(core::HTTPGetAction http, const Path& path, FieldErrors& errors) {
  RequireText(http.path(), path.Child("path"), errors);
  CheckPort(http.port(), path.Child("port"), errors);
  if (!OneOf(http.scheme(), kSchemes)) {
    errors.push_back(NotSupported(path.Child("scheme"), http.scheme(), kSchemes));
  }
  for (auto header : http.httpHeaders()) {
    AddInvalid(errors, path.Child("httpHeaders"), header.name(),
               names::CheckHttpHeaderName(header.name()));
  }
}

void ValidateSleep(core::SleepAction sleep, std::optional<int64_t> grace, const Path& path,
                   FieldErrors& errors) {
  if (!grace || (sleep.seconds() >= 0 && sleep.seconds() <= *grace)) return;
  errors.push_back(
      Invalid(path, sleep.seconds(),
              fmt::format("must be non-negative and less than terminationGracePeriodSeconds ({})",
                          *grace)));
}

// What a probe or a hook does: exactly one of the actions. Read by name, since probes and hooks
// share most but not all of them.
void ValidateHandler(const Value& handler, std::optional<int64_t> grace, const Path& path,
                     FieldErrors& errors) {
  const core::ProbeHandler probe(handler);
  const core::LifecycleHandler hook(handler);
  int count = 0;
  auto check = [&](const Value& action, std::string_view name, auto&& validate) {
    if (action.is_null()) return;
    if (count++ > 0) {
      errors.push_back(Forbidden(path.Child(name), "may not specify more than 1 handler type"));
      count = 1;
    } else {
      validate(path.Child(name));
    }
  };
  check(probe.exec().value(), "exec", [&](const Path& at) {
    if (probe.exec().command().empty()) errors.push_back(Required(at.Child("command"), ""));
  });
  check(probe.httpGet().value(), "httpGet",
        [&](const Path& at) { ValidateHttpGet(probe.httpGet(), at, errors); });
  check(probe.tcpSocket().value(), "tcpSocket",
        [&](const Path& at) { CheckPort(probe.tcpSocket().port(), at.Child("port"), errors); });
  check(probe.grpc().value(), "grpc", [&](const Path& at) {
    CheckPort(Value::Int(probe.grpc().port()), at.Child("port"), errors);
  });
  check(hook.sleep().value(), "sleep",
        [&](const Path& at) { ValidateSleep(hook.sleep(), grace, at, errors); });
  if (count == 0) errors.push_back(Required(path, "must specify a handler type"));
}

void ValidateProbe(core::Probe probe, std::optional<int64_t> grace, const Path& path,
                   FieldErrors& errors) {
  ValidateHandler(probe.value(), grace, path, errors);
  CheckNotNegative(probe.initialDelaySeconds(), path.Child("initialDelaySeconds"), errors);
  CheckNotNegative(probe.timeoutSeconds(), path.Child("timeoutSeconds"), errors);
  CheckNotNegative(probe.periodSeconds(), path.Child("periodSeconds"), errors);
  CheckNotNegative(probe.successThreshold(), path.Child("successThreshold"), errors);
  CheckNotNegative(probe.failureThreshold(), path.Child("failureThreshold"), errors);
  if (auto own = probe.terminationGracePeriodSeconds(); own && *own <= 0) {
    errors.push_back(
        Invalid(path.Child("terminationGracePeriodSeconds"), *own, "must be greater than 0"));
  }
}

void ValidateOneSuccess(core::Probe probe, const Path& path, FieldErrors& errors) {
  if (probe.successThreshold() != 1) {
    errors.push_back(
        Invalid(path.Child("successThreshold"), probe.successThreshold(), "must be 1"));
  }
}

void ValidateStopSignal(std::string_view signal, core::PodOS os, const Path& path,
                        FieldErrors& errors) {
  if (!os) {
    errors.push_back(Forbidden(path, "may not be set for containers with empty `spec.os.name`"));
  } else if (os.name() == "windows") {
    if (!OneOf(signal, kWindowsSignals)) {
      errors.push_back(NotSupported(path, signal, kWindowsSignals));
    }
  } else if (os.name() == "linux" && !OneOf(signal, kLinuxSignals)) {
    errors.push_back(NotSupported(path, signal, kLinuxSignals));
  }
}

}  // namespace

void ValidateProbes(core::Container container, std::optional<int64_t> grace, const Path& path,
                    FieldErrors& errors) {
  if (auto probe = container.livenessProbe()) {
    const Path at = path.Child("livenessProbe");
    ValidateProbe(probe, grace, at, errors);
    ValidateOneSuccess(probe, at, errors);
  }
  if (auto probe = container.readinessProbe()) {
    const Path at = path.Child("readinessProbe");
    ValidateProbe(probe, grace, at, errors);
    if (auto own = probe.terminationGracePeriodSeconds()) {
      errors.push_back(Invalid(at.Child("terminationGracePeriodSeconds"), *own,
                               "must not be set for readinessProbes"));
    }
  }
  if (auto probe = container.startupProbe()) {
    const Path at = path.Child("startupProbe");
    ValidateProbe(probe, grace, at, errors);
    ValidateOneSuccess(probe, at, errors);
  }
}

void ValidateLifecycle(core::Lifecycle lifecycle, std::optional<int64_t> grace, core::PodOS os,
                       const Path& path, FieldErrors& errors) {
  if (auto hook = lifecycle.postStart()) {
    ValidateHandler(hook.value(), grace, path.Child("postStart"), errors);
  }
  if (auto hook = lifecycle.preStop()) {
    ValidateHandler(hook.value(), grace, path.Child("preStop"), errors);
  }
  if (auto signal = lifecycle.stopSignal()) {
    ValidateStopSignal(*signal, os, path.Child("stopSignal"), errors);
  }
}

}  // namespace keelson::kube::pod
