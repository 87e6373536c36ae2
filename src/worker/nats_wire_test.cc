#include "worker/nats_wire.h"

#include <gtest/gtest.h>

namespace fairlead::worker {
namespace {

using Kind = ServerSaid::Kind;

TEST(NatsReader, CutsWhatAServerSaysHoweverItArrives) {
  const std::string all =
      "INFO {\"a\":1}\r\n+OK\r\nPING\r\nMSG a.b 1 5\r\nhe\r\nl\r\n"
      "HMSG a 2 back 12 14\r\nNATS/1.0\r\n\r\nhi\r\n-ERR 'no'\r\nPONG\r\n";
  for (size_t step : {1ul, 2ul, 7ul, all.size()}) {
    NatsReader reader;
    std::vector<ServerSaid> said;
    for (size_t at = 0; at < all.size(); at += step) {
      reader.add(std::string_view(all).substr(at, step));
      for (;;) {
        auto next = reader.next();
        ASSERT_TRUE(next.has_value()) << next.error().message;
        if (!*next) break;
        said.push_back(**next);
      }
    }
    ASSERT_EQ(said.size(), 7u) << step;
    EXPECT_EQ(said[0].text, "{\"a\":1}");
    EXPECT_EQ(said[2].kind, Kind::kPing);
    EXPECT_EQ(said[3].subject, "a.b");
    EXPECT_EQ(said[3].payload, "he\r\nl");
    EXPECT_EQ(said[4].reply, "back");
    EXPECT_EQ(said[4].headers, "NATS/1.0\r\n\r\n");
    EXPECT_EQ(said[4].payload, "hi");
    EXPECT_EQ(said[5].text, "'no'");
    EXPECT_EQ(said[6].kind, Kind::kPong);
  }
}

TEST(NatsReader, RefusesWhatIsNotNats) {
  for (const char* bytes :
       {"HTTP/1.1 400 Bad Request\r\n", "MSG a\r\n", "MSG a 1 x\r\n", "MSG a 1 99999999999\r\n",
        "HMSG a 1 9 2\r\n", "MSG a 1 1\r\nabcd\r\n"}) {
    NatsReader reader;
    reader.add(bytes);
    EXPECT_FALSE(reader.next().has_value()) << bytes;
  }
  NatsReader reader;
  reader.add(std::string(100'000, 'x'));
  EXPECT_FALSE(reader.next().has_value());
}

}  // namespace
}  // namespace fairlead::worker
