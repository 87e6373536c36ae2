// What a server needs to speak TLS: its certificate and key.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

struct ssl_ctx_st;

namespace fairlead::edge {

struct TlsFiles {
  std::string certificate;  // PEM, with the chain up to the authority
  std::string key;
  std::string client_ca;  // not empty: clients must show a certificate that it signed

  // Those that are named.
  std::vector<std::string> names() const;
};

class TlsContext {
 public:
  // TLS 1.2 and newer. An error names the file that is wrong.
  static Result<std::shared_ptr<TlsContext>> load(const TlsFiles& files);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  ssl_ctx_st* native() const { return context_; }
  bool wants_client_certificate() const { return wants_client_certificate_; }

 private:
  explicit TlsContext(ssl_ctx_st* context) : context_(context) {}

  ssl_ctx_st* context_;
  bool wants_client_certificate_ = false;
};

}  // namespace fairlead::edge
