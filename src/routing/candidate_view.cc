#include "routing/candidate_view.h"

#include <algorithm>

#include "base/check.h"

namespace fairlead::routing {

void CandidateView::add(Candidate& candidate) {
  auto member = static_cast<Member>(members_.size());
  members_.push_back(&candidate);
  candidate.seats.push_back({this, member});
  if (ranked_ && candidate.open) open_.set(member, candidate.rank);
}

void CandidateView::remove(Candidate& candidate) {
  Seat& seat = seat_of(candidate);
  Member member = seat.member;
  seat = candidate.seats.back();
  candidate.seats.pop_back();

  open_.remove(member);
  auto last = static_cast<Member>(members_.size() - 1);
  if (member != last) {
    open_.rename(last, member);
    members_[member] = members_[last];
    seat_of(*members_[member]).member = member;
  }
  members_.pop_back();
}

void CandidateView::remove_all() {
  while (!members_.empty()) remove(*members_.back());
}

void CandidateView::update(const Candidate& candidate, Member member) {
  if (!ranked_) return;
  if (++updates_unasked_ > kUpdatesPerMember * members_.size()) {
    ranked_ = false;
    open_.clear();
  } else if (candidate.open) {
    open_.set(member, candidate.rank);
  } else {
    open_.remove(member);
  }
}

Candidate* CandidateView::best_but(std::span<const Candidate* const> excluded) {
  updates_unasked_ = 0;
  if (!ranked_) rank_all();
  if (open_.empty()) return nullptr;
  if (excluded.empty()) return members_[open_.best()];
  auto best = open_.best_of(
      [&](Member member) { return !std::ranges::binary_search(excluded, members_[member]); });
  return best ? members_[*best] : nullptr;
}

void CandidateView::rank_all() {
  for (Member member = 0; member < members_.size(); ++member) {
    if (members_[member]->open) open_.set(member, members_[member]->rank);
  }
  ranked_ = true;
}

size_t CandidateView::size_but(std::span<const Candidate* const> excluded) const {
  auto is_member = [&](const Candidate* candidate) {
    return std::ranges::find(candidate->seats, this, &Seat::view) != candidate->seats.end();
  };
  return members_.size() - static_cast<size_t>(std::ranges::count_if(excluded, is_member));
}

Candidate::Seat& CandidateView::seat_of(Candidate& candidate) {
  auto seat = std::ranges::find(candidate.seats, this, &Seat::view);
  check(seat != candidate.seats.end(), "a member of a view has a seat in it");
  return *seat;
}

}  // namespace fairlead::routing
