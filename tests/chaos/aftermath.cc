#include "tests/chaos/aftermath.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>
#include <hiredis/hiredis.h>

#include "cordum/agent/v1/common.pb.h"
#include "job/request.h"
#include "tests/load/nats_worker.h"

namespace fairlead::chaos {

namespace {

using namespace std::chrono_literals;

constexpr size_t kTogether = 500;
constexpr timeval kPatience{5, 0};

std::vector<std::string> texts_of(const redisReply& reply) {
  std::vector<std::string> texts;
  if (reply.type == REDIS_REPLY_INTEGER) texts.push_back(std::to_string(reply.integer));
  if (reply.str) texts.emplace_back(reply.str, reply.len);
  for (size_t i = 0; i < reply.elements; ++i) {
    const redisReply& item = *reply.element[i];
    if (item.type == REDIS_REPLY_ARRAY) {
      for (std::string& text : texts_of(item)) texts.push_back(std::move(text));
    } else {
      texts.emplace_back(item.str ? std::string(item.str, item.len) : "");
    }
  }
  return texts;
}

bool has_ended(const std::string& state) {
  return state == "SUCCEEDED" || state == "FAILED" || state == "TIMEOUT" || state == "DENIED" ||
         state == "CANCELLED";
}

// {"ts":<micros>,"state":"DISPATCHED"…}
Micros dispatched_at(const std::string& event) {
  constexpr std::string_view kTime = "\"ts\":";
  if (!event.contains("\"DISPATCHED\"") || !event.contains(kTime)) return 0;
  return static_cast<Micros>(
      load::number_in(std::string_view(event).substr(event.find(kTime) + kTime.size())));
}

}  // namespace

Aftermath::~Aftermath() {
  if (connection_) redisFree(connection_);
}

bool Aftermath::connected() {
  if (connection_ && connection_->err == 0) return true;
  if (connection_) redisFree(connection_);
  connection_ = redisConnectWithTimeout(redis_.host.c_str(), redis_.port, kPatience);
  if (!connection_ || connection_->err != 0) return false;
  redisSetTimeout(connection_, kPatience);
  return true;
}

std::vector<std::vector<std::string>> Aftermath::ask(
    const std::vector<std::vector<std::string>>& commands) {
  std::vector<std::vector<std::string>> answers;
  for (size_t begun = 0; begun < commands.size() && connected(); begun += kTogether) {
    const size_t end = std::min(commands.size(), begun + kTogether);
    for (size_t i = begun; i < end; ++i) {
      std::vector<const char*> words;
      std::vector<size_t> sizes;
      for (const std::string& word : commands[i]) {
        words.push_back(word.data());
        sizes.push_back(word.size());
      }
      redisAppendCommandArgv(connection_, static_cast<int>(words.size()), words.data(),
                             sizes.data());
    }
    for (size_t i = begun; i < end; ++i) {
      redisReply* reply = nullptr;
      if (redisGetReply(connection_, reinterpret_cast<void**>(&reply)) != REDIS_OK) return answers;
      answers.push_back(texts_of(*reply));
      freeReplyObject(reply);
    }
  }
  return answers;
}

bool Aftermath::drop_ended(std::set<std::string>& open) {
  std::vector<std::vector<std::string>> commands;
  for (const std::string& job : open) commands.push_back({"HGET", "job:meta:" + job, "state"});
  const auto answers = ask(commands);
  const bool all = answers.size() == commands.size();
  auto job = open.begin();
  for (const auto& answer : answers) {
    job = !answer.empty() && has_ended(answer[0]) ? open.erase(job) : std::next(job);
  }
  return all;
}

std::map<std::string, FinalRecord> Aftermath::records(const std::set<std::string>& jobs) {
  std::vector<std::vector<std::string>> commands;
  for (const std::string& job : jobs) {
    commands.push_back({"HMGET", "job:meta:" + job, "state", "updated_at"});
    commands.push_back({"LRANGE", "job:events:" + job, "0", "-1"});
  }
  const auto answers = ask(commands);
  std::map<std::string, FinalRecord> found;
  size_t i = 0;
  for (const std::string& job : jobs) {
    if (i + 1 >= answers.size()) break;
    FinalRecord& record = found[job];
    record.state = answers[i].at(0);
    record.updated = static_cast<Micros>(load::number_in(answers[i].at(1)));
    for (const std::string& event : answers[i + 1]) {
      if (const Micros at = dispatched_at(event)) record.dispatched.push_back(at);
    }
    i += 2;
  }
  return found;
}

std::vector<std::string> Aftermath::leftovers() {
  std::vector<std::string> found;
  for (const char* name : {"outbox", "claims", "unpublished", "due"}) {
    const std::string key = std::string("fairlead:") + name;
    const auto answer = ask({{"ZCARD", key}});
    if (answer.empty()) return {"redis does not answer"};
    if (answer[0].at(0) != "0") found.push_back(fmt::format("{} has {}", key, answer[0].at(0)));
  }
  for (const char* pattern : {"fairlead:slots:*", "fairlead:waiting:*", "job:tenant:active:*"}) {
    const auto answer = ask({{"KEYS", pattern}});
    if (answer.empty()) return {"redis does not answer"};
    for (const std::string& key : answer[0]) found.push_back(key + " is there");
  }
  const auto leases = ask({{"KEYS", "cordum:scheduler:job:*"}});
  if (leases.empty()) return {"redis does not answer"};
  for (const std::string& key : leases[0]) {
    if (const auto holder = living_holder(key)) found.push_back(key + " is held by " + *holder);
  }
  for (const char* state : {"pending", "scheduled", "dispatched", "running", "retrying"}) {
    const auto answer = ask({{"ZRANGE", std::string("job:index:") + state, "0", "4"}});
    if (answer.empty()) return {"redis does not answer"};
    for (const std::string& job : answer[0]) found.push_back(fmt::format("{} is {}", job, state));
  }
  return found;
}

// Who holds this lease and lives. That of a dead replica ends by itself, or when somebody wants the
// job, and nobody wants one that has ended.
std::optional<std::string> Aftermath::living_holder(const std::string& lease) {
  const auto held = ask({{"GET", lease}, {"PTTL", lease}});
  if (held.size() != 2 || held[0].empty()) return std::nullopt;  // it has ended meanwhile
  if (held[1].at(0).starts_with('-')) return held[0][0] + " for ever";
  const std::string replica = held[0][0].substr(0, held[0][0].rfind('.'));
  const auto alive = ask({{"EXISTS", "fairlead:alive:" + replica}});
  if (alive.empty() || alive[0].at(0) != "0") return held[0][0];
  return std::nullopt;
}

namespace {

constexpr const char* kDispatches = "_INBOX.aftermath.dispatches";
constexpr const char* kAnswers = "_INBOX.aftermath.answers";

// Asks NATS and waits for answers.
class Questions {
 public:
  Questions(load::asio::io_context& context, const load::Endpoint& nats)
      : context_(context), client_(context, "aftermath") {
    // What a stream delivers comes under the subject under which it was published.
    for (const char* where : {kAnswers, kDispatches}) {
      client_.subscribe(where, [this, where](const load::NatsMessage& message) {
        heard_[where].emplace_back(message.payload);
      });
    }
    client_.connect(nats);
  }

