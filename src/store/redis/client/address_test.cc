#include "store/redis/client/address.h"

#include <gtest/gtest.h>

namespace fairlead::store::redis {
namespace {

Address parsed(std::string_view url) {
  auto address = parse_address(url);
  EXPECT_TRUE(address) << url << ": " << address.error().message;
  return address.value_or(Address{});
}

std::string refusal(std::string_view url) {
  auto address = parse_address(url);
  EXPECT_FALSE(address) << url;
  return address ? "" : address.error().message;
}

TEST(RedisAddress, NamesHostPortAndDatabase) {
  EXPECT_EQ(parsed("redis://cache:7000/3"), (Address{{{"cache", 7000, ""}}, "", false, {}, {}, 3}));
  EXPECT_EQ(parsed("redis://localhost"),
            (Address{{{"localhost", 6379, ""}}, "", false, {}, {}, 0}));
  EXPECT_EQ(parsed("redis://h/?db=2").database, 2);
  EXPECT_EQ(parsed("redis://h?pool_size=10&db=4").database, 4);
}

TEST(RedisAddress, MayBeOfTheSixthVersion) {
  EXPECT_EQ(parsed("redis://[::1]:7000").endpoints[0], (Endpoint{"::1", 7000, ""}));
  EXPECT_EQ(parsed("redis://[::1]").endpoints[0], (Endpoint{"::1", 6379, ""}));
  EXPECT_EQ(parsed("redis://[::1]").shown(), "[::1]:6379");
}

TEST(RedisAddress, HoldsUserAndPasswordDecoded) {
  Address address = parsed("rediss://me:p%40ss%3Aword@h");
  EXPECT_TRUE(address.tls);
  EXPECT_EQ(address.server.user, "me");
  EXPECT_EQ(address.server.password, "p@ss:word");
  EXPECT_EQ(parsed("redis://:secret@h").server.password, "secret");
  EXPECT_EQ(parsed("redis://:secret@h").server.user, "");
  EXPECT_EQ(address.shown(), "h:6379");
}

TEST(RedisAddress, MayBeASocketInTheFileSystem) {
  Address address = parsed("unix://:pw@/run/redis/redis.sock?db=1");
  EXPECT_EQ(address.endpoints[0], (Endpoint{"", 0, "/run/redis/redis.sock"}));
  EXPECT_EQ(address.server.password, "pw");
  EXPECT_EQ(address.database, 1);
}

TEST(RedisAddress, NamesSentinelsAndTheirMaster) {
  Address address = parsed("redis-sentinel://u:p@a,b:7000/main/2");
  EXPECT_EQ(address.endpoints, (std::vector<Endpoint>{{"a", 26379, ""}, {"b", 7000, ""}}));
  EXPECT_EQ(address.master, "main");
  EXPECT_EQ(address.database, 2);
  EXPECT_EQ(address.server.user, "u");
  EXPECT_TRUE(parsed("rediss-sentinel://a/main").tls);
}

TEST(RedisAddress, HoldsWhatSentinelsAskForApartFromWhatTheServerDoes) {
  Address address =
      parsed("redis-sentinel://u:p@a/main?sentinel_username=watch&sentinel_password=s%26cret&db=3");
  EXPECT_EQ(address.server, (Credentials{"u", "p"}));
  EXPECT_EQ(address.sentinel, (Credentials{"watch", "s&cret"}));
  EXPECT_EQ(address.database, 3);
  EXPECT_EQ(address.shown().find("cret"), std::string::npos);
  EXPECT_EQ(parsed("redis-sentinel://:p@a/main").sentinel, Credentials());
  EXPECT_NE(refusal("redis-sentinel://a/main?sentinel_password=%").find("encodes nothing"),
            std::string::npos);
}

TEST(RedisAddress, SaysWhatIsWrongWithoutTheSecret) {
  EXPECT_NE(refusal("http://h").find("begins with redis://"), std::string::npos);
  EXPECT_NE(refusal("redis://").find("host is missing"), std::string::npos);
  EXPECT_NE(refusal("redis://:secret@h:99999").find("is no port"), std::string::npos);
  EXPECT_EQ(refusal("redis://:secret@h:99999").find("secret"), std::string::npos);
  EXPECT_NE(refusal("redis://h/x").find("no number of a database"), std::string::npos);
  EXPECT_NE(refusal("redis://h/-1").find("no number of a database"), std::string::npos);
  EXPECT_NE(refusal("redis://a,b").find("several only"), std::string::npos);
  EXPECT_NE(refusal("redis-sentinel://a").find("name of the master"), std::string::npos);
  EXPECT_NE(refusal("redis://%zz@h").find("encodes nothing"), std::string::npos);
  EXPECT_NE(refusal("unix://socket").find("begins with /"), std::string::npos);
  EXPECT_NE(refusal("redis://[::1").find("lacks its ]"), std::string::npos);
}

}  // namespace
}  // namespace fairlead::store::redis
