#include "kube/print/printers.h"

namespace keelson::kube::print {

const rest::TablePrinter* FindPrinter(std::string_view group, std::string_view resource) {
  for (const auto& printers :
       {AdmissionPrinters(), ClusterPrinters(), ConfigPrinters(), DevicePrinters(), EventPrinters(),
        NetworkPrinters(), NodePrinters(), PodPrinters(), RbacPrinters(), ScalePrinters(),
        ServicePrinters(), VolumePrinters(), WorkloadPrinters()}) {
    for (const auto& printer : printers) {
      if (printer.group == group && printer.resource == resource) return &printer;
    }
  }
  return nullptr;
}

}  // namespace keelson::kube::print