  // Empty when there is no answer.
  std::string ask(const std::string& subject, const std::string& body) {
    client_.publish(subject, body, kAnswers);
    const auto answers = await(kAnswers, 1);
    return answers.empty() ? "" : answers[0];
  }

  std::vector<std::string> await(const char* where, size_t count) {
    const auto patience = std::chrono::steady_clock::now() + 10s;
    while (heard_[where].size() < count && std::chrono::steady_clock::now() < patience) {
      context_.run_for(5ms);
    }
    return std::exchange(heard_[where], {});
  }

 private:
  load::asio::io_context& context_;
  load::NatsClient client_;
  std::map<std::string, std::vector<std::string>> heard_;
};

// The number behind `"name":` in JSON; nothing when it is not there.
std::optional<uint64_t> number_behind(std::string_view json, std::string_view name) {
  const std::string key = fmt::format("\"{}\":", name);
  const size_t at = json.find(key);
  if (at == json.npos) return std::nullopt;
  return load::number_in(json.substr(at + key.size()));
}

}  // namespace

std::vector<std::string> stream_leftovers(load::asio::io_context& context,
                                          const load::Endpoint& nats) {
  Questions questions(context, nats);
  std::vector<std::string> found;
  for (const char* subject : {"submit", "result"}) {
    const std::string info = questions.ask(
        fmt::format("$JS.API.CONSUMER.INFO.CORDUM_SYS.dur_cordum-scheduler__sys_job_{}", subject),
        "");
    for (const char* what : {"num_ack_pending", "num_pending"}) {
      const auto count = number_behind(info, what);
      if (count == 0) continue;
      found.push_back(fmt::format("sys.job.{} has {} {}", subject, what,
                                  count ? std::to_string(*count) : "nobody tells"));
    }
  }
  return found;
}

std::set<std::pair<std::string, uint64_t>> published_dispatches(load::asio::io_context& context,
                                                                const load::Endpoint& nats,
                                                                uint64_t& from) {
  Questions questions(context, nats);
  const std::string made =
      questions.ask("$JS.API.CONSUMER.CREATE.CORDUM_JOBS",
                    fmt::format(R"({{"stream_name":"CORDUM_JOBS","config":{{"deliver_policy":)"
                                R"("by_start_sequence","opt_start_seq":{},"ack_policy":"none",)"
                                R"("replay_policy":"instant","deliver_subject":"{}"}}}})",
                                from, kDispatches));
  // Behind its beginning what is left; nothing of it may have been delivered yet.
  const uint64_t count = number_behind(made, "num_pending").value_or(0);
  std::set<std::pair<std::string, uint64_t>> found;
  for (const std::string& packet : questions.await(kDispatches, count)) {
    found.insert(dispatch_of(packet));
  }
  from += count;
  return found;
}

std::pair<std::string, uint64_t> dispatch_of(std::string_view packet) {
  cordum::agent::v1::DispatchIdentity identity;
  identity.ParseFromString(std::string(load::dispatch_identity(packet)));
  return {std::string(job::peek_job_id(packet)), identity.attempt()};
}

}  // namespace fairlead::chaos
