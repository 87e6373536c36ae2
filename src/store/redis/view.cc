#include "store/redis/view.h"

#include <utility>

namespace fairlead::store::redis {

namespace {

// In the order in which the script tells them.
constexpr auto kStatesTold = job::kAllStates;

}  // namespace

void View::read(Reply reply) {
  for (size_t i = 0; i < kStatesTold.size(); ++i) {
    jobs_[static_cast<size_t>(kStatesTold[i])] = reply.at(0).at(i).unsigned_number();
  }
  const std::vector<Reply>& classes = reply.at(1).items;
  for (size_t i = 0; i + 1 < classes.size(); i += 2) {
    waiting_[classes[i].text] = round_[classes[i].text] = classes[i + 1].unsigned_number();
  }
  deaths_ = reply.at(2).unsigned_number();
  cursor_ = reply.at(3).take_text();
  if (cursor_ != "0") return;
  waiting_ = std::exchange(round_, {});
}

void View::move(std::optional<job::State> from, job::State to, const std::string& old_class,
                const std::string& new_class) {
  // Another replica may have counted it already: a count never goes below nothing.
  auto less = [](size_t& count) { count -= count > 0; };
  if (from) less(jobs_[static_cast<size_t>(*from)]);
  ++jobs_[static_cast<size_t>(to)];
  for (Counts* counts : {&waiting_, &round_}) {
    if (auto found = counts->find(old_class); found != counts->end()) {
      less(found->second);
      if (found->second == 0) counts->erase(found);
    }
    if (!new_class.empty()) ++(*counts)[new_class];
  }
}

size_t View::waiting_in(std::string_view wait_class) const {
  auto found = waiting_.find(wait_class);
  return found == waiting_.end() ? 0 : found->second;
}

}  // namespace fairlead::store::redis
