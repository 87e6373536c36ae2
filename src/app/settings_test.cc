#include "app/settings.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "app/config.h"

namespace fairlead::app {
namespace {

using testing::HasSubstr;
using Words = std::vector<std::string_view>;
using Variables = std::map<std::string, std::string>;

std::expected<Settings, Wrong> resolve(const Words& words, const Variables& variables = {}) {
  return Settings::resolve(Verb::kUp, words, [&](const std::string& name) -> const char* {
    auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

// The file is gone with the object.
class File {
 public:
  explicit File(const std::string& text)
      : path_(testing::TempDir() + "fairlead-settings-" + std::to_string(::getpid()) + ".yaml") {
    std::ofstream(path_) << text;
  }
  ~File() { std::remove(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

Wrong wrong_of(const Words& words, const Variables& variables = {}) {
  auto settings = resolve(words, variables);
  if (settings) return {};
  return settings.error();
}

TEST(Settings, WithoutAWordAreTheDefaultsOfThisMachine) {
  auto settings = resolve({});
  ASSERT_TRUE(settings.has_value());
  EXPECT_EQ(settings->text("data"), "./fairlead-data");
  EXPECT_EQ(settings->text("listen-api"), "127.0.0.1:8081");
  EXPECT_EQ(settings->text("listen-workers"), "127.0.0.1:4222");
  EXPECT_EQ(settings->text("listen-payloads"), "127.0.0.1:6379");
  EXPECT_EQ(settings->text("listen-metrics"), "127.0.0.1:2112");
  for (const Setting* one : settings_of(Verb::kUp)) {
    const Setting& setting = *one;
    EXPECT_EQ(settings->value(setting.name).source, Source::kDefault) << setting.name;
  }
}

TEST(Settings, AFlagBeatsTheEnvironmentBeatsTheFileBeatsTheDefault) {
  File file("data: from-file\ninstance: from-file\nlog_level: error\n");
  auto settings =
      resolve({"--data", "from-flag", "--config", file.path()},
              {{"FAIRLEAD_DATA", "from-environment"}, {"FAIRLEAD_INSTANCE", "from-environment"}});
  ASSERT_TRUE(settings.has_value()) << settings.error().message;
  EXPECT_EQ(settings->text("data"), "from-flag");
  EXPECT_EQ(settings->value("data").source, Source::kFlag);
  EXPECT_EQ(settings->value("data").place, "--data");
  EXPECT_EQ(settings->text("instance"), "from-environment");
  EXPECT_EQ(settings->value("instance").source, Source::kEnvironment);
  EXPECT_EQ(settings->value("instance").place, "FAIRLEAD_INSTANCE");
  EXPECT_EQ(settings->text("log-level"), "error");
  EXPECT_EQ(settings->value("log-level").source, Source::kFile);
  EXPECT_EQ(settings->value("log-level").place, file.path() + " line 3: log_level");
  EXPECT_EQ(settings->value("log-format").source, Source::kDefault);
}

TEST(Settings, TheFileCanBeNamedByTheEnvironment) {
  File file("data: from-file\n");
  auto settings = resolve({}, {{"FAIRLEAD_CONFIG", file.path()}});
  ASSERT_TRUE(settings.has_value()) << settings.error().message;
  EXPECT_EQ(settings->text("data"), "from-file");
}

TEST(Settings, EveryOneIsAFlagAVariableAndAKeyOfTheFile) {
  for (const Setting* one : settings_of(Verb::kUp)) {
    const Setting& setting = *one;
    const std::string good = setting.fallback.empty() ? "x" : std::string(setting.fallback);
    if (!setting.check(good).empty() || setting.name == kConfigSetting) continue;
    const std::string flag = setting.flag() + "=" + good;
    auto by_flag = resolve({flag});
    ASSERT_TRUE(by_flag.has_value()) << by_flag.error().message;
    EXPECT_EQ(by_flag->value(setting.name).source, Source::kFlag) << setting.name;
    auto by_variable = resolve({}, {{setting.variable(), good}});
    ASSERT_TRUE(by_variable.has_value()) << by_variable.error().message;
    EXPECT_EQ(by_variable->value(setting.name).source, Source::kEnvironment) << setting.name;
    auto by_file = parse_settings_file(Verb::kUp, setting.key() + ": \"" + good + "\"\n", "f");
    ASSERT_TRUE(by_file.has_value()) << by_file.error().message;
    EXPECT_EQ(by_file->at(setting.name).text, good);
  }
}

TEST(Settings, VariablesOfOtherToolsCountBehindOurs) {
  EXPECT_EQ(resolve({}, {{"CORDUM_API_KEY", "theirs"}})->text("api-key"), "theirs");
  EXPECT_EQ(resolve({}, {{"CORDUM_API_KEY", "theirs"}})->value("api-key").place, "CORDUM_API_KEY");
  auto both = resolve({}, {{"CORDUM_API_KEY", "theirs"}, {"FAIRLEAD_API_KEY", "ours"}});
  EXPECT_EQ(both->text("api-key"), "ours");
  const Variables theirs = {{"SCHEDULER_METRICS_ADDR", ":9090"},
                            {"CORDUM_LOG_LEVEL", "warn"},
                            {"CORDUM_INSTANCE_ID", "pod-1"}};
  auto settings = resolve({}, theirs);
  ASSERT_TRUE(settings.has_value()) << settings.error().message;
  EXPECT_EQ(config_of(*settings)->metrics.text(), "0.0.0.0:9090");
  EXPECT_EQ(config_of(*settings)->scheduler.instance, "pod-1");
  EXPECT_EQ(log_style_of(*settings).level, Log::Level::kWarning);
}

TEST(Config, AServerIsNamedAfterItsMachine) {
  char host[256] = {};
  ASSERT_EQ(::gethostname(host, sizeof(host) - 1), 0);
  EXPECT_EQ(config_of(*resolve({}))->scheduler.instance, instance_of_host(host));
  EXPECT_EQ(instance_of_host("node-7.example.com"), "node-7.example.com");
  EXPECT_EQ(instance_of_host(""), "unknown");
  EXPECT_EQ(is_instance(instance_of_host(std::string(300, '.'))), "");
}

TEST(Settings, AnEmptyNameOfTheServerIsNone) {
  EXPECT_THAT(resolve({"--instance="}).error().message, testing::HasSubstr("1 to 64"));
}

TEST(Settings, SwitchesNeedNoValue) {
  EXPECT_EQ(resolve({"--demo"})->text("demo"), "true");
  EXPECT_EQ(resolve({"--demo=false"})->text("demo"), "false");
}

TEST(Settings, WhatIsWrongWithAFlagIsSaidInOneLine) {
  EXPECT_EQ(wrong_of({"--lisen-api", "x"}).message, "there is no flag --lisen-api (see --help)");
  EXPECT_EQ(wrong_of({"--data"}).message, "--data needs a value: --data FOLDER");
  EXPECT_EQ(wrong_of({"--data", "--demo"}).message, "--data needs a value: --data FOLDER");
  EXPECT_EQ(wrong_of({"start"}).message,
            "\"start\" is no flag: every setting is --name VALUE (see --help)");
  EXPECT_THAT(wrong_of({"--listen-api", "8081"}).message,
              HasSubstr("--listen-api is \"8081\", must be HOST:PORT, as 127.0.0.1:8081"));
  EXPECT_EQ(wrong_of({"--log-format", "xml"}).message,
            "--log-format is \"xml\", must be text or json");
  EXPECT_EQ(wrong_of({"--data="}).message, "--data is \"\", must not be empty");
  for (const Words& words : {Words{"--nothing"}, Words{"--data"}, Words{"--log-level", "loud"}}) {
    EXPECT_EQ(wrong_of(words).status, kUsage);
  }
}

TEST(Settings, WhatIsWrongWithAVariableNamesIt) {
  EXPECT_EQ(wrong_of({}, {{"FAIRLEAD_RATE_LIMIT", "fast"}}).message,
            "FAIRLEAD_RATE_LIMIT is \"fast\", must be a number, as 500");
  EXPECT_EQ(wrong_of({}, {{"CORDUM_ALLOWED_ORIGINS", "example.com"}}).status, kUsage);
}

TEST(Settings, WhatIsWrongWithTheFileNamesFileLineAndSetting) {
  auto wrong = [](const char* text) {
    return parse_settings_file(Verb::kUp, text, "f.yaml").error().message;
  };
  EXPECT_THAT(wrong("data: x\nlisten_ap: y\n"),
              HasSubstr("f.yaml line 2: there is no setting \"listen_ap\""));
  EXPECT_THAT(wrong("config: x\n"), HasSubstr("there is no setting \"config\""));
  EXPECT_THAT(wrong("data: {a: b}\n"), HasSubstr("f.yaml line 1: data must be a text or a list"));
  EXPECT_THAT(wrong("data: x\ndata: y\n"), HasSubstr("given twice"));
  EXPECT_THAT(wrong("- data\n"), HasSubstr("f.yaml: must be a map of settings"));
  EXPECT_THAT(wrong("data: [x\n"), HasSubstr("f.yaml line "));
  File file("rate_limit: fast\n");
  EXPECT_EQ(wrong_of({"--config", file.path()}).message,
            file.path() + " line 1: rate_limit is \"fast\", must be a number, as 500");
}

TEST(Settings, AListInTheFileDoesNotUnfoldWithoutEnd) {
  std::string text = "data: &long " + std::string(100'000, 'x') + "\nallowed_origins: [*long";
  for (int i = 0; i < 1000; ++i) text += ", *long";
  auto values = parse_settings_file(Verb::kUp, text + "]\n", "f.yaml");
  ASSERT_FALSE(values.has_value());
  EXPECT_EQ(values.error().message, "f.yaml line 2: allowed_origins is too long");
}

TEST(Settings, AFileThatCannotBeReadIsAFailure) {
  Wrong wrong = wrong_of({"--config", "/nowhere/at/all.yaml"});
  EXPECT_EQ(wrong.status, kFailure);
  EXPECT_EQ(wrong.message,
            "settings file /nowhere/at/all.yaml cannot be read: No such file or directory");
  EXPECT_THAT(wrong_of({"--config", "/"}).message, HasSubstr("Is a directory"));
}

TEST(Settings, AListInTheFileIsItsPartsBetweenCommas) {
  auto values =
      parse_settings_file(Verb::kUp, "allowed_origins:\n  - http://a\n  - http://b\n", "f");
  EXPECT_EQ(values->at("allowed-origins").text, "http://a,http://b");
}

TEST(Settings, AreShownWithTheirSourceAndWithoutSecrets) {
  auto settings = resolve({"--api-key", "geheim", "--data", "d"}, {{"FAIRLEAD_INSTANCE", "one"}});
  std::string table = show_table(*settings);
  EXPECT_THAT(table, testing::ContainsRegex("data +d +flag \\(--data\\)\n"));
  EXPECT_THAT(table,
              testing::ContainsRegex("instance +one +environment \\(FAIRLEAD_INSTANCE\\)\n"));
  EXPECT_THAT(table, testing::ContainsRegex("log-level +info +default\n"));
  EXPECT_THAT(table, testing::ContainsRegex("api-key +\\(hidden\\) +flag"));
  EXPECT_THAT(table, testing::Not(HasSubstr("geheim")));
  std::string json = show_json(*settings);
  EXPECT_THAT(json, HasSubstr(R"("data":{"value":"d","source":"flag","from":"--data"})"));
  EXPECT_THAT(json, HasSubstr(R"("log-level":{"value":"info","source":"default"})"));
  EXPECT_THAT(json, testing::Not(HasSubstr("geheim")));
}

TEST(Settings, ARateThatHoldsNobodyUpWithoutKeysIsShownAsSuch) {
  auto noted = [](const Words& words, const char* name) {
    return testing::Matches(testing::ContainsRegex(fmt::format(
        "\n{} +[0-9]+ +[a-z]+[^\n]*no limit is in force", name)))(show_table(*resolve(words)));
  };
  for (const char* name : {"rate-limit", "rate-burst", "public-rate-limit", "public-rate-burst"}) {
    EXPECT_TRUE(noted({}, name)) << name;
    EXPECT_FALSE(noted({"--api-key", "k"}, name)) << name;
  }
  EXPECT_FALSE(noted({"--rate-burst", "3"}, "rate-limit"));
  EXPECT_TRUE(noted({"--rate-burst", "3"}, "public-rate-limit"));
  EXPECT_THAT(show_json(*resolve({})), HasSubstr(R"("note":"no limit is in force)"));
}

TEST(Settings, HelpTellsEveryOne) {
  std::string help = describe_settings(Verb::kUp);
  for (const Setting* one : settings_of(Verb::kUp)) EXPECT_THAT(help, HasSubstr(one->flag()));
}

TEST(HostPort, IsAnAddressAndAPort) {
  EXPECT_EQ(parse_host_port("localhost:0")->text(), "127.0.0.1:0");
  EXPECT_EQ(parse_host_port("[::1]:65535")->text(), "[::1]:65535");
  EXPECT_EQ(parse_host_port("0.0.0.0:80")->port, 80);
  EXPECT_EQ(parse_host_port(":9090")->text(), "0.0.0.0:9090");
  for (const char* wrong : {"", ":", "80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536",
                            "127.0.0.1:-1", "::1:80", "[127.0.0.1]:80", "example.com:80", "a:b"}) {
    EXPECT_FALSE(parse_host_port(wrong).has_value()) << wrong;
  }
}

TEST(Config, ACertificateNeedsItsKey) {
  auto wrong = [](const Words& words) { return config_of(*resolve(words)).error(); };
  EXPECT_EQ(wrong({"--api-tls-cert", "c.pem"}).message,
            "--api-tls-cert is set without --api-tls-key: TLS needs both files");
  EXPECT_EQ(wrong({"--workers-tls-client-ca", "c.pem"}).message,
            "--workers-tls-client-ca is set without --workers-tls-cert: TLS needs both files");
  EXPECT_THAT(wrong({"--payloads-tls-cert", "/no/c.pem", "--payloads-tls-key", "k"}).message,
              HasSubstr("/no/c.pem"));
}

TEST(Config, CarriesWhatWasSet) {
  auto config = config_of(*resolve({"--rate-limit",        "7",
                                    "--rate-burst",        "8",
                                    "--public-rate-limit", "9",
                                    "--public-rate-burst", "10",
                                    "--allowed-origins",   "http://a, http://b",
                                    "--worker-token",      "t",
                                    "--worker-user",       "u",
                                    "--worker-password",   "p",
                                    "--running-timeout",   "1.5",
                                    "--dispatch-timeout",  "2",
                                    "--stale-picks",       "5"}));
  ASSERT_TRUE(config.has_value());
  EXPECT_EQ(config->access.rate.per_second, 7);
  EXPECT_EQ(config->access.rate.burst, 8);
  EXPECT_EQ(config->access.public_rate.per_second, 9);
  EXPECT_EQ(config->access.public_rate.burst, 10);
  EXPECT_EQ(config->access.allowed_origins, (std::vector<std::string>{"http://a", "http://b"}));
  EXPECT_EQ(config->credentials.token, "t");
  EXPECT_EQ(config->credentials.user, "u");
  EXPECT_EQ(config->credentials.password, "p");
  EXPECT_EQ(config->scheduler.timeouts.running, std::chrono::milliseconds(1500));
  EXPECT_EQ(config->scheduler.timeouts.dispatch, std::chrono::seconds(2));
  EXPECT_EQ(config->scheduler.stale_picks_max, 5);
}

TEST(Config, AnEmbeddedServerReadsTheTimeoutsThatShip) {
  const char* house = std::getenv("FAIRLEAD_SOURCE_DIR");
  const std::string shipped = std::string(house ? house : ".") + "/config/timeouts.yaml";
  auto config = config_of(*resolve({"--timeouts", shipped}));
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_EQ(config->scheduler.timeouts.dispatch, std::chrono::seconds(300));
  EXPECT_EQ(config->scheduler.timeouts.running, std::chrono::seconds(900));
  File topics("topics: {job.slow: {running_timeout_seconds: 7200, dispatch_timeout_seconds: 60}}");
  config = config_of(*resolve({"--timeouts", topics.path()}));
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_EQ(config->scheduler.timeouts_of(Topic("job.slow")).running, std::chrono::seconds(7200));
  EXPECT_EQ(config->scheduler.timeouts_of(Topic("job.slow")).dispatch, std::chrono::seconds(60));
  EXPECT_THAT(config_of(*resolve({"--timeouts", "/no/file"})).error().message,
              HasSubstr("timeouts file /no/file cannot be read"));
}

TEST(Settings, TimesBesideAFileOfTimesAreRefused) {
  EXPECT_EQ(wrong_of({"--timeouts", "t.yaml", "--running-timeout", "5"}).message,
            "--timeouts and --running-timeout are both set: the file says how long jobs may take, "
            "leave out one");
  EXPECT_THAT(wrong_of({"--dispatch-timeout", "5"}, {{"TIMEOUT_CONFIG_PATH", "t.yaml"}}).message,
              HasSubstr("TIMEOUT_CONFIG_PATH and --dispatch-timeout are both set"));
}

TEST(Settings, TheTimesOfATimeoutsFileAreShown) {
  File file("reconciler: {dispatch_timeout_seconds: 12, running_timeout_seconds: 3456}");
  auto shown = in_force(*resolve({"--timeouts", file.path()}));
  ASSERT_TRUE(shown.has_value()) << shown.error().message;
  EXPECT_EQ(shown->text("dispatch-timeout"), "12");
  EXPECT_EQ(shown->text("running-timeout"), "3456");
  EXPECT_EQ(shown->value("running-timeout").source, Source::kFile);
  EXPECT_EQ(shown->value("running-timeout").place, file.path());
  EXPECT_EQ(in_force(*resolve({"--running-timeout", "7"}))->text("running-timeout"), "7");
  EXPECT_THAT(in_force(*resolve({"--timeouts", "/no/file"})).error().message,
              HasSubstr("timeouts file /no/file cannot be read"));
}

TEST(Config, KeysComeFromEverySource) {
  File file(R"([{"key":"three","tenant":"acme","role":"viewer"}])");
  auto keys = read_keys({"one", "acme:two:operator", file.path()});
  ASSERT_TRUE(keys.has_value()) << keys.error().message;
  EXPECT_EQ((*keys)->size(), 3u);
  File empty("\n");
  EXPECT_THAT(read_keys({"", "", empty.path()}).error().message, HasSubstr("has no key"));
  EXPECT_THAT(read_keys({"", "a:b:king", ""}).error().message,
              HasSubstr("api-keys: API keys, entry 1: role \"king\" must be"));
}

TEST(Config, JobDefaultGoesToPoolDefaultOutOfTheBox) {
  auto map = read_pools("");
  ASSERT_TRUE(map.has_value());
  EXPECT_EQ(*(*map)->pools_of(Topic("job.default")), std::vector{PoolName("default")});
  EXPECT_EQ(read_pools("/no/pools.yaml").error().message,
            "pools file /no/pools.yaml cannot be read: No such file or directory");
}

TEST(Config, WhatIsKeptAndForHowLongIsSet) {
  Retention usual = config_of(*resolve({}))->retention;
  EXPECT_EQ(usual.ended_jobs, limits::kEndedJobTtl);
  EXPECT_EQ(usual.idempotency_keys, limits::kIdempotencyTtl);
  EXPECT_EQ(usual.dead_letters, limits::kDlqEntryTtl);
  EXPECT_EQ(usual.dead_letters_max, limits::kDlqEntriesMax);
  auto settings = resolve({}, {{"JOB_META_TTL", "36h"},
                               {"CORDUM_IDEMPOTENCY_TTL", "90m"},
                               {"CORDUM_DLQ_ENTRY_TTL_DAYS", "3"},
                               {"SCHEDULER_DLQ_MAX_SIZE", "7"}});
  ASSERT_TRUE(settings.has_value()) << settings.error().message;
  Retention given = config_of(*settings)->retention;
  EXPECT_EQ(given.ended_jobs, std::chrono::hours(36));
  EXPECT_EQ(given.idempotency_keys, std::chrono::minutes(90));
  EXPECT_EQ(given.dead_letters, std::chrono::hours(72));
  EXPECT_EQ(given.dead_letters_max, 7u);
  EXPECT_EQ(wrong_of({"--keep-jobs", "0s"}).status, kUsage);
  EXPECT_EQ(wrong_of({"--keep-dead-letters", "0"}).status, kUsage);
  EXPECT_EQ(wrong_of({"--max-dead-letters", "many"}).status, kUsage);
  EXPECT_EQ(wrong_of({"--max-body", "12"}).status, kUsage);
}

TEST(Config, WithoutKeysRatesCountOnceTheyAreSet) {
  EXPECT_EQ(config_of(*resolve({}))->access.open_rate.per_second, 0);
  EXPECT_EQ(config_of(*resolve({}))->access.rate.per_second, 500);
  auto access = config_of(*resolve({"--rate-limit", "7"}))->access;
  EXPECT_EQ(access.open_rate.per_second, 7);
  EXPECT_EQ(access.open_public_rate.per_second, 0);
  auto theirs = config_of(*resolve({}, {{"API_PUBLIC_RATE_LIMIT_RPS", "3"}}))->access;
  EXPECT_EQ(theirs.open_public_rate.per_second, 3);
  EXPECT_EQ(theirs.public_rate.per_second, 3);
}

}  // namespace
}  // namespace fairlead::app
