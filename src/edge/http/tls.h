// A server's TLS: certificate and key from files, TLS 1.2 or later.
#pragma once

#include <memory>
#include <string>

#include <boost/asio/ssl/context.hpp>

#include "base/result.h"

namespace fairlead::http {

struct TlsFiles {
  std::string certificate;  // PEM, with what leads to the authority
  std::string key;          // PEM
};

// The error names the file and what is wrong with it.
Result<std::shared_ptr<boost::asio::ssl::context>> load_tls(const TlsFiles& files);

// Changes when one of the files does; "" when one is missing.
std::string tls_fingerprint(const TlsFiles& files);

}  // namespace fairlead::http
