// Connections to real servers: who may come in, and how they are made again.
#include "bus/nats/link.h"

#include <cstdlib>
#include <fstream>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>

#include "bus/nats/real_loop_fixture.h"
#include "tests/cluster/nats_server_process.h"

namespace fairlead::bus::nats {
namespace {

using cluster::NatsServerOptions;
using cluster::NatsServerProcess;
using testing::HasSubstr;

constexpr const char* kSeed = "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY";
constexpr const char* kPublicKey = "UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4";

// A link and what it told.
struct Told {
  Told(RealLoop& loop, Settings settings)
      : link(loop.loop(), std::move(settings),
             {.arrived = [this](Arrival arrival) { heard.push_back(std::move(arrival)); },
              .connected = [this] { ++connected; },
              .lost = [this](const std::string& why) { lost.push_back(why); },
              .complained = [this](const std::string& what) { complaints.push_back(what); }}) {}
  int connected = 0;
  std::vector<std::string> lost;
  std::vector<std::string> complaints;
  std::vector<Arrival> heard;
  Link link;
};

class LinkTest : public testing::Test {
 protected:
  // "" when it connected, or why it did not.
  std::string outcome_of(Settings settings) {
    Told told(loop, std::move(settings));
    told.link.open();
    loop.run_until([&] { return told.connected > 0 || !told.lost.empty(); });
    return told.connected > 0 ? "" : told.lost.at(0);
  }
  static Settings to(const std::string& url) {
    Settings settings;
    settings.servers = {url};
    return settings;
  }

  RealLoop loop;
};

// --- Who may come in -----------------------------------------------------------------------------

TEST_F(LinkTest, TellsWhyItCannotConnect) {
  NatsServerProcess server({.jetstream = false});
  server.kill();
  EXPECT_THAT(outcome_of(to(server.url())), HasSubstr(server.url()));
}

TEST_F(LinkTest, ComesInWithUserAndPassword) {
  NatsServerProcess server({false, "authorization { user: u, password: p }"});
  Settings settings = to(server.url());
  EXPECT_THAT(outcome_of(settings), HasSubstr("uthorization"));
  settings.user = "u";
  settings.password = "wrong";
  EXPECT_THAT(outcome_of(settings), HasSubstr("uthorization"));
  settings.password = "p";
  EXPECT_EQ(outcome_of(settings), "");
}

TEST_F(LinkTest, ComesInWithAToken) {
  NatsServerProcess server({false, "authorization { token: t }"});
  Settings settings = to(server.url());
  settings.token = "wrong";
  EXPECT_THAT(outcome_of(settings), HasSubstr("uthorization"));
  settings.token = "t";
  EXPECT_EQ(outcome_of(settings), "");
}

TEST_F(LinkTest, ComesInWithAnNkey) {
  NatsServerProcess server(
      {false, fmt::format("authorization {{ users: [{{ nkey: {} }}] }}", kPublicKey)});
  Settings settings = to(server.url());
  EXPECT_THAT(outcome_of(settings), HasSubstr("uthorization"));
  settings.nkey_seed = "not a seed";
  EXPECT_THAT(outcome_of(settings), HasSubstr("NATS_NKEY"));
  settings.nkey_seed = kSeed;
  EXPECT_EQ(outcome_of(settings), "");
}

// --- TLS -----------------------------------------------------------------------------------------

class TlsLinkTest : public LinkTest {
 protected:
  TlsLinkTest() {
    std::string pattern = testing::TempDir() + "fairlead-tls-XXXXXX";
    folder = ::mkdtemp(pattern.data());
    make("ca", "-x509 -subj /CN=ca");
    make("server", "-subj /CN=server");
    sign("server", "subjectAltName=DNS:localhost");
    make("client", "-subj /CN=client");
    sign("client", "extendedKeyUsage=clientAuth");
  }
  ~TlsLinkTest() override { std::filesystem::remove_all(folder); }

  void make(const std::string& name, const std::string& more) {
    run(
        fmt::format("openssl req {1} -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "
                    "{0}.key -out {0}.{2}",
                    name, more, name == "ca" ? "pem" : "csr"));
  }
  void sign(const std::string& name, const std::string& extension) {
    std::ofstream(folder / "extension") << extension << "\n";
    run(
        fmt::format("openssl x509 -req -in {0}.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days "
                    "1 -extfile extension -out {0}.pem",
                    name));
  }
  void run(const std::string& command) {
    const std::string line =
        fmt::format("cd {} && {} 2>log || {{ cat log; false; }}", folder.string(), command);
    ASSERT_EQ(std::system(line.c_str()), 0) << command;
  }
  std::string path(const std::string& name) { return (folder / name).string(); }

