#include "app/serve_config.h"

#include <cstdio>
#include <fstream>
#include <functional>

#include <gmock/gmock.h>
#include <unistd.h>

namespace fairlead::app {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::expected<ServeConfig, Wrong> config_of_serve(const Variables& variables,
                                                  const std::vector<std::string_view>& words = {}) {
  auto settings =
      Settings::resolve(Verb::kServe, words, [&](const std::string& name) -> const char* {
        auto found = variables.find(name);
        return found == variables.end() ? nullptr : found->second.c_str();
      });
  if (!settings) return std::unexpected(settings.error());
  return serve_config_of(*settings, variables);
}

ServeConfig right(const Variables& variables, const std::vector<std::string_view>& words = {}) {
  auto config = config_of_serve(variables, words);
  EXPECT_TRUE(config) << config.error().message;
  return config ? *std::move(config) : ServeConfig{};
}

std::string refusal(const Variables& variables) {
  auto config = config_of_serve(variables);
  return config ? "" : config.error().message;
}

// Only read here; whether it is one is found out when the kernel is asked.
class AuthorityFile {
 public:
  AuthorityFile() { std::ofstream(path_) << "an authority"; }
  ~AuthorityFile() { std::remove(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  const std::string path_ = testing::TempDir() + "fairlead-authority-" + std::to_string(::getpid());
};

Variables production(Variables more = {}) {
  static const AuthorityFile authority;
  Variables variables{{"CORDUM_ENV", "production"},
                      {"NATS_URL", "tls://nats:4222"},
                      {"NATS_TOKEN", "t"},
                      {"REDIS_URL", "rediss://:p@redis:6379"},
                      {"SAFETY_KERNEL_ADDR", "kernel:50051"},
                      {"SAFETY_KERNEL_TLS_CA", authority.path()}};
  for (auto& [name, value] : more) variables[name] = value;
  return variables;
}

TEST(ServeConfig, ReadsTrueAndFalseInAnyOfTheGoServicesWords) {
  for (const char* yes : {"1", "true", "TRUE", "Yes", "y", "on"}) {
    EXPECT_TRUE(right({{"NATS_USE_JETSTREAM", yes}}).nats.jetstream) << yes;
  }
  for (const char* no : {"0", "False", "no", "N", "OFF"}) {
    EXPECT_FALSE(right({{"NATS_USE_JETSTREAM", no}}).nats.jetstream) << no;
  }
}

TEST(ServeConfig, WhatWasSaidByNameIsKnownToHoldWhateverOthersShare) {
  const ServeConfig usual = right({});
  EXPECT_FALSE(usual.dispatch_timeout || usual.running_timeout || usual.fail_mode_given);
  const ServeConfig given =
      right({{"POLICY_CHECK_FAIL_MODE", "closed"}}, {"--running-timeout", "60"});
  EXPECT_EQ(given.running_timeout, 60s);
  EXPECT_EQ(given.dispatch_timeout, std::nullopt);
  EXPECT_TRUE(given.fail_mode_given);
}

TEST(ServeConfig, ARedisWithoutTlsIsToldOfInProduction) {
  EXPECT_THAT(right(production()).common.warnings, IsEmpty());
  EXPECT_THAT(right(production({{"REDIS_URL", "redis://redis:6379"}})).common.warnings,
              Contains(HasSubstr("without TLS")));
}

TEST(ServeConfig, ANumberThatMakesNoSenseIsNotUsedAndToldOf) {
  const ServeConfig config = right({{"JOB_META_TTL", "soon"},
                                    {"SCHEDULER_DLQ_MAX_SIZE", "-4"},
                                    {"WORKER_SNAPSHOT_INTERVAL", "never"},
                                    {"NATS_JS_ACK_WAIT", "0s"}});
  EXPECT_EQ(config.redis.ended_job_ttl, store::redis::RedisOptions().ended_job_ttl);
  EXPECT_EQ(config.redis.dead_letters_max, limits::kDlqEntriesMax);
  EXPECT_EQ(config.common.scheduler.snapshot_every, Duration(5s));
  for (const char* name :
       {"JOB_META_TTL", "SCHEDULER_DLQ_MAX_SIZE", "WORKER_SNAPSHOT_INTERVAL", "NATS_JS_ACK_WAIT"}) {
    EXPECT_THAT(config.common.warnings, Contains(HasSubstr(name)));
  }
}

TEST(ServeConfig, ReadsWhatTheGoServicesRead) {
  const ServeConfig config = right({{"SCHEDULER_DLQ_MAX_SIZE", "17"},
                                    {"SCHEDULER_CONFIG_RELOAD_INTERVAL", "7s"},
                                    {"REDIS_DATA_TTL_SECONDS", "60"},
                                    {"REDIS_DATA_TTL", "2m"},
                                    {"REDIS_DIAL_TIMEOUT", "3s"},
                                    {"CORDUM_GRPC_CLIENT_KEEPALIVE_TIME", "40s"},
                                    {"CORDUM_GRPC_CLIENT_KEEPALIVE_TIMEOUT", "9s"},
                                    {"SAFETY_KERNEL_ADDR", "kernel:50051"},
                                    {"SAFETY_KERNEL_INSECURE", "true"},
                                    {"CORDUM_INSTANCE_ID", "scheduler-0.scheduler.svc"}});
  EXPECT_EQ(config.redis.dead_letters_max, 17u);
  EXPECT_EQ(config.reload_every, Duration(7s));
  EXPECT_EQ(config.context_ttl, Duration(2min)) << "a duration beats the same in seconds";
  EXPECT_EQ(config.redis.connect_wait, Duration(3s));
  ASSERT_TRUE(config.kernel);
  EXPECT_EQ(config.kernel->keepalive_every, Duration(40s));
  EXPECT_EQ(config.kernel->keepalive_timeout, Duration(9s));
  EXPECT_EQ(config.common.scheduler.instance, "scheduler-0.scheduler.svc");
  EXPECT_THAT(config.common.warnings, IsEmpty());
}

// Each by itself, so that none is read in place of another.
TEST(ServeConfig, EveryVariableOfTheGoServicesIsReadInItsPlace) {
  struct Row {
    const char* name;
    const char* value;
    std::function<bool(const ServeConfig&)> in_place;
  };
  const std::vector<Row> rows{
      {"NATS_URL", "nats://u:p@n:1", [](auto& c) { return c.nats.password == "p"; }},
      {"NATS_USE_JETSTREAM", "true", [](auto& c) { return c.nats.jetstream; }},
      {"NATS_JS_ACK_WAIT", "3m", [](auto& c) { return c.nats.ack_wait == 3min; }},
      {"NATS_JS_MAX_AGE", "24h", [](auto& c) { return c.nats.max_age == 24h; }},
      {"NATS_JS_REPLICAS", "3", [](auto& c) { return c.nats.replicas == 3; }},
      {"NATS_MAX_ACK_PENDING", "77", [](auto& c) { return c.nats.max_ack_pending == 77; }},
      {"NATS_PING_INTERVAL", "1s", [](auto& c) { return c.nats.ping_every == 1s; }},
      {"NATS_TOKEN", "t", [](auto& c) { return c.nats.token == "t"; }},
      {"NATS_NKEY", "seed", [](auto& c) { return c.nats.nkey_seed == "seed"; }},
      {"REDIS_URL", "redis://r:7", [](auto& c) { return c.redis.url == "redis://r:7"; }},
      {"REDIS_CLUSTER_ADDRESSES", "one:6380",
       [](auto& c) { return c.redis.url == "redis://one:6380"; }},
      {"REDIS_TLS_CA", "ca", [](auto& c) { return c.redis.tls.ca_file == "ca"; }},
      {"REDIS_TLS_SERVER_NAME", "n", [](auto& c) { return c.redis.tls.server_name == "n"; }},
      {"REDIS_TLS_INSECURE", "yes", [](auto& c) { return c.redis.tls.insecure; }},
      {"CORDUM_TLS_MIN_VERSION", "1.3", [](auto& c) { return c.redis.tls.only_1_3; }},
      {"REDIS_READ_TIMEOUT", "4s", [](auto& c) { return c.redis.answer_wait == 4s; }},
      {"REDIS_DIAL_TIMEOUT", "6s", [](auto& c) { return c.redis.connect_wait == 6s; }},
      {"JOB_META_TTL", "48h", [](auto& c) { return c.redis.ended_job_ttl == 48h; }},
      {"JOB_META_TTL_SECONDS", "3600",
       [](auto& c) {
         return c.redis.ended_job_ttl == 1h && c.common.scheduler.ended_job_ttl == 1h;
       }},
      {"CORDUM_IDEMPOTENCY_TTL", "12h", [](auto& c) { return c.redis.idempotency_ttl == 12h; }},
      {"CORDUM_DLQ_ENTRY_TTL_DAYS", "2", [](auto& c) { return c.redis.dead_letter_ttl == 48h; }},
      {"SCHEDULER_DLQ_MAX_SIZE", "9", [](auto& c) { return c.redis.dead_letters_max == 9; }},
      {"REDIS_DATA_TTL", "5m", [](auto& c) { return c.context_ttl == 5min; }},
      {"REDIS_DATA_TTL_SECONDS", "8", [](auto& c) { return c.context_ttl == 8s; }},
      {"SCHEDULER_CONFIG_RELOAD_INTERVAL", "9s", [](auto& c) { return c.reload_every == 9s; }},
      {"WORKER_SNAPSHOT_INTERVAL", "7s",
       [](auto& c) { return c.common.scheduler.snapshot_every == 7s; }},
      {"SCHEDULER_METRICS_ADDR", "127.0.0.1:9999",
       [](auto& c) { return c.common.metrics.text() == "127.0.0.1:9999"; }},
      {"POOL_CONFIG_PATH", "p.yaml", [](auto& c) { return c.common.pools_file == "p.yaml"; }},
      {"POLICY_CHECK_FAIL_MODE", "open",
       [](auto& c) { return c.common.scheduler.safety_fail_open; }},
      {"SAFETY_KERNEL_ADDR", "k:1", [](auto& c) { return c.kernel->address == "k:1"; }},
      {"CORDUM_INSTANCE_ID", "i", [](auto& c) { return c.common.scheduler.instance == "i"; }},
  };
  const ServeConfig usual = right({});
  for (const Row& row : rows) {
    const bool of_kernel = std::string_view(row.name) == "SAFETY_KERNEL_ADDR";
    EXPECT_FALSE(!of_kernel && row.in_place(usual)) << row.name << " is not what is usual";
    EXPECT_TRUE(row.in_place(right({{row.name, row.value}}))) << row.name;
  }
  const ServeConfig both = right({{"REDIS_TLS_CERT", "c"}, {"REDIS_TLS_KEY", "k"}});
  EXPECT_EQ(both.redis.tls.certificate_file, "c");
  EXPECT_EQ(both.redis.tls.key_file, "k");
  EXPECT_THAT(refusal({{"REDIS_TLS_CERT", "c"}}), HasSubstr("REDIS_TLS_KEY"));
  EXPECT_THAT(refusal({{"SAFETY_KERNEL_ADDR", "k:1"}, {"SAFETY_KERNEL_TLS_REQUIRED", "true"}}),
              HasSubstr("over TLS"));
}

TEST(ServeConfig, OneAddressOfAClusterIsWhereTheServerIs) {
  EXPECT_EQ(
      right({{"REDIS_URL", "rediss://u:p%40@old:1/3?x=1"}, {"REDIS_CLUSTER_ADDRESSES", "new:2"}})
          .redis.url,
      "rediss://u:p%40@new:2/3?x=1");
  EXPECT_THAT(refusal({{"REDIS_CLUSTER_ADDRESSES", "a:1,b:2"}}), HasSubstr("names several"));
}

TEST(ServeConfig, LogWordsAreReadInAnyCase) {
  EXPECT_EQ(refusal({{"CORDUM_LOG_LEVEL", "INFO"}, {"CORDUM_LOG_FORMAT", "JSON"}}), "");
}

TEST(ServeConfig, VariablesThatHaveNoEffectAreToldOfInOneLine) {
  const ServeConfig config = right({{"REDIS_POOL_SIZE", "20"},
                                    {"CORDUM_HEARTBEAT_MODE", "authority"},
                                    {"SAFETY_KERNEL_ADDR", "k:1"},
                                    {"SAFETY_KERNEL_INSECURE", "true"}});
  EXPECT_THAT(config.common.warnings,
              ElementsAre("variables that have no effect here: CORDUM_HEARTBEAT_MODE, "
                          "REDIS_POOL_SIZE"));
}

TEST(ServeConfig, WhatHasNoEffectHereIsToldOf) {
  const ServeConfig config =
      right({{"WORKER_READINESS_REQUIRED", "true"}, {"OUTPUT_POLICY_ENABLED", "0"}});
  EXPECT_THAT(config.common.warnings, Contains(HasSubstr("WORKER_READINESS_REQUIRED")));
  EXPECT_THAT(config.common.warnings, Not(Contains(HasSubstr("OUTPUT_POLICY_ENABLED"))));
}

TEST(ServeConfig, AGateThatIsNotHereIsNotLeftOpenWhereItWouldHaveToBeShut) {
  for (const char* gate : {"WORKER_ATTESTATION", "CORDUM_SDK_HANDSHAKE", "SCHEMA_ENFORCEMENT"}) {
    EXPECT_THAT(refusal({{gate, "enforce"}}), HasSubstr(std::string(gate) + "=enforce")) << gate;
    EXPECT_THAT(refusal({{gate, " Enforce "}}), HasSubstr(gate)) << gate;
    EXPECT_EQ(refusal({{gate, "off"}}), "") << gate;
    EXPECT_EQ(refusal({{gate, "warn"}}), "") << gate;
  }
  const ServeConfig config = right({{"WORKER_ATTESTATION", "warn"},
                                    {"CORDUM_SDK_HANDSHAKE", "off"},
                                    {"SCHEMA_ENFORCEMENT", "warn"}});
  EXPECT_THAT(config.common.warnings, Contains(HasSubstr("WORKER_ATTESTATION is set")));
  EXPECT_THAT(config.common.warnings, Not(Contains(HasSubstr("CORDUM_SDK_HANDSHAKE"))));
  EXPECT_THAT(config.common.warnings, Not(Contains(HasSubstr("SCHEMA_ENFORCEMENT"))));
}

TEST(ServeConfig, WithoutASafetyKernelItIsToldThatEveryJobIsAllowed) {
  EXPECT_THAT(right({}).common.warnings, ElementsAre(HasSubstr("every job is allowed")));
  EXPECT_THAT(right({{"SAFETY_KERNEL_ADDR", "kernel:50051"}}).common.warnings,
              Not(Contains(HasSubstr("every job is allowed"))));
}

TEST(ServeConfig, ProductionNamesItsSafetyKernel) {
  EXPECT_THAT(refusal(production({{"SAFETY_KERNEL_ADDR", ""}})), HasSubstr("SAFETY_KERNEL_ADDR"));
}

TEST(ServeConfig, AnEmptyAuthorityIsNotTakenForAKernelWithoutTls) {
  EXPECT_THAT(refusal(production({{"SAFETY_KERNEL_TLS_CA", "/dev/null"}})),
              HasSubstr("/dev/null is empty"));
}

TEST(ServeConfig, ProductionNamesItsServers) {
  EXPECT_EQ(refusal(production()), "");
  EXPECT_THAT(refusal(production({{"REDIS_URL", ""}})), HasSubstr("REDIS_URL"));
  EXPECT_THAT(refusal(production({{"NATS_URL", ""}})), HasSubstr("NATS_URL"));
}

TEST(ServeConfig, ProductionKeepsItsMetricsToItselfUnlessToldOtherwise) {
  const char* everywhere = "0.0.0.0:2112";
  EXPECT_THAT(refusal(production({{"FAIRLEAD_LISTEN_METRICS", everywhere}})),
              HasSubstr("SCHEDULER_METRICS_PUBLIC"));
  EXPECT_EQ(refusal(production(
                {{"FAIRLEAD_LISTEN_METRICS", everywhere}, {"SCHEDULER_METRICS_PUBLIC", "true"}})),
            "");
  EXPECT_EQ(refusal({{"FAIRLEAD_LISTEN_METRICS", everywhere}}), "");
}

TEST(ServeConfig, AMissingTimeoutsFileIsAWarningOutsideProduction) {
  const ServeConfig config = right({{"TIMEOUT_CONFIG_PATH", "/nowhere/timeouts.yaml"}});
  EXPECT_THAT(config.common.warnings, Contains(HasSubstr("/nowhere/timeouts.yaml")));
  EXPECT_THAT(refusal(production({{"TIMEOUT_CONFIG_PATH", "/nowhere/timeouts.yaml"}})),
              HasSubstr("/nowhere/timeouts.yaml"));
}

TEST(ServeConfig, TheSafetyFileSaysTheFailModeWhereNothingElseDoes) {
  const std::string path =
      testing::TempDir() + "fairlead-safety-" + std::to_string(::getpid()) + ".yaml";
  std::ofstream(path) << "input_policy:\n  fail_mode: open\n";
  EXPECT_FALSE(right({}).common.scheduler.safety_fail_open);
  EXPECT_TRUE(right({{"SAFETY_POLICY_PATH", path}}).common.scheduler.safety_fail_open);
  EXPECT_FALSE(right({{"SAFETY_POLICY_PATH", path}, {"POLICY_CHECK_FAIL_MODE", "closed"}})
                   .common.scheduler.safety_fail_open);
  std::remove(path.c_str());
}

}  // namespace
}  // namespace fairlead::app
