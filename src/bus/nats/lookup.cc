#include "bus/nats/lookup.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/limits.h"
#include "bus/nats/stored_message.h"
#include "bus/nats/topology.h"

namespace fairlead::bus::nats {

// What one reading has seen, and who is told when it has seen all.
struct Lookup::Reading {
  std::set<std::string, std::less<>> wanted;
  std::set<std::string, std::less<>> found;
  Completer<Result<void>> end{};
  bool ended = false;

  void finish(Result<void> outcome) {
    if (std::exchange(ended, true)) return;
    end.complete(std::move(outcome));
  }
  void take(std::string_view id, bool last) {
    auto hit = wanted.find(id);
    if (hit != wanted.end()) found.insert(*hit);
    if (last || found.size() == wanted.size()) finish({});
  }
};

void Lookup::arrived(const Arrival& message) {
  auto place = read_delivery_place(message.reply);
  if (!place) return;
  auto found = under_way_.find(place->consumer);
  if (found == under_way_.end()) return;
  // It may come to its end inside the call.
  const std::shared_ptr<Reading> reading = found->second;
  reading->take(header_in(message.headers, "Nats-Msg-Id"), place->pending == 0);
}

Future<Lookup::Answer> Lookup::stored(std::string subject, std::string id) {
  Subject& entry = subjects_[subject];
  Future<Answer> answer = entry.waiting.emplace_back(std::move(id)).answer.future();
  if (!entry.reading) {
    entry.reading = true;
    readings_.spawn(serve(std::move(subject)));
  }
  return answer;
}

Task<void> Lookup::serve(std::string subject) {
  // What is asked meanwhile needs a reading that begins later.
  while (!subjects_[subject].waiting.empty()) {
    std::vector<Question> questions = std::exchange(subjects_[subject].waiting, {});
    auto reading = std::make_shared<Reading>();
    for (const Question& question : questions) reading->wanted.insert(question.id);
    Result<void> read_to_end = co_await read(subject, reading);
    for (Question& question : questions) {
      if (reading->found.contains(question.id)) {
        question.answer.complete(std::optional<bool>(true));
      } else if (read_to_end) {
        question.answer.complete(std::optional<bool>());
      } else {
        question.answer.complete(std::unexpected(read_to_end.error()));
      }
    }
  }
  subjects_.erase(subject);
}

Task<Result<void>> Lookup::read(const std::string& subject, std::shared_ptr<Reading> reading) {
  const std::string stream(stream_of(subject));
  Result<uint64_t> first = co_await first_sequence(stream);
  if (!first) co_return std::unexpected(first.error());
  const std::string name = fmt::format("{}-{}", name_, ++readings_made_);
  under_way_[name] = reading;
  const boost::json::object question{{"stream_name", stream},
                                     {"config",
                                      {{"name", name},
                                       {"deliver_subject", deliver_subject_},
                                       {"deliver_policy", "by_start_sequence"},
                                       {"opt_start_seq", *first},
                                       {"filter_subject", subject},
                                       {"headers_only", true},
                                       {"ack_policy", "none"},
                                       {"replay_policy", "instant"},
                                       {"mem_storage", true},
                                       {"num_replicas", 1}}}};
  const TimerId timer =
      loop_.call_at(loop_.now() + limits::kNatsAnswerWait, [held = std::weak_ptr(reading)] {
        auto late = held.lock();
        if (late) late->finish(fail(ErrorCode::kUnknown, "a stream was not read in time"));
      });
  auto ended = reading->end.future();
  Result<ApiAnswer> made =
      co_await api_.call(fmt::format("CONSUMER.CREATE.{}.{}.{}", stream, name, subject), question);
  if (!made) reading->finish(std::unexpected(made.error()));
  if (made && made->error) {
    reading->finish(fail(ErrorCode::kUnavailable, made->error->description));
  }
  // Messages may come before the answer, but if there are none nothing ever comes.
  if (made && !made->error && number_at(made->body, "num_pending") == 0) reading->finish({});
  Result<void> outcome = co_await ended;
  loop_.cancel(timer);
  under_way_.erase(name);
  api_.tell(fmt::format("CONSUMER.DELETE.{}.{}", stream, name));
  co_return outcome;
}

Task<Result<uint64_t>> Lookup::first_sequence(const std::string& stream) {
  Result<ApiAnswer> info = co_await api_.call("STREAM.INFO." + stream);
  if (!info) co_return std::unexpected(info.error());
  if (info->error) co_return fail(ErrorCode::kUnavailable, info->error->description);
  const uint64_t last = number_at(info->body, "state.last_seq");
  const uint64_t back = std::min(last, limits::kLookupSequences);
  co_return std::max<uint64_t>(1, last - back + 1);
}

}  // namespace fairlead::bus::nats
