#include "edge/net/tls.h"

#include <cstring>

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

namespace fairlead::edge {

namespace {

std::unexpected<Error> refuse(std::string_view what, const std::string& path) {
  // The first is what went wrong; those behind it say who noticed.
  const unsigned long code = ERR_peek_error();
  const char* reason =
      ERR_SYSTEM_ERROR(code) ? std::strerror(ERR_GET_REASON(code)) : ERR_reason_error_string(code);
  std::string message = fmt::format("{} {}: {}", what, path, reason ? reason : "unknown reason");
  ERR_clear_error();
  return fail(ErrorCode::kInvalid, std::move(message));
}

}  // namespace

std::vector<std::string> TlsFiles::names() const {
  std::vector<std::string> all{certificate, key};
  if (!client_ca.empty()) all.push_back(client_ca);
  return all;
}

Result<std::shared_ptr<TlsContext>> TlsContext::load(const TlsFiles& files) {
  ERR_clear_error();
  std::shared_ptr<TlsContext> made(new TlsContext(SSL_CTX_new(TLS_server_method())));
  SSL_CTX* context = made->context_;
  if (!context) return fail(ErrorCode::kUnavailable, "no memory for TLS");
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                   SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_NO_TICKET |
                                   SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  // Idle connections hold no buffers, and a write that has to wait may be repeated from elsewhere.
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  if (SSL_CTX_use_certificate_chain_file(context, files.certificate.c_str()) != 1) {
    return refuse("cannot use the certificate", files.certificate);
  }
  if (SSL_CTX_use_PrivateKey_file(context, files.key.c_str(), SSL_FILETYPE_PEM) != 1) {
    return refuse("cannot use the key", files.key);
  }
  if (SSL_CTX_check_private_key(context) != 1) {
    return refuse("the certificate does not belong to the key", files.key);
  }
  if (!files.client_ca.empty()) {
    if (SSL_CTX_load_verify_locations(context, files.client_ca.c_str(), nullptr) != 1) {
      return refuse("cannot use the authority", files.client_ca);
    }
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    made->wants_client_certificate_ = true;
  }
  return made;
}

TlsContext::~TlsContext() {
  SSL_CTX_free(context_);
}

}  // namespace fairlead::edge
