#include "edge/resp/shelf.h"

#include <gtest/gtest.h>

#include "runtime/simulated_loop.h"
#include "store/memory/memory_store.h"

namespace fairlead::edge::resp {
namespace {

using namespace std::chrono_literals;
using Kind = Request::Kind;
using Keys = std::vector<std::string>;

class ShelfClock final : public Clock {
 public:
  explicit ShelfClock(SimulatedLoop& loop) : loop_(loop) {}
  WallTime wall() const override { return WallTime(loop_.now().time_since_epoch()); }
  MonotonicTime monotonic() const override { return loop_.now(); }

 private:
  SimulatedLoop& loop_;
};

class ShelfTest : public testing::Test {
 protected:
  Request request(Kind kind, Keys keys, std::string value = {}) {
    Request made{.kind = kind, .client = 1, .slot = slots++, .cost = 3};
    made.keys = std::move(keys);
    made.value = std::move(value);
    made.backlog = backlog;
    return made;
  }
  Request set(std::string key, std::string value, std::optional<Duration> ttl = {},
              store::BlobCondition condition = store::BlobCondition::kAlways) {
    Request made = request(Kind::kSet, {std::move(key)}, std::move(value));
    made.ttl = ttl;
    made.condition = condition;
    return made;
  }
  Request expire(std::string key, std::optional<Duration> ttl) {
    Request made = request(Kind::kExpire, {std::move(key)});
    made.ttl = ttl;
    return made;
  }
  std::string ask(Request one) {
    answers.clear();
    std::vector<Request> requests;
    requests.push_back(std::move(one));
    shelf.obey(std::move(requests));
    loop.run_ready();
    return answers.size() == 1 ? answers[0].bytes : "no answer";
  }

