// What a replica knows without asking: how many jobs are in each state and wait in each class, and
// how many replicas have died. Its own commits move the counts; those of others are seen when all
// are read again. Of classes without number some are read at a time: a count may then be as old as
// a round through all of them.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "job/state.h"
#include "store/redis/client/reply.h"

namespace fairlead::store::redis {

class View {
 public:
  // Counts, as the script of that name tells them from cursor() on.
  void read(Reply reply);
  const std::string& cursor() const { return cursor_; }
  // A commit of ours: from nothing when it made the job, and to no class but "".
  void move(std::optional<job::State> from, job::State to, const std::string& old_class,
            const std::string& new_class);

  size_t jobs_in(job::State state) const { return jobs_[static_cast<size_t>(state)]; }
  size_t waiting_in(std::string_view wait_class) const;
  uint64_t deaths() const { return deaths_; }

 private:
  std::array<size_t, job::kAllStates.size()> jobs_{};
  using Counts = std::map<std::string, size_t, std::less<>>;

  Counts waiting_;
  Counts round_;  // those of the round that is under way
  std::string cursor_ = "0";
  uint64_t deaths_ = 0;
};

}  // namespace fairlead::store::redis
