// For tests of the store: one server for all tests of a program, emptied between them.
#pragma once

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "base/log.h"
#include "store/redis/redis_store.h"
#include "tests/cluster/redis_server_process.h"

namespace fairlead::store::redis {

inline cluster::RedisServerProcess& shared_server() {
  static cluster::RedisServerProcess server;
  return server;
}

inline Log& no_log() {
  static NoLog log;
  return log;
}

inline std::unique_ptr<RedisStore> open_store(const std::string& url, Loop& loop,
                                              const Clock& clock) {
  RedisOptions options;
  options.url = url;
  auto store = RedisStore::open(std::move(options), loop, clock, no_log());
  EXPECT_TRUE(store) << store.error().message;
  return store ? *std::move(store) : nullptr;
}

// A test's time is not the server's: what has a time to live there is made older.
inline void advance_server(cluster::RedisServerProcess& server, Duration duration) {
  constexpr const char* kScript = R"lua(
for _, key in ipairs(redis.call('KEYS', '*')) do
  local left = redis.call('PTTL', key)
  if left >= 0 and left <= tonumber(ARGV[1]) then
    redis.call('DEL', key)
  elseif left >= 0 then
    redis.call('PEXPIRE', key, string.format('%.0f', left - ARGV[1]))
  end
end)lua";
  auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
  server.ask({"EVAL", kScript, "0", std::to_string(ms)});
}

}  // namespace fairlead::store::redis
