// How values become arguments of scripts.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "base/ids.h"
#include "base/time.h"
#include "store/change.h"
#include "store/redis/client/command.h"
#include "store/redis/client/reply.h"

namespace fairlead::store::redis {

inline int64_t milliseconds(Duration duration) {
  return std::max<int64_t>(1, std::chrono::ceil<std::chrono::milliseconds>(duration).count());
}

// A sequence as a member of sets: those of one time stand in their order.
inline std::string sequence_name(Sequence sequence) {
  return fmt::format("{:020}", sequence.value());
}

// The Go services count dead letters by seconds; ours have a fraction as well.
inline std::string seconds_text(WallTime time) {
  return fmt::format("{}.{:06}", to_micros(time) / 1'000'000, to_micros(time) % 1'000'000);
}

inline std::string idempotency_key(const TenantId& tenant, const std::string& key) {
  return "job:idempotency:" + (tenant.empty() ? "" : tenant.str() + ":") + key;
}

// "" stands for none.
inline void add_time(Command& command, const std::optional<WallTime>& time) {
  if (time) {
    command.add(*time);
  } else {
    command.add("");
  }
}

inline void add_flag(Command& command, bool flag) {
  command.add(flag ? "1" : "0");
}

// Their number, then each.
inline void add_list(Command& command, const std::vector<std::string>& texts) {
  command.add(texts.size());
  for (const std::string& text : texts) command.add(text);
}

std::vector<Claim> claims_of(Reply& list);

}  // namespace fairlead::store::redis
