#pragma once

// Certificates made on the spot for tests: a CA and leaves signed by it, ECDSA P-256.

#include <memory>
#include <string>
#include <vector>

#include "net/tls_context.h"

namespace keelson::net::testing {

class TestCa {
 public:
  explicit TestCa(const std::string& name = "test-ca");
  ~TestCa();

  const std::string& pem() const { return pem_; }

  // Valid for the DNS names and addresses given, as a server and as a client.
  TlsKeyPair Issue(const std::string& common_name,
                   const std::vector<std::string>& names = {"localhost", "127.0.0.1"}) const;

 private:
  struct Keys;
  std::unique_ptr<Keys> keys_;
  std::string pem_;
};

}  // namespace keelson::net::testing
