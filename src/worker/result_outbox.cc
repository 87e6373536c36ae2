#include "worker/result_outbox.h"

#include <fmt/core.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json/parse.hpp>

#include "worker/packets.h"

namespace fairlead::worker {

namespace {

namespace json = boost::json;

constexpr auto kToken = asio::as_tuple(asio::use_awaitable);

// {"stream": …, "seq": …} without an error.
bool tells_stored(std::string_view payload) {
  boost::system::error_code error;
  const json::value value = json::parse(payload, error);
  return !error && value.is_object() && !value.get_object().contains("error") &&
         value.get_object().contains("seq");
}

}  // namespace

ResultOutbox::ResultOutbox(asio::io_context& context, Clock& clock, Random& random,
                           NatsClient& client, std::function<void(const std::string&)> delivered)
    : context_(context),
      clock_(clock),
      client_(client),
      delivered_(std::move(delivered)),
      inbox_("_INBOX." + random.token()) {
  client_.subscribe(inbox_ + ".*", "", [this](const ServerSaid& said) { hear(said); });
}

void ResultOutbox::send(const cap::JobResult& result, std::string trace) {
  auto waiting = std::make_shared<Waiting>(context_);
  waiting->job = result.job_id();
  waiting->packet = result_packet(result, trace, clock_.wall());
  waiting->headers = "NATS/1.0\r\n";
  // Sent twice, it is stored once. Without an epoch two results of a job may both be meant.
  if (const uint64_t epoch = result.dispatch().attempt(); epoch > 0) {
    waiting->headers +=
        fmt::format("Nats-Msg-Id: {}:{}:{}\r\n", kResultSubject, result.job_id(), epoch);
  }
  waiting->headers += "\r\n";
  const uint64_t number = ++last_number_;
  waiting_[number] = waiting;
  asio::co_spawn(context_, deliver(number, std::move(waiting)), asio::detached);
}

asio::awaitable<void> ResultOutbox::deliver(uint64_t number, std::shared_ptr<Waiting> waiting) {
  while (!waiting->stored && waiting->unanswered < limits::kUnansweredResultsMax) {
    const bool sent = client_.publish(kResultSubject, waiting->packet,
                                      fmt::format("{}.{}", inbox_, number), waiting->headers);
    // Cancelled by an answer and by a new connection.
    waiting->answer.expires_after(limits::kResultAnswerWait);
    auto [error] = co_await waiting->answer.async_wait(kToken);
    if (!error && sent && client_.connected()) ++waiting->unanswered;
  }
  waiting_.erase(number);
  delivered_(waiting->job);
}

void ResultOutbox::hear(const ServerSaid& said) {
  const auto number = std::strtoull(said.subject.c_str() + inbox_.size() + 1, nullptr, 10);
  auto found = waiting_.find(number);
  if (found == waiting_.end()) return;
  Waiting& waiting = *found->second;
  // Refused for now, or nobody listens yet: it is sent again when the time is over.
  if (tells_no_responders(said.headers) || !tells_stored(said.payload)) {
    waiting.unanswered = 0;
    return;
  }
  waiting.stored = true;
  waiting.answer.cancel();
}

void ResultOutbox::connected() {
  for (auto& [number, waiting] : waiting_) waiting->answer.cancel();
}

}  // namespace fairlead::worker
