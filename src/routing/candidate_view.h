// All the workers that a kind of job can take, with those of them that are open to work ranked.
//
// The ranking is made when it is first asked for, and given up when it was updated for long without
// being asked: so of a worker's views, only those in use cost anything when its load changes. Made
// anew once in several updates a member, it costs each of them next to nothing.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <boost/container/small_vector.hpp>

#include "routing/rank.h"
#include "routing/tournament.h"
#include "routing/worker.h"

namespace fairlead::routing {

class CandidateView;

// A worker as the views see it: it knows its seat in each, so a change of its load moves it there
// and touches nothing else. Stays where it is in memory while it is a member of any.
struct Candidate {
  const WorkerReport* report = nullptr;
  Rank rank;
  // Whether it may be picked at all.
  bool open = false;

  struct Seat {
    CandidateView* view;
    Tournament::Member member;
  };
  // Most workers have few: they lie within.
  boost::container::small_vector<Seat, 2> seats;
};

class CandidateView {
 public:
  CandidateView() = default;
  CandidateView(const CandidateView&) = delete;
  CandidateView& operator=(const CandidateView&) = delete;

  // REQUIRES: not a member.
  void add(Candidate& candidate);
  // REQUIRES: a member.
  void remove(Candidate& candidate);
  void remove_all();
  // The candidate in that seat has another rank, or opened or closed.
  void update(const Candidate& candidate, Tournament::Member member);

  size_t size() const { return members_.size(); }
  // In no order.
  std::span<Candidate* const> members() const { return members_; }

  // The best open member, nullptr when there is none, and the number of members, open or not: both
  // without those in `excluded`, which is sorted and names none twice.
  Candidate* best_but(std::span<const Candidate* const> excluded);
  size_t size_but(std::span<const Candidate* const> excluded) const;

 private:
  using Member = Tournament::Member;
  using Seat = Candidate::Seat;

  static constexpr size_t kUpdatesPerMember = 4;

  Seat& seat_of(Candidate& candidate);
  void rank_all();

  std::vector<Candidate*> members_;
  bool ranked_ = false;
  size_t updates_unasked_ = 0;
  // The open members; empty when not ranked.
  Tournament open_;
};

}  // namespace fairlead::routing
