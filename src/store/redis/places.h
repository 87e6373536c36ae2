// Where a job stands in the indexes that are ours alone: one field of its hash, in the form that
// Redis' scripts unpack (MessagePack).
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "job/record.h"

namespace fairlead::store::redis {

struct Places {
  Places() = default;
  explicit Places(const job::Record& record);

  std::string pack() const;
  // What cannot be read is empty.
  static Places unpack(std::string_view bytes);

  bool operator==(const Places&) const = default;

  // Times are microseconds as text; what does not hold is empty.
  std::string tenant;       // of whom it holds a slot
  std::string worker;       // of whom it holds a slot
  std::string worker_at;    // when that was dispatched
  std::string wait_class;   // in which it waits
  std::string due;          // when it is to be looked at, of one that waits in no class
  std::string unpublished;  // when a dispatch was made that is not known to be handed over
};

}  // namespace fairlead::store::redis
