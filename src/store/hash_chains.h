// An index of live jobs by a hash that they carry, chained through one of their links: it allocates
// nothing per job, which a std::unordered_map would, and a million jobs may wait.
#pragma once

#include <vector>

#include "store/live_job.h"

namespace fairlead::store {

template <Link LiveJob::* kLink, uint32_t LiveJob::* kHash>
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
    Link& link = job->*kLink;
    (link.before ? (link.before->*kLink).after : head(job->*kHash)) = link.after;
    if (link.after) (link.after->*kLink).before = link.before;
    link = {};
    --size_;
  }

  // The jobs of a hash, one after the other; nullptr when there is no further one.
  LiveJob* first(uint32_t hash) const {
    return same_hash(heads_[hash & (heads_.size() - 1)], hash);
  }
  static LiveJob* next(const LiveJob* job) { return same_hash((job->*kLink).after, job->*kHash); }

 private:
  static LiveJob* same_hash(LiveJob* job, uint32_t hash) {
    while (job && job->*kHash != hash) job = (job->*kLink).after;
    return job;
  }

  LiveJob*& head(uint32_t hash) { return heads_[hash & (heads_.size() - 1)]; }

  void push(LiveJob* job) {
    LiveJob*& first = head(job->*kHash);
    job->*kLink = {nullptr, first};
    if (first) (first->*kLink).before = job;
    first = job;
  }

  void grow() {
    std::vector<LiveJob*> old(heads_.size() * 2);
    old.swap(heads_);
    for (LiveJob* job : old) {
      while (job) {
        LiveJob* after = (job->*kLink).after;
        push(job);
        job = after;
      }
    }
  }

  std::vector<LiveJob*> heads_;  // a power of two
  size_t size_ = 0;
};

}  // namespace fairlead::store
