#pragma once

// What the tables of the built-in kinds show.
//
// One source per group of kinds, each a constant list of printers; FindPrinter looks through all of
// them. Printers read objects in the version they are stored in.

#include <span>
#include <string_view>

#include "rest/table.h"

namespace keelson::kube::print {

// Null for kinds that show only name and time of creation.
const rest::TablePrinter* FindPrinter(std::string_view group, std::string_view resource);

std::span<const rest::TablePrinter> AdmissionPrinters();
std::span<const rest::TablePrinter> ClusterPrinters();
std::span<const rest::TablePrinter> ConfigPrinters();
std::span<const rest::TablePrinter> DevicePrinters();
std::span<const rest::TablePrinter> EventPrinters();
std::span<const rest::TablePrinter> NetworkPrinters();
std::span<const rest::TablePrinter> NodePrinters();
std::span<const rest::TablePrinter> PodPrinters();
std::span<const rest::TablePrinter> RbacPrinters();
std::span<const rest::TablePrinter> ScalePrinters();
std::span<const rest::TablePrinter> ServicePrinters();
std::span<const rest::TablePrinter> VolumePrinters();
std::span<const rest::TablePrinter> WorkloadPrinters();

}  // namespace keelson::kube::print
