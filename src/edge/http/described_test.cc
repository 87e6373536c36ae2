// What callers meet on their way to a route is in the published description, as what routes answer.
#include <boost/json/parse.hpp>

#include "edge/http/server_fixture.h"

namespace fairlead::http {
namespace {

class Described : public ServerTest {
 protected:
  std::string answer_to(const std::string& bytes) const {
    RawClient client(port_);
    client.send(bytes);
    return client.read_answer();
  }
  static json::value body_of(const std::string& answer) {
    return json::parse(answer.substr(answer.find("\r\n\r\n") + 4));
  }
};

TEST_F(Described, RefusalsBeforeARouteAreInTheDescriptionAndLookAsItSays) {
  ServerSettings settings;
  settings.job_bytes_max = 100;
  ListenSettings listen;
  listen.access.rate = {0.001, 3};
  auto keys = std::make_shared<ApiKeys>();
  ASSERT_TRUE(keys->add_all("acme:k1:viewer").has_value());
  listen.keys = keys;
  start(settings, listen);

  const std::string submit = "POST /api/v1/jobs HTTP/1.1\r\nHost: x\r\n";
  const std::string key = "X-API-Key: k1\r\n";
  const std::string body = "Content-Length: 14\r\n\r\n{\"prompt\":\"p\"}";
  const json::value document =
      body_of(answer_to("GET /api/v1/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n"));
  const json::value& described = document.at("paths").at("/api/v1/jobs").at("post").at("responses");
  const json::value& problem = document.at("components").at("schemas").at("Problem");
  const std::pair<const char*, std::string> all[] = {
      {"401", submit + body},
      {"403", submit + key + body},
      {"403", submit + key + "X-Tenant-ID: globex\r\n" + body},
      {"413", submit + key + "Content-Length: 101\r\n\r\n"},
      {"431", submit + "X: " + std::string(2 * limits::kHttpHeaderBytesMax, 'x')},
      {"403", submit + key + body},
      {"429", submit + key + body},
  };
  for (const auto& [status, bytes] : all) {
    const std::string answer = answer_to(bytes);
    ASSERT_TRUE(answer.starts_with(std::string("HTTP/1.1 ") + status)) << status << ": " << answer;
    const json::value* response = described.as_object().if_contains(status);
    ASSERT_NE(response, nullptr) << status << " is not described";
    EXPECT_EQ(response->at("content").at("application/json").at("schema").at("$ref"),
              "#/components/schemas/Problem");
    const json::value told = body_of(answer);
    for (const json::value& name : problem.at("required").as_array()) {
      EXPECT_TRUE(told.as_object().contains(name.as_string())) << answer;
    }
    EXPECT_EQ(std::to_string(told.at("status").to_number<int>()), status);
  }
}

}  // namespace
}  // namespace fairlead::http
