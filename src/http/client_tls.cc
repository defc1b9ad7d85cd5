#include "http/client_tls.h"

namespace keelson::http {

Result<std::shared_ptr<ClientTls>> ClientTls::Create(net::TlsClientOptions options) {
  auto checked = options;
  if (checked.ca_pem.empty()) checked.verify_server = false;
  auto context = net::TlsContext::Client(checked);
  if (!context) return std::unexpected(context.error());
  std::shared_ptr<ClientTls> self(new ClientTls(std::move(options)));
  if (checked.verify_server == self->options_.verify_server) self->any_ = *std::move(context);
  return self;
}

Result<std::shared_ptr<const net::TlsContext>> ClientTls::Get(bool h1_only) {
  std::lock_guard lock(mutex_);
  auto& slot = h1_only ? h1_ : any_;
  if (!slot) {
    auto options = options_;
    if (h1_only) options.alpn = {"http/1.1"};
    TRY(slot, net::TlsContext::Client(options));
  }
  return slot;
}

}  // namespace keelson::http
