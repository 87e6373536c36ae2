#include "bus/nats/settings.h"

#include <gmock/gmock.h>

namespace fairlead::bus::nats {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Environment = std::map<std::string, std::string>;

// Production, with all that it demands.
Environment production(Environment more = {}) {
  more.merge(Environment{
      {"CORDUM_ENV", "production"}, {"NATS_URL", "tls://nats:4222"}, {"NATS_TOKEN", "secret"}});
  return more;
}

std::string why_not(const Environment& environment) {
  auto read = read_settings(environment);
  if (read) return "read";
  EXPECT_EQ(read.error().code, ErrorCode::kInvalid);
  return read.error().message;
}

TEST(NatsSettings, HaveTheDefaultsOfTheGoServices) {
  auto settings = read_settings({});
  ASSERT_TRUE(settings);
  EXPECT_THAT(settings->servers, ElementsAre("nats://localhost:4222"));
  EXPECT_FALSE(settings->jetstream);
  EXPECT_FALSE(settings->tls.on);
  EXPECT_EQ(settings->ping_every, 30s);
  EXPECT_EQ(settings->max_age, 168h);
  EXPECT_EQ(settings->ack_wait, 10min);
  EXPECT_EQ(settings->max_ack_pending, 2048);
  EXPECT_EQ(settings->replicas, 1);
}

TEST(NatsSettings, AreReadFromTheEnvironment) {
  auto settings = read_settings({{"NATS_URL", "nats://a:1, nats://b:2,c:3"},
                                 {"NATS_USE_JETSTREAM", "Yes"},
                                 {"NATS_JS_ACK_WAIT", "90s"},
                                 {"NATS_JS_MAX_AGE", "24h"},
                                 {"NATS_JS_REPLICAS", "3"},
                                 {"NATS_MAX_ACK_PENDING", "100"},
                                 {"NATS_PING_INTERVAL", "5s"},
                                 {"FAIRLEAD_NATS_MONITOR", "http://a:8222"}});
  ASSERT_TRUE(settings);
  EXPECT_THAT(settings->servers, ElementsAre("nats://a:1", "nats://b:2", "nats://c:3"));
  EXPECT_TRUE(settings->jetstream);
  EXPECT_EQ(settings->ack_wait, 90s);
  EXPECT_EQ(settings->max_age, 24h);
  EXPECT_EQ(settings->replicas, 3);
  EXPECT_EQ(settings->max_ack_pending, 100);
  EXPECT_EQ(settings->ping_every, 5s);
  EXPECT_EQ(settings->monitor, "http://a:8222");
}

TEST(NatsSettings, TurnJetStreamOnWithTheWordsOfTheGoServices) {
  for (const char* on : {"1", "true", "yes", "y", "on", "TRUE"}) {
    EXPECT_TRUE(read_settings({{"NATS_USE_JETSTREAM", on}})->jetstream) << on;
  }
  for (const char* off : {"", "0", "false", "no", "2"}) {
    EXPECT_FALSE(read_settings({{"NATS_USE_JETSTREAM", off}})->jetstream) << off;
  }
}

TEST(NatsSettings, KeepNoMoreUnacknowledgedThanAllowed) {
  EXPECT_EQ(read_settings({{"NATS_MAX_ACK_PENDING", "1000000"}})->max_ack_pending, 50'000);
}

TEST(NatsSettings, TakeTheFirstWayToSayWhoWeAre) {
  Environment all{{"NATS_URL", "nats://url-user:url-password@host:1"},
                  {"NATS_USERNAME", "user"},
                  {"NATS_PASSWORD", "password"},
                  {"NATS_TOKEN", "token"},
                  {"NATS_NKEY", "seed"}};
  auto by_user = read_settings(all);
  EXPECT_EQ(by_user->user, "user");
  EXPECT_EQ(by_user->password, "password");
  EXPECT_EQ(by_user->token + by_user->nkey_seed, "");
  all.erase("NATS_USERNAME");
  all.erase("NATS_PASSWORD");
  auto by_token = read_settings(all);
  EXPECT_EQ(by_token->token, "token");
  EXPECT_EQ(by_token->user + by_token->password + by_token->nkey_seed, "");
  all.erase("NATS_TOKEN");
  auto by_nkey = read_settings(all);
  EXPECT_EQ(by_nkey->nkey_seed, "seed");
  EXPECT_EQ(by_nkey->user + by_nkey->token, "");
  all.erase("NATS_NKEY");
  auto by_url = read_settings(all);
  EXPECT_EQ(by_url->user, "url-user");
  EXPECT_EQ(by_url->password, "url-password");
  EXPECT_THAT(by_url->servers, ElementsAre("nats://host:1"));
  EXPECT_EQ(read_settings({{"NATS_URL", "nats://token@host:1"}})->token, "token");
}

TEST(NatsSettings, ReadWhoWeAreFromAUrlAsUrlsWriteIt) {
  auto by_user = read_settings({{"NATS_URL", "nats://us%2Fer:p%40ss%3Aword@host:1"}});
  ASSERT_TRUE(by_user) << by_user.error().message;
  EXPECT_EQ(by_user->user, "us/er");
  EXPECT_EQ(by_user->password, "p@ss:word");
  EXPECT_EQ(read_settings({{"NATS_URL", "nats://to%25ken@host:1"}})->token, "to%ken");
  EXPECT_THAT(why_not({{"NATS_URL", "nats://user:100%@host:1"}}), HasSubstr("write %25"));
}

TEST(NatsSettings, HonourTlsVariablesOnlyForTlsUrls) {
  Environment environment{{"NATS_URL", "tls://host:1"},  {"NATS_TLS_CA", "ca.pem"},
                          {"NATS_TLS_CERT", "cert.pem"}, {"NATS_TLS_KEY", "key.pem"},
                          {"NATS_TLS_SERVER_NAME", "x"}, {"NATS_TLS_INSECURE", "true"}};
  auto settings = read_settings(environment);
  ASSERT_TRUE(settings);
  EXPECT_TRUE(settings->tls.on);
  EXPECT_EQ(settings->tls.ca, "ca.pem");
  EXPECT_EQ(settings->tls.certificate, "cert.pem");
  EXPECT_EQ(settings->tls.key, "key.pem");
  EXPECT_EQ(settings->tls.server_name, "x");
  EXPECT_TRUE(settings->tls.insecure);
  EXPECT_FALSE(settings->tls.only_1_3);

  environment["NATS_URL"] = "nats://host:1";
  auto plain = read_settings(environment);
  EXPECT_FALSE(plain->tls.on);
  EXPECT_EQ(plain->tls.ca, "");
}

TEST(NatsSettings, DemandTls13InProductionOrWhenAsked) {
  EXPECT_TRUE(read_settings(production())->tls.only_1_3);
  EXPECT_FALSE(read_settings(production({{"CORDUM_TLS_MIN_VERSION", "1.2"}}))->tls.only_1_3);
  EXPECT_TRUE(
      read_settings({{"NATS_URL", "tls://h:1"}, {"CORDUM_TLS_MIN_VERSION", "1.3"}})->tls.only_1_3);
  EXPECT_THAT(why_not({{"NATS_URL", "tls://h:1"}, {"CORDUM_TLS_MIN_VERSION", "1.1"}}),
              HasSubstr("CORDUM_TLS_MIN_VERSION"));
}

TEST(NatsSettings, NameTheVariableThatIsWrong) {
  EXPECT_THAT(why_not({{"NATS_URL", "http://host"}}), HasSubstr("NATS_URL"));
  EXPECT_THAT(why_not({{"NATS_URL", "nats://"}}), HasSubstr("NATS_URL: has no host"));
  EXPECT_THAT(why_not({{"NATS_URL", "nats://a,tls://b"}}), HasSubstr("NATS_URL: mixes"));
  EXPECT_THAT(why_not({{"NATS_URL", "nats://a@h,nats://b@h"}}), HasSubstr("two users"));
  EXPECT_THAT(why_not({{"NATS_USERNAME", "u"}}), HasSubstr("NATS_PASSWORD"));
  EXPECT_THAT(why_not({{"NATS_PASSWORD", "p"}}), HasSubstr("NATS_USERNAME"));
  EXPECT_THAT(why_not({{"NATS_URL", "tls://h"}, {"NATS_TLS_CERT", "c"}}),
              HasSubstr("NATS_TLS_KEY"));
}

TEST(NatsSettings, AreTheUsualOnesWhereANumberOrATimeMakesNoSense) {
  const Settings usual;
  auto settings = read_settings({{"NATS_JS_ACK_WAIT", "ten"},
                                 {"NATS_JS_MAX_AGE", "0s"},
                                 {"NATS_JS_REPLICAS", "0"},
                                 {"NATS_MAX_ACK_PENDING", "12x"},
                                 {"NATS_PING_INTERVAL", "-1s"}});
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->ack_wait, usual.ack_wait);
  EXPECT_EQ(settings->max_age, usual.max_age);
  EXPECT_EQ(settings->replicas, usual.replicas);
  EXPECT_EQ(settings->max_ack_pending, usual.max_ack_pending);
  EXPECT_EQ(settings->ping_every, usual.ping_every);
  EXPECT_EQ(settings->warnings.size(), 5u);
  EXPECT_THAT(settings->warnings, testing::Contains(HasSubstr("NATS_JS_ACK_WAIT is \"ten\"")));
}

TEST(NatsSettings, RefuseInProductionWhatIsNotSafe) {
  EXPECT_EQ(why_not(production()), "read");
  EXPECT_THAT(why_not({{"CORDUM_PRODUCTION", "1"}}), HasSubstr("NATS_URL: must be set"));
  const Environment plain = production({{"NATS_URL", "nats://h:1"}});
  EXPECT_THAT(why_not(plain), HasSubstr("CORDUM_NATS_ALLOW_PLAINTEXT"));
  EXPECT_EQ(
      why_not(production({{"NATS_URL", "nats://h:1"}, {"CORDUM_NATS_ALLOW_PLAINTEXT", "true"}})),
      "read");
  EXPECT_THAT(why_not(production({{"NATS_TOKEN", ""}})), HasSubstr("CORDUM_NATS_ALLOW_NOAUTH"));
  EXPECT_EQ(why_not(production({{"NATS_TOKEN", ""}, {"CORDUM_NATS_ALLOW_NOAUTH", "1"}})), "read");
  EXPECT_THAT(why_not(production({{"NATS_TLS_INSECURE", "1"}})), HasSubstr("NATS_TLS_INSECURE"));
  EXPECT_EQ(why_not({{"NATS_URL", "tls://h"}, {"NATS_TLS_INSECURE", "1"}}), "read");
}

}  // namespace
}  // namespace fairlead::bus::nats