  SimulatedLoop loop;
  ShelfClock clock{loop};
  store::MemoryStore store{clock};
  Backlog::Total total = std::make_shared<std::atomic<size_t>>(0);
  std::shared_ptr<Backlog> backlog = std::make_shared<Backlog>(total);
  std::vector<Answer> answers;
  size_t batches = 0;
  uint64_t slots = 0;
  Shelf shelf{loop, clock, store, 48h, [this](std::vector<Answer> batch) {
                ++batches;
                for (Answer& answer : batch) answers.push_back(std::move(answer));
              }};
};

TEST_F(ShelfTest, KeepsValuesByteForByte) {
  const std::string bytes("\0\r\n\xff", 4);
  EXPECT_EQ(ask(request(Kind::kGet, {"ctx:a"})), "$-1\r\n");
  EXPECT_EQ(ask(set("ctx:a", bytes)), "+OK\r\n");
  EXPECT_EQ(ask(request(Kind::kGet, {"ctx:a"})), "$4\r\n" + bytes + "\r\n");
  EXPECT_EQ(ask(request(Kind::kLength, {"ctx:a"})), ":4\r\n");
  EXPECT_EQ(ask(request(Kind::kLength, {"ctx:b"})), ":0\r\n");
  EXPECT_EQ(ask(request(Kind::kCount, {"ctx:a", "ctx:a", "ctx:b"})), ":2\r\n");
  EXPECT_EQ(ask(request(Kind::kErase, {"ctx:a", "ctx:b"})), ":1\r\n");
  EXPECT_EQ(ask(request(Kind::kCount, {"ctx:a"})), ":0\r\n");
}

TEST_F(ShelfTest, SaysNothingIsThereInTheVersionOfTheClient) {
  Request three = request(Kind::kGet, {"ctx:a"});
  three.version = Version::kThree;
  EXPECT_EQ(ask(std::move(three)), "_\r\n");
}

TEST_F(ShelfTest, SetsOnlyWhereThereIsNoneOrOne) {
  EXPECT_EQ(ask(set("ctx:a", "1", {}, store::BlobCondition::kIfPresent)), "$-1\r\n");
  EXPECT_EQ(ask(set("ctx:a", "2", {}, store::BlobCondition::kIfAbsent)), "+OK\r\n");
  EXPECT_EQ(ask(set("ctx:a", "3", {}, store::BlobCondition::kIfAbsent)), "$-1\r\n");
  EXPECT_EQ(ask(request(Kind::kGet, {"ctx:a"})), "$1\r\n2\r\n");
}

TEST_F(ShelfTest, LetsValuesGoWhenTheirTimeIsOver) {
  ask(set("ctx:a", "x", 10s));
  EXPECT_EQ(ask(request(Kind::kSeconds, {"ctx:a"})), ":10\r\n");
  EXPECT_EQ(ask(request(Kind::kMillis, {"ctx:a"})), ":10000\r\n");
  loop.run_for(9s);
  EXPECT_EQ(ask(request(Kind::kSeconds, {"ctx:a"})), ":1\r\n");
  loop.run_for(1s);
  EXPECT_EQ(ask(request(Kind::kSeconds, {"ctx:a"})), ":-2\r\n");
  EXPECT_EQ(ask(request(Kind::kGet, {"ctx:a"})), "$-1\r\n");
}

TEST_F(ShelfTest, KeepsWhatComesWithoutATimeAsLongAsItIsTold) {
  ask(set("res:a", "x"));
  EXPECT_EQ(ask(request(Kind::kSeconds, {"res:a"})), ":172800\r\n");
  loop.run_for(48h);
  EXPECT_EQ(ask(request(Kind::kGet, {"res:a"})), "$-1\r\n");
}

TEST_F(ShelfTest, GivesAValueAnotherTime) {
  EXPECT_EQ(ask(expire("ctx:a", 5s)), ":0\r\n");
  ask(set("ctx:a", "x"));
  EXPECT_EQ(ask(expire("ctx:a", 5s)), ":1\r\n");
  EXPECT_EQ(ask(request(Kind::kSeconds, {"ctx:a"})), ":5\r\n");
  EXPECT_EQ(ask(expire("ctx:a", std::nullopt)), ":1\r\n");
  EXPECT_EQ(ask(request(Kind::kGet, {"ctx:a"})), "$-1\r\n");
}

TEST_F(ShelfTest, GetsMany) {
  ask(set("ctx:a", "1"));
  ask(set("ctx:c", "3"));
  EXPECT_EQ(ask(request(Kind::kGetMany, {"ctx:a", "ctx:b", "ctx:c"})),
            "*3\r\n$1\r\n1\r\n$-1\r\n$1\r\n3\r\n");
  ask(set("ctx:big", std::string(limits::kBlobBytesMax / 2, 'x')));
  EXPECT_TRUE(ask(request(Kind::kGetMany, {"ctx:big", "ctx:big"})).starts_with("-ERR the values"));
}

TEST_F(ShelfTest, AnswersManyAtOnce) {
  std::vector<Request> many;
  for (int i = 0; i < 1000; ++i) many.push_back(request(Kind::kGet, {"ctx:a"}));
  shelf.obey(std::move(many));
  loop.run_ready();
  EXPECT_EQ(answers.size(), 1000u);
  EXPECT_EQ(batches, 1u);
  EXPECT_EQ(shelf.in_hand(), 0u);
  for (const Answer& answer : answers) EXPECT_EQ(answer.cost, 3u);
}

TEST_F(ShelfTest, GivesUpAClientThatDoesNotReadItsAnswers) {
  ask(set("ctx:a", "x"));
  backlog->set_unsent(limits::kUnsentBytesMax + 1);
  EXPECT_EQ(ask(request(Kind::kGet, {"ctx:a"})), "");
  EXPECT_TRUE(answers[0].slow);
}

TEST_F(ShelfTest, CountsWhatIsOnItsWay) {
  ask(set("ctx:a", std::string(1000, 'x')));
  ask(request(Kind::kGet, {"ctx:a"}));
  EXPECT_GE(backlog->bytes(), 1000u);
}

}  // namespace
}  // namespace fairlead::edge::resp
