#include "bus/nats/durability.h"

#include <gmock/gmock.h>

#include <boost/json.hpp>

namespace fairlead::bus::nats {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;

Durability of(std::string storage, uint64_t replicas) {
  return {.streams = {{"CORDUM_SYS", "file", 5}, {"CORDUM_JOBS", std::move(storage), replicas}}};
}

TEST(NatsDurability, IsReadFromStreamsAndMonitoring) {
  auto stream = stream_durability(
      boost::json::parse(R"({"config":{"name":"S","storage":"memory","num_replicas":3}})")
          .as_object());
  EXPECT_EQ(stream.name, "S");
  EXPECT_EQ(stream.storage, "memory");
  EXPECT_EQ(stream.replicas, 3u);

  Durability durability;
  read_varz(boost::json::parse(R"({"version":"2.10.1","jetstream":{"config":{
      "sync_interval":120000000000,"sync_always":true}}})")
                .as_object(),
            durability);
  EXPECT_EQ(durability.version, "2.10.1");
  EXPECT_EQ(durability.sync_interval, 2min);
  EXPECT_TRUE(durability.sync_always);
  Durability old;
  read_varz(boost::json::parse(R"({"version":"2.9.10","jetstream":{"config":{}}})").as_object(),
            old);
  EXPECT_EQ(old.sync_interval, std::nullopt);
  EXPECT_FALSE(old.sync_always);
}

TEST(NatsDurability, SaysWhenAnAcknowledgedMessageCanBeLost) {
  EXPECT_THAT(Durability{}.sentence(), HasSubstr("Without JetStream"));
  EXPECT_THAT(of("memory", 1).sentence(), AllOf(HasSubstr("memory"), HasSubstr("the machine")));
  EXPECT_THAT(of("memory", 3).sentence(), HasSubstr("more than 1 of 3 machines"));
  EXPECT_THAT(of("file", 1).sentence(),
              AllOf(HasSubstr("survives a crash"), HasSubstr("power failure of the machine")));
  EXPECT_THAT(of("file", 5).sentence(), HasSubstr("more than 2 of 5 machines"));
  Durability slow = of("file", 1);
  slow.sync_interval = 120s;
  EXPECT_THAT(slow.sentence(), HasSubstr("the last 120s"));
  Durability safe = of("file", 1);
  safe.sync_always = true;
  EXPECT_THAT(safe.sentence(), HasSubstr("is on the disk"));
}

}  // namespace
}  // namespace fairlead::bus::nats
