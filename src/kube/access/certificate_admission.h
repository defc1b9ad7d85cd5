#pragma once

// Who may have a certificate approved or signed, and for whom: a right to the request object is not
// enough, the writer needs one to the signer it names.

#include <memory>
#include <vector>

#include "admission/admission.h"
#include "auth/authorizer.h"

namespace keelson::kube::access {

// CertificateApproval, CertificateSigning and CertificateSubjectRestriction. `authorizer` outlives
// them.
std::vector<std::unique_ptr<const admission::Plugin>> CertificatePlugins(
    auth::Authorizer& authorizer);

}  // namespace keelson::kube::access
