// Whether a dispatch is in its stream.
#include "bus/nats/lookup.h"

#include <gmock/gmock.h>

#include "bus/nats/admin_fixture.h"
#include "bus/nats/nats_bus_fixture.h"

namespace fairlead::bus::nats {
namespace {

using cluster::NatsServerProcess;

class LookupTest : public testing::Test {
 protected:
  LookupTest() { EXPECT_TRUE(process.start()); }

  void dispatch(const std::string& worker, int epoch) {
    EXPECT_EQ(
        loop.wait(process.bus->publish("worker." + worker + ".jobs", "job", id(worker, epoch))),
        Published::kStored);
  }
  static std::string id(const std::string& worker, int epoch) {
    return "jobreq:" + worker + ":" + std::to_string(epoch);
  }
  static std::string in_words(const Result<std::optional<bool>>& answer) {
    if (!answer) return "error";
    if (!*answer) return "cannot tell";
    return **answer ? "there" : "not there";
  }
  std::string stored(const std::string& worker, const std::string& message_id) {
    return in_words(loop.wait(process.bus->stored("worker." + worker + ".jobs", message_id)));
  }

  NatsServerProcess server;
  RealLoop loop;
  Process process{loop, with_jetstream(server)};
};

TEST_F(LookupTest, FindsAMessageByItsId) {
  dispatch("w1", 1);
  EXPECT_EQ(stored("w1", id("w1", 1)), "there");
}

TEST_F(LookupTest, CannotTellOfAMessageThatItDoesNotFind) {
  EXPECT_EQ(stored("w1", id("w1", 1)), "cannot tell");
  dispatch("w1", 1);
  dispatch("w2", 2);
  EXPECT_EQ(stored("w1", id("w1", 2)), "cannot tell");
  // Of another worker.
  EXPECT_EQ(stored("w1", id("w2", 2)), "cannot tell");
}

TEST_F(LookupTest, FindsOneAmongMany) {
  std::vector<Future<Result<Published>>> answers;
  for (int epoch = 1; epoch <= 3000; ++epoch) {
    answers.push_back(process.bus->publish(epoch % 3 == 0 ? "worker.w1.jobs" : "worker.w2.jobs",
                                           std::string(1000, 'x'), id("w1", epoch)));
  }
  for (auto& answer : answers) EXPECT_EQ(loop.wait(std::move(answer)), Published::kStored);
  EXPECT_EQ(stored("w1", id("w1", 3)), "there");
  EXPECT_EQ(stored("w1", id("w1", 3000)), "there");
  EXPECT_EQ(stored("w1", id("w1", 2)), "cannot tell");
}

TEST_F(LookupTest, AnswersManyQuestionsAtOnceAndLeavesNoConsumerBehind) {
  for (int epoch = 1; epoch <= 20; ++epoch) dispatch("w1", epoch);
  std::vector<Future<Result<std::optional<bool>>>> answers;
  for (int epoch = 1; epoch <= 40; ++epoch) {
    answers.push_back(process.bus->stored("worker.w1.jobs", id("w1", epoch)));
  }
  for (size_t i = 0; i < answers.size(); ++i) {
    EXPECT_EQ(in_words(loop.wait(std::move(answers[i]))), i < 20 ? "there" : "cannot tell");
  }
  Admin admin(loop, server.url());
  uint64_t consumers = 1;
  for (int tries = 0; tries < 100 && consumers > 0; ++tries) {
    consumers = number_at(admin.ask("STREAM.INFO.CORDUM_JOBS"), "state.consumer_count");
  }
  EXPECT_EQ(consumers, 0u);
}

TEST_F(LookupTest, FindsWhatWasPublishedWithoutAnAnswer) {
  server.freeze();
  auto unknown = process.bus->publish("worker.w1.jobs", "job", id("w1", 1));
  EXPECT_EQ(loop.wait(std::move(unknown)), Published::kUnknown);
  server.thaw();
  std::string found;
  for (int tries = 0; tries < 100 && found != "there"; ++tries) found = stored("w1", id("w1", 1));
  EXPECT_EQ(found, "there");
}

TEST_F(LookupTest, IsAnErrorWhenTheStreamCannotBeRead) {
  dispatch("w1", 1);
  server.kill();
  EXPECT_EQ(stored("w1", id("w1", 1)), "error");
}

TEST_F(LookupTest, CannotTellOutsideStreams) {
  EXPECT_EQ(in_words(loop.wait(process.bus->stored("sys.job.cancel", "id"))), "cannot tell");
}

}  // namespace
}  // namespace fairlead::bus::nats
