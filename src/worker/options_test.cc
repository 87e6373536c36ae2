#include "worker/options.h"

#include <gtest/gtest.h>

namespace fairlead::worker {
namespace {

Result<Options> parse(std::vector<std::string_view> words,
                      const std::map<std::string, std::string>& environment = {}) {
  return parse_options(words, environment);
}

TEST(WorkerOptions, ReadsEverythingThatCanBeSaid) {
  auto read = parse({"--pool",
                     "p",
                     "--topic=job.a",
                     "--topic",
                     "job.b",
                     "--parallel",
                     "3",
                     "--server",
                     "nats://ann:pw@host:1",
                     "--payloads",
                     "rediss://[::1]:2",
                     "--token",
                     "t",
                     "--ca",
                     "f",
                     "--cert",
                     "c",
                     "--key",
                     "k",
                     "--id",
                     "me",
                     "--label",
                     "zone=a",
                     "--capability",
                     "gpu",
                     "--grace",
                     "500ms",
                     "--output-max",
                     "1k",
                     "--keep-results",
                     "720h",
                     "--cpu-load",
                     "machine",
                     "--",
                     "cat",
                     "--pool"});
  ASSERT_TRUE(read.has_value()) << read.error().message;
  using namespace std::chrono_literals;
  EXPECT_EQ(read->pool, "p");
  EXPECT_EQ(read->topics, (std::vector<std::string>{"job.a", "job.b"}));
  EXPECT_EQ(read->parallel, 3);
  EXPECT_EQ(read->server.user, "ann");
  EXPECT_EQ(read->server.password, "pw");
  EXPECT_EQ(read->server.token, "");
  EXPECT_EQ(read->server.shown(), "host:1");
  EXPECT_EQ(read->payloads.host, "::1");
  EXPECT_TRUE(read->payloads.tls);
  EXPECT_EQ(read->payloads.token, "t");
  EXPECT_EQ(read->payloads.ca_file, "f");
  EXPECT_EQ(read->server.certificate, "c");
  EXPECT_EQ(read->payloads.key, "k");
  EXPECT_EQ(read->id, "me");
  EXPECT_EQ(read->labels.at("zone"), "a");
  EXPECT_EQ(read->capabilities, std::vector<std::string>{"gpu"});
  EXPECT_EQ(read->grace, 500ms);
  EXPECT_EQ(read->output_bytes_max, 1024u);
  EXPECT_EQ(read->results_kept, 720h);
  EXPECT_EQ(read->cpu_load, Options::CpuLoad::kMachine);
  EXPECT_EQ(read->command, (std::vector<std::string>{"cat", "--pool"}));
}

TEST(WorkerOptions, TheLoadThatIsToldIsThatOfItsOwnJobs) {
  EXPECT_EQ(parse({"--pool", "p", "--", "cat"})->cpu_load, Options::CpuLoad::kJobs);
}

TEST(WorkerOptions, TheEnvironmentGivesWhatTheLineDoesNot) {
  auto read = parse({"--pool", "p", "--", "cat"}, {{"NATS_URL", "nats://secret@a:5"},
                                                   {"REDIS_URL", "redis://b"},
                                                   {"WORKER_ID", "w"},
                                                   {"FAIRLEAD_WORKER_TOKEN", "t"}});
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->server.token, "secret");
  EXPECT_EQ(read->payloads.shown(), "b:6379");
  EXPECT_EQ(read->payloads.token, "t");
  EXPECT_EQ(read->id, "w");
}

TEST(WorkerOptions, SaysInOneLineWhatIsWrong) {
  EXPECT_EQ(parse({}).error().message, "--pool is missing: fairlead worker --pool P -- command");
  EXPECT_EQ(parse({"--pool", "p"}).error().message,
            "the command is missing: fairlead worker --pool P -- command");
  EXPECT_EQ(parse({"--pool", "p", "cat"}).error().message,
            "put -- before the command: fairlead worker … -- cat");
  EXPECT_EQ(parse({"--pool"}).error().message, "--pool needs a value");
  EXPECT_EQ(parse({"--speed", "9"}).error().message,
            "worker does not know --speed; see fairlead worker --help");
  EXPECT_EQ(parse({"--pool", "p", "--parallel", "0", "--", "cat"}).error().message,
            "--parallel is '0', must be 1 to 1024");
  for (std::vector<std::string_view> words : {std::vector<std::string_view>{"--server", "http://a"},
                                              {"--server", "nats://:4"},
                                              {"--server", "nats://a:b"},
                                              {"--payloads", "redis://[::1"},
                                              {"--label", "x"},
                                              {"--grace", "soon"},
                                              {"--output-max", "9999m"},
                                              {"--keep-results", "0s"},
                                              {"--cpu-load", "none"},
                                              {"--id", "a.b"}}) {
    std::vector<std::string_view> all{"--pool", "p"};
    all.insert(all.end(), words.begin(), words.end());
    all.insert(all.end(), {"--", "cat"});
    EXPECT_FALSE(parse(all).has_value()) << words[0] << " " << words[1];
  }
}

TEST(WorkerOptions, PayloadsOnTheServersHostAreShownWhatTheServerIs) {
  auto shared = parse(
      {"--pool", "p", "--server", "nats://tok@h:1", "--payloads", "redis://h:2", "--", "cat"});
  ASSERT_TRUE(shared);
  EXPECT_EQ(shared->payloads.token, "tok");
  EXPECT_TRUE(shared->payloads.borrowed);
  auto user = parse({"--pool", "p", "--server", "nats://u:pw@h", "--payloads", "h", "--", "cat"});
  ASSERT_TRUE(user);
  EXPECT_EQ(user->payloads.user, "u");
  EXPECT_EQ(user->payloads.password, "pw");
  auto elsewhere =
      parse({"--pool", "p", "--server", "nats://tok@h", "--payloads", "other", "--", "cat"});
  ASSERT_TRUE(elsewhere);
  EXPECT_FALSE(elsewhere->payloads.names_someone());
  auto own = parse(
      {"--pool", "p", "--server", "nats://tok@h", "--payloads", "redis://:pw@h", "--", "cat"});
  ASSERT_TRUE(own);
  EXPECT_EQ(own->payloads.token, "");
  EXPECT_EQ(own->payloads.password, "pw");
  EXPECT_FALSE(own->payloads.borrowed);
}

}  // namespace
}  // namespace fairlead::worker
