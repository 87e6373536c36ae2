#include "store/redis/client/reply.h"

#include <gtest/gtest.h>

namespace fairlead::store::redis {
namespace {

TEST(RedisReply, IsReadFromPiecesOfAnySize) {
  const std::string bytes = "*3\r\n$3\r\na\r\n\r\n:-7\r\n*1\r\n$-1\r\n+OK\r\n-ERR no\r\n";
  for (size_t size = 1; size < bytes.size(); ++size) {
    ReplyReader reader;
    std::vector<Reply> replies;
    for (size_t at = 0; at < bytes.size(); at += size) {
      reader.add(std::string_view(bytes).substr(at, size));
      while (auto reply = *reader.next()) replies.push_back(*std::move(reply));
    }
    ASSERT_EQ(replies.size(), 3u) << size;
    EXPECT_EQ(replies[0].at(0).text, "a\r\n");
    EXPECT_EQ(replies[0].at(1).number(), -7);
    EXPECT_TRUE(replies[0].at(2).at(0).none());
    EXPECT_EQ(replies[1].text, "OK");
    EXPECT_TRUE(replies[2].is_error());
  }
}

TEST(RedisReply, OfWhatIsNoRedisIsAnError) {
  ReplyReader reader;
  reader.add("HTTP/1.1 400 Bad Request\r\n");
  EXPECT_FALSE(reader.next());
}

TEST(RedisReply, OfAShorterListIsNothing) {
  Reply reply;
  EXPECT_TRUE(reply.at(3).none());
  EXPECT_EQ(reply.at(3).number(), 0);
}

TEST(RedisError, SaysWhatTheCallerCanDo) {
  EXPECT_EQ(error_of("OOM command not allowed").code, ErrorCode::kFull);
  for (const char* text : {"READONLY You can't write", "LOADING Redis is loading",
                           "MASTERDOWN Link", "NOAUTH Authentication required.",
                           "NOREPLICAS Not enough", "BUSY Redis", "MISCONF Redis is configured"}) {
    EXPECT_EQ(error_of(text).code, ErrorCode::kUnavailable) << text;
  }
  EXPECT_EQ(error_of("WRONGTYPE Operation against a key").code, ErrorCode::kCorrupt);
  EXPECT_TRUE(is_master_elsewhere("READONLY You can't write"));
  EXPECT_TRUE(is_master_elsewhere("MASTERDOWN Link with MASTER is down"));
  EXPECT_FALSE(is_master_elsewhere("LOADING Redis is loading"));
}

TEST(RedisError, WithinAScriptOfAnOlderServerIsTheSame) {
  const std::string around =
      "ERR Error running script (call to f_0123): @user_script:1: @user_script: 1: -";
  EXPECT_EQ(error_of(around + "OOM command not allowed").code, ErrorCode::kFull);
  EXPECT_EQ(error_of(around + "READONLY You can't write").code, ErrorCode::kUnavailable);
  EXPECT_TRUE(is_master_elsewhere(around + "READONLY You can't write"));
}

}  // namespace
}  // namespace fairlead::store::redis
