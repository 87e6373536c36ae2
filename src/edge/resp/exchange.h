// What passes between a session, on the listener's thread, and the shelf, on the loop's.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "edge/net/backlog.h"
#include "edge/resp/reply_text.h"
#include "store/store.h"

namespace fairlead::edge::resp {

struct Request {
  enum class Kind {
    kGet,
    kGetMany,
    kSet,
    kErase,
    kCount,
    kExpire,
    kSeconds,
    kMillis,
    kLength,
    kGone
  };
  Kind kind = Kind::kGet;
  uint64_t client = 0;
  uint64_t slot = 0;  // of the answer among those of its client
  size_t cost = 0;    // given back with the answer
  Version version = Version::kTwo;
  std::vector<std::string> keys{};  // one, unless it is kGetMany, kErase or kCount
  std::string value{};
  std::optional<Duration> ttl{};
  store::BlobCondition condition = store::BlobCondition::kAlways;
  std::shared_ptr<Backlog> backlog{};

  bool reads_values() const {
    return kind == Kind::kGet || kind == Kind::kGetMany || kind == Kind::kLength ||
           kind == Kind::kExpire;
  }
};

struct Answer {
  uint64_t client = 0;
  uint64_t slot = 0;
  size_t cost = 0;     // of the request
  size_t transit = 0;  // bytes that are no longer in transit
  std::string bytes{};
  bool slow = false;  // the client was given up
};

}  // namespace fairlead::edge::resp
