#include "store/redis/places.h"

#include <gtest/gtest.h>

#include "store/redis/redis_fixture.h"

namespace fairlead::store::redis {
namespace {

Places sample() {
  Places places;
  places.tenant = "acme";
  places.worker = std::string(128, 'w');
  places.worker_at = "1700000000000000";
  places.wait_class = std::string(1000, 'c') + "\n\x01";
  places.unpublished = "7";
  return places;
}

TEST(RedisPlaces, ComeBackAsTheyWere) {
  EXPECT_EQ(Places::unpack(sample().pack()), sample());
  EXPECT_EQ(Places::unpack(Places().pack()), Places());
}

TEST(RedisPlaces, AreReadAndWrittenByScripts) {
  std::string script =
      "local list = cmsgpack.unpack(ARGV[1]) return {list[1], #list[2], #list[4], list[6], "
      "cmsgpack.pack(list)}";
  auto answer = shared_server().ask({"EVAL", script, "0", sample().pack()});
  ASSERT_EQ(answer.items.size(), 5u);
  EXPECT_EQ(answer.items[0].text, "acme");
  EXPECT_EQ(answer.items[1].integer, 128);
  EXPECT_EQ(answer.items[2].integer, 1002);
  EXPECT_EQ(answer.items[3].text, "7");
  EXPECT_EQ(Places::unpack(answer.items[4].text), sample());
}

TEST(RedisPlaces, ThatMakeNoSenseAreNone) {
  EXPECT_EQ(Places::unpack(""), Places());
  EXPECT_EQ(Places::unpack("\xff\xff\xff"), Places());
  std::string cut = sample().pack();
  for (size_t size = 0; size < cut.size(); ++size) (void)Places::unpack(cut.substr(0, size));
}

}  // namespace
}  // namespace fairlead::store::redis
