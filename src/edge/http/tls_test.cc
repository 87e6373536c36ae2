// TLS and curl: the server as programs of others see it.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "edge/http/server_fixture.h"

namespace fairlead::http {
namespace {

std::string output_of(const std::string& command) {
  std::string output;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  std::array<char, 4096> bytes;
  while (size_t count = fread(bytes.data(), 1, bytes.size(), pipe)) {
    output.append(bytes.data(), count);
  }
  pclose(pipe);
  return output;
}

class TlsTest : public ServerTest {
 protected:
  TlsTest() {
    std::string pattern = testing::TempDir() + "fairlead-tls-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~TlsTest() override { std::filesystem::remove_all(folder_); }

  edge::TlsFiles make_certificate() {
    edge::TlsFiles paths{folder_ + "/cert.pem", folder_ + "/key.pem", ""};
    output_of(
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
        "-subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout " +
        paths.key + " -out " + paths.certificate);
    return paths;
  }

  std::string folder_;
};

TEST_F(TlsTest, CurlIsServedWithAndWithoutTls) {
  edge::TlsFiles paths = make_certificate();
  start();
  std::string plain = "http://localhost:" + std::to_string(port_);
  std::string submitted = output_of("curl -sS -H 'Idempotency-Key: k' -d '{\"prompt\":\"p\"}' " +
                                    plain + "/api/v1/jobs");
  EXPECT_FALSE(field(submitted, "job_id").empty()) << submitted;
  ListenSettings listen;
  listen.tls = edge::TlsContext::load(paths).value();
  listen_to(listen);
  std::string secure = "https://localhost:" + std::to_string(port_);
  std::string again = output_of("curl -sS --cacert " + paths.certificate +
                                " -H 'Idempotency-Key: k' -d '{\"prompt\":\"p\"}' " + secure +
                                "/api/v1/jobs --next -sS --cacert " + paths.certificate + " " +
                                secure + "/healthz");
  EXPECT_EQ(field(again, "job_id"), field(submitted, "job_id")) << again;
  EXPECT_NE(again.find("\"loop\":\"ok\""), again.npos) << "and another answer after it";
  std::string old =
      output_of("curl -sS --tls-max 1.1 --cacert " + paths.certificate + " " + secure + "/healthz");
  EXPECT_EQ(old.find("\"ok\""), old.npos) << "TLS 1.1 is too old";
}

TEST_F(TlsTest, ANewCertificateIsShownToWhoConnectsAfterIt) {
  edge::TlsFiles paths = make_certificate();
  start();
  ListenSettings listen;
  listen.tls = edge::TlsContext::load(paths).value();
  listen_to(listen);
  auto healthy = [&](const std::string& authority) {
    std::string answer = output_of("curl -sS --cacert " + authority +
                                   " https://localhost:" + std::to_string(port_) + "/healthz");
    return answer.find("\"loop\":\"ok\"") != answer.npos;
  };
  const std::string old = folder_ + "/old.pem";
  std::filesystem::copy(paths.certificate, old);
  EXPECT_TRUE(healthy(old));
  make_certificate();
  auto loaded = edge::TlsContext::load(paths).value();
  on_loop([&] {
    server_->set_tls(port_, loaded);
    return true;
  });
  EXPECT_TRUE(healthy(paths.certificate));
  EXPECT_FALSE(healthy(old));
}

TEST_F(TlsTest, ABodyThatCurlAnnouncesFirstArrivesWhole) {
  start();
  std::string file = folder_ + "/body.json";
  FILE* out = fopen(file.c_str(), "w");
  std::string body = R"({"prompt":"p","context":")" + std::string(1'500'000, 'x') + "\"}";
  fwrite(body.data(), 1, body.size(), out);
  fclose(out);
  std::string answer = output_of("curl -sS -H 'Expect: 100-continue' --data-binary @" + file +
                                 " http://localhost:" + std::to_string(port_) + "/api/v1/jobs");
  EXPECT_FALSE(field(answer, "job_id").empty()) << answer;
}

}  // namespace
}  // namespace fairlead::http
