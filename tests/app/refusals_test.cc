// Why `fairlead up` does not start: one line each, and a status.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/app/server_process.h"

namespace fairlead::app {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

void expect_one_line(const Ended& ended, int status, const std::string& text) {
  EXPECT_EQ(ended.status, status) << ended.output;
  EXPECT_THAT(ended.output, StartsWith("fairlead: "));
  EXPECT_THAT(ended.output, HasSubstr(text));
  EXPECT_EQ(std::ranges::count(ended.output, '\n'), 1) << ended.output;
}

Ended up(const std::string& data, const Words& flags) {
  Words words = load::up_words(program(), data, flags);
  words.erase(words.begin());
  return run(words);
}

TEST(Refusal, PortsThatAreTaken) {
  Folder folder;
  ServerProcess server(folder / "one");
  const std::pair<std::string, uint16_t> all[] = {{"--listen-api", server.api},
                                                  {"--listen-workers", server.workers},
                                                  {"--listen-payloads", server.payloads},
                                                  {"--listen-metrics", server.metrics}};
  for (const auto& [flag, port] : all) {
    const std::string address = "127.0.0.1:" + std::to_string(port);
    Ended ended = up(folder / "two", {flag, address});
    expect_one_line(ended, 1, address + ": Address already in use");
    EXPECT_THAT(ended.output, HasSubstr(flag + " HOST:PORT"));
  }
}

TEST(Refusal, DataThatAnotherProcessUses) {
  Folder folder;
  ServerProcess server(folder / "data");
  expect_one_line(up(folder / "data", {}), 1,
                  "data folder " + (folder / "data") + ": another process uses it");
}

TEST(Refusal, DataThatIsNoFolder) {
  Folder folder;
  const std::string file = folder.write("file", "text");
  expect_one_line(up(file, {}), 1, "data folder " + file);
}

TEST(Refusal, SettingsThatMakeNoSense) {
  Folder folder;
  const std::string data = folder / "data";
  expect_one_line(up(data, {"--what"}), 2, "there is no flag --what");
  expect_one_line(up(data, {"--log-level", "loud"}), 2,
                  "--log-level is \"loud\", must be debug, info, warning or error");
  for (const char* flag : {"--rate-burst", "--public-rate-burst"}) {
    expect_one_line(up(data, {flag, "0"}), 2,
                    std::string(flag) + " is \"0\", must be a number from 1");
  }
  expect_one_line(up(data, {"--config", folder / "missing.yaml"}), 1,
                  "missing.yaml cannot be read: No such file or directory");
  expect_one_line(up(data, {"--config", folder.write("bad.yaml", "data: [")}), 2, "bad.yaml line");
  expect_one_line(up(data, {"--pools", folder / "missing.yaml"}), 1,
                  "pools file " + (folder / "missing.yaml") + " cannot be read");
  expect_one_line(up(data, {"--pools", folder.write("p.yaml", "topics: {}\n")}), 1, "pools file ");
  expect_one_line(up(data, {"--api-keys", "a:b:king"}), 1, "role \"king\" must be");
  expect_one_line(up(data, {"--api-tls-cert", "c", "--api-tls-key", "k"}), 1,
                  "TLS of api: cannot use the certificate c: No such file or directory");
  EXPECT_FALSE(std::filesystem::exists(data)) << "who does not start leaves nothing behind";
}

TEST(Refusal, DoorsThatWouldBeOpenToStrangers) {
  Folder folder;
  const std::string data = folder / "data";
  expect_one_line(up(data, {"--listen-api", "0.0.0.0:0"}), 1, "needs API keys");
  expect_one_line(up(data, {"--listen-workers", "0.0.0.0:0"}), 1, "set a token");
  expect_one_line(up(data, {"--listen-payloads", "[::]:0"}), 1, "set a token");
  expect_one_line(up(data, {"--allowed-origins", "https://app.example.com"}), 1,
                  "allowed-origins needs API keys");
  ServerProcess server(data, {"--listen-api", "0.0.0.0:0", "--api-key", "k"});
  EXPECT_TRUE(server.ready());
}

TEST(Refusal, VerbsThatAreNone) {
  expect_one_line(run({"dance"}), 2, "there is no verb 'dance'");
}

}  // namespace
}  // namespace fairlead::app
