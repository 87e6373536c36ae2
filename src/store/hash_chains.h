// An index of live jobs by a hash that they carry, chained through one of their links: it allocates
// nothing per job, which a std::unordered_map would, and a million jobs may wait.
#pragma once

#include <type_traits>
#include <utility>
#include <vector>

#include "store/live_job.h"

namespace fairlead::store {

// `kLink` is a Link, or only the next of the chain: then it takes as long to remove a job as its
// chain is, which is fine where hashes are shared by few.
template <auto kLink, uint32_t LiveJob::* kHash>
class HashChains {
 public:
  HashChains() : heads_(16) {}

  size_t size() const { return size_; }

  void insert(LiveJob* job) {
    if (size_ == heads_.size()) grow();
    push(job);
    ++size_;
  }

  void remove(LiveJob* job) {
    if constexpr (kBothWays) {
      Link& link = job->*kLink;
      (link.before ? next_of(link.before) : head(job->*kHash)) = link.after;
      if (link.after) (link.after->*kLink).before = link.before;
      link = {};
    } else {
      LiveJob** at = &head(job->*kHash);
      while (*at != job) at = &next_of(*at);
      *at = std::exchange(next_of(job), nullptr);
    }
    --size_;
  }

  // The jobs of a hash, one after the other; nullptr when there is no further one.
  LiveJob* first(uint32_t hash) const {
    return same_hash(heads_[hash & (heads_.size() - 1)], hash);
  }
  static LiveJob* next(LiveJob* job) { return same_hash(next_of(job), job->*kHash); }

 private:
  static constexpr bool kBothWays = std::is_same_v<decltype(kLink), Link LiveJob::*>;

  static LiveJob*& next_of(LiveJob* job) {
    if constexpr (kBothWays) {
      return (job->*kLink).after;
    } else {
      return job->*kLink;
    }
  }

  static LiveJob* same_hash(LiveJob* job, uint32_t hash) {
    while (job && job->*kHash != hash) job = next_of(job);
    return job;
  }

  LiveJob*& head(uint32_t hash) { return heads_[hash & (heads_.size() - 1)]; }

  void push(LiveJob* job) {
    LiveJob*& first = head(job->*kHash);
    if constexpr (kBothWays) {
      (job->*kLink).before = nullptr;
      if (first) (first->*kLink).before = job;
    }
    next_of(job) = first;
    first = job;
  }

  void grow() {
    std::vector<LiveJob*> old(heads_.size() * 2);
    old.swap(heads_);
    for (LiveJob* job : old) {
      while (job) {
        LiveJob* after = next_of(job);
        push(job);
        job = after;
      }
    }
  }

  std::vector<LiveJob*> heads_;  // a power of two
  size_t size_ = 0;
};

}  // namespace fairlead::store
