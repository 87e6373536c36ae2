#include "edge/http/tls.h"

#include <filesystem>

namespace fairlead::http {

namespace ssl = boost::asio::ssl;

Result<std::shared_ptr<ssl::context>> load_tls(const TlsFiles& files) {
  auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
  boost::system::error_code error;
  context->set_options(ssl::context::default_workarounds | ssl::context::no_sslv2 |
                           ssl::context::no_sslv3 | ssl::context::no_tlsv1 |
                           ssl::context::no_tlsv1_1 | ssl::context::single_dh_use,
                       error);
  auto wrong = [&](const std::string& file) {
    return fail(ErrorCode::kInvalid, "TLS file " + file + ": " + error.message());
  };
  context->use_certificate_chain_file(files.certificate, error);
  if (error) return wrong(files.certificate);
  context->use_private_key_file(files.key, ssl::context::pem, error);
  if (error) return wrong(files.key);
  return context;
}

std::string tls_fingerprint(const TlsFiles& files) {
  std::string print;
  for (const std::string& file : {files.certificate, files.key}) {
    std::error_code error;
    auto changed = std::filesystem::last_write_time(file, error);
    if (error) return "";
    auto size = std::filesystem::file_size(file, error);
    if (error) return "";
    print += std::to_string(changed.time_since_epoch().count()) + "/" + std::to_string(size) + ";";
  }
  return print;
}

}  // namespace fairlead::http