  std::string config(bool verify) {
    return fmt::format("tls {{ cert_file: \"{}\", key_file: \"{}\", ca_file: \"{}\", verify: {} }}",
                       path("server.pem"), path("server.key"), path("ca.pem"), verify);
  }
  Settings to_tls(uint16_t port) {
    Settings settings = to("tls://localhost:" + std::to_string(port));
    settings.tls.on = true;
    settings.tls.ca = path("ca.pem");
    return settings;
  }

  std::filesystem::path folder;
};

TEST_F(TlsLinkTest, ChecksTheServersCertificateAndName) {
  NatsServerProcess server({false, config(false)});
  Settings settings = to_tls(server.port());
  EXPECT_EQ(outcome_of(settings), "");
  settings.tls.only_1_3 = true;
  EXPECT_EQ(outcome_of(settings), "");
  settings.tls.server_name = "elsewhere";
  EXPECT_NE(outcome_of(settings), "");
  settings.tls.server_name = "localhost";
  settings.servers = {server.url("tls")};
  EXPECT_EQ(outcome_of(settings), "");
  settings.tls.server_name = "";
  EXPECT_THAT(outcome_of(settings), HasSubstr("NATS_TLS_SERVER_NAME"));
  settings.tls.ca = "";
  settings.servers = {"tls://localhost:" + std::to_string(server.port())};
  EXPECT_NE(outcome_of(settings), "");
  settings.tls.insecure = true;
  EXPECT_EQ(outcome_of(settings), "");
}

TEST_F(TlsLinkTest, ShowsItsOwnCertificate) {
  NatsServerProcess server({false, config(true)});
  Settings settings = to_tls(server.port());
  EXPECT_NE(outcome_of(settings), "");
  settings.tls.certificate = path("client.pem");
  settings.tls.key = path("client.key");
  EXPECT_EQ(outcome_of(settings), "");
  settings.tls.key = path("missing.key");
  EXPECT_THAT(outcome_of(settings), HasSubstr("NATS_TLS_CERT"));
}

TEST_F(TlsLinkTest, MovesManyBytes) {
  NatsServerProcess server({false, config(false)});
  Told told(loop, to_tls(server.port()));
  told.link.listen("a", "", Link::Care::kKeepAll);
  told.link.open();
  ASSERT_TRUE(loop.run_until([&] { return told.connected > 0; }));
  const std::string payload(300'000, 'x');
  for (int i = 0; i < 100; ++i) EXPECT_EQ(told.link.send({"a", payload}), Sending::kSent);
  EXPECT_TRUE(loop.run_until([&] { return told.heard.size() == 100; }));
  for (const Arrival& arrival : told.heard) EXPECT_EQ(arrival.payload, payload);
}

// Says that it wants TLS and then speaks only version 1.2 of it. True when it was accepted.
class OldTlsServer {
 public:
  OldTlsServer(const std::string& certificate, const std::string& key)
      : acceptor_(context_, {boost::asio::ip::make_address("127.0.0.1"), 0}) {
    tls_.use_certificate_chain_file(certificate);
    tls_.use_private_key_file(key, boost::asio::ssl::context::pem);
    SSL_CTX_set_max_proto_version(tls_.native_handle(), TLS1_2_VERSION);
  }
  uint16_t port() { return acceptor_.local_endpoint().port(); }
  bool accepts() {
    auto socket = acceptor_.accept();
    boost::asio::write(socket,
                       boost::asio::buffer(std::string(
                           "INFO {\"server_id\":\"x\",\"version\":\"2.9.10\",\"max_payload\":1000,"
                           "\"tls_required\":true,\"headers\":true}\r\n")));
    boost::asio::ssl::stream<boost::asio::ip::tcp::socket> stream(std::move(socket), tls_);
    boost::system::error_code wrong;
    stream.handshake(boost::asio::ssl::stream_base::server, wrong);
    return !wrong;
  }

 private:
  boost::asio::io_context context_;
  boost::asio::ip::tcp::acceptor acceptor_;
  boost::asio::ssl::context tls_{boost::asio::ssl::context::tls_server};
};

TEST_F(TlsLinkTest, SpeaksNoOlderVersionThanAllowed) {
  OldTlsServer old(path("server.pem"), path("server.key"));
  for (bool only_1_3 : {false, true}) {
    Settings settings = to_tls(old.port());
    settings.tls.only_1_3 = only_1_3;
    bool accepted = false;
    std::thread server([&] { accepted = old.accepts(); });
    Told told(loop, settings);
    told.link.open();
    server.join();
    EXPECT_EQ(accepted, !only_1_3);
  }
}

// --- Again and again -----------------------------------------------------------------------------

TEST_F(LinkTest, ConnectsAgainAndListensAgainWhenTheServerIsBack) {
  NatsServerProcess server({.jetstream = false});
  Told told(loop, to(server.url()));
  const uint64_t listener = told.link.listen("a", "", Link::Care::kMayDrop);
  told.link.open();
  ASSERT_TRUE(loop.run_until([&] { return told.connected == 1; }));
  server.kill();
  ASSERT_TRUE(loop.run_until([&] { return told.lost.size() >= 2; }));
  EXPECT_EQ(told.link.send({"a", "nobody"}), Sending::kNotConnected);
  server.start();
  ASSERT_TRUE(loop.run_until([&] { return told.connected == 2; }));
  EXPECT_EQ(told.link.send({"a", "x"}), Sending::kSent);
  ASSERT_TRUE(loop.run_until([&] { return !told.heard.empty(); }));
  EXPECT_EQ(told.heard[0].payload, "x");
  EXPECT_EQ(told.heard[0].listener, listener);
}

TEST_F(LinkTest, GoesOnTryingWhenItIsRefusedMoreThanOnce) {
  NatsServerProcess server({.jetstream = false});
  Told told(loop, to(server.url()));
  told.link.open();
  ASSERT_TRUE(loop.run_until([&] { return told.connected == 1; }));
  server.kill();
  server.start("authorization { token: other }");
  ASSERT_TRUE(loop.run_until([&] { return told.lost.size() >= 4; }));
  server.kill();
  server.start("");
  EXPECT_TRUE(loop.run_until([&] { return told.connected == 2; }));
}

TEST_F(LinkTest, GoesToAnotherServerOfItsList) {
  NatsServerProcess first({.jetstream = false});
  NatsServerProcess second({.jetstream = false});
  Settings settings = to(first.url());
  settings.servers.push_back(second.url());
  Told told(loop, settings);
  told.link.open();
  ASSERT_TRUE(loop.run_until([&] { return told.connected == 1; }));
  EXPECT_EQ(told.link.server_url(), first.url());
  first.kill();
  ASSERT_TRUE(loop.run_until([&] { return told.connected == 2; }));
  EXPECT_EQ(told.link.server_url(), second.url());
}

TEST_F(LinkTest, StopsListeningWhenTold) {
  NatsServerProcess server({.jetstream = false});
  Told told(loop, to(server.url()));
  const uint64_t first = told.link.listen("a", "", Link::Care::kMayDrop);
  const uint64_t second = told.link.listen("a", "", Link::Care::kMayDrop);
  told.link.open();
  ASSERT_TRUE(loop.run_until([&] { return told.connected == 1; }));
  told.link.ignore(first);
  told.link.send({"a", "x"});
  ASSERT_TRUE(loop.run_until([&] { return !told.heard.empty(); }));
  loop.run_for(50ms);
  ASSERT_EQ(told.heard.size(), 1u);
  EXPECT_EQ(told.heard[0].listener, second);
}

TEST_F(LinkTest, TellsWhatTheServerComplainsAbout) {
  NatsServerProcess server(
      {false, "authorization { users: [{ user: u, password: p, permissions: { publish: a } }] }"});
  Settings settings = to(server.url());
  settings.user = "u";
  settings.password = "p";
  Told told(loop, settings);
  told.link.open();
  ASSERT_TRUE(loop.run_until([&] { return told.connected == 1; }));
  told.link.send({"b", "x"});
  ASSERT_TRUE(loop.run_until([&] { return !told.complaints.empty(); }));
  EXPECT_THAT(told.complaints[0], HasSubstr("ermissions"));
  EXPECT_TRUE(told.lost.empty());
}

TEST_F(LinkTest, SendsWhatItHasBeforeItEnds) {
  NatsServerProcess server({.jetstream = false});
  Told listener(loop, to(server.url()));
  listener.link.listen("a", "", Link::Care::kKeepAll);
  listener.link.open();
  ASSERT_TRUE(loop.run_until([&] { return listener.connected == 1; }));
  {
    Told told(loop, to(server.url()));
    told.link.open();
    ASSERT_TRUE(loop.run_until([&] { return told.connected == 1; }));
    for (int i = 0; i < 1000; ++i) told.link.send({"a", std::string(1000, 'x')});
  }
  EXPECT_TRUE(loop.run_until([&] { return listener.heard.size() == 1000; }));
}

TEST_F(LinkTest, CarriesReplyAndHeaders) {
  NatsServerProcess server({.jetstream = false});
  Told told(loop, to(server.url()));
  told.link.listen("a", "", Link::Care::kKeepAll);
  told.link.open();
  ASSERT_TRUE(loop.run_until([&] { return told.connected == 1; }));
  told.link.send({"a", "x", "answer.here", "some-id"});
  told.link.send({"a", "x"});
  ASSERT_TRUE(loop.run_until([&] { return told.heard.size() == 2; }));
  EXPECT_EQ(told.heard[0].reply, "answer.here");
  EXPECT_EQ(told.heard[0].headers, "NATS/1.0\r\nNats-Msg-Id: some-id\r\n\r\n");
  EXPECT_EQ(told.heard[1].reply + told.heard[1].headers, "");
}

}  // namespace
}  // namespace fairlead::bus::nats
