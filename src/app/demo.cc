#include "app/demo.h"

#include <cerrno>

#include <fmt/format.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace fairlead::app {

namespace json = boost::json;
using namespace std::chrono_literals;

namespace {

constexpr Duration kPatience = 10s;
constexpr Duration kLookEvery = 5ms;
// Where the command line and workers look when they are not told.
constexpr std::string_view kUsualApi = "http://127.0.0.1:8081";
constexpr std::string_view kUsualWorkers = "nats://127.0.0.1:4222";
constexpr std::string_view kUsualPayloads = "redis://127.0.0.1:6379";

// With the user that is let in; a token has a variable of its own.
std::string address_for_workers(const std::string& url, const edge::Credentials& credentials) {
  if (!credentials.token.empty() || !credentials.has_user()) return url;
  const size_t host = url.find("://") + 3;
  return fmt::format("{}{}:…@{}", url.substr(0, host), credentials.user, url.substr(host));
}

}  // namespace

Demo::Demo(http::Backend& backend, Place place, Say say)
    : backend_(backend),
      place_(std::move(place)),
      say_(std::move(say)),
      worker_({backend.loop, backend.clock, backend.bus, backend.store, backend.scheduler,
               backend.context_ttl},
              WorkerId("demo-echo"), PoolName("default")) {}

Task<void> Demo::run() {
  if (auto started = worker_.start(); !started) {
    say_("demo: the echo worker cannot start: " + started.error().message);
    co_return;
  }
  for (const char* prompt : {"hello", "fair winds", "and following seas"}) {
    auto job = co_await submit(prompt);
    if (!job) co_return;
    const job::State state = co_await end_of(*job);
    say_(fmt::format("demo: job {} \"{}\" {}", job->str(), prompt, job::to_string(state)));
    if (state != job::State::kSucceeded) co_return;
  }
  suggest();
}

void Demo::suggest() {
  const char* program = program_invocation_name;
  say_("");
  say_("Everything works. Try next, in another terminal:");
  if (place_.api != kUsualApi) say_(fmt::format("  export FAIRLEAD_API={}", place_.api));
  if (place_.keys) say_("  export FAIRLEAD_API_KEY=…");
  const std::string workers = address_for_workers(place_.workers, place_.credentials);
  const std::string payloads = address_for_workers(place_.payloads, place_.credentials);
  if (workers != kUsualWorkers) say_(fmt::format("  export NATS_URL={}", workers));
  if (payloads != kUsualPayloads) say_(fmt::format("  export REDIS_URL={}", payloads));
  if (!place_.credentials.token.empty()) say_("  export FAIRLEAD_WORKER_TOKEN=…");
  const std::pair<const char*, const char*> tries[] = {
      {"job submit --prompt hello", "a job of your own: prints its id"},
      {"job status ID", "what became of it"},
      {"worker --pool default -- cat", "a worker of your own: any program"},
      {"top", "what goes on"},
  };
  for (const auto& [command, meaning] : tries) {
    say_(fmt::format("  {} {:<30} # {}", program, command, meaning));
  }
  say_(fmt::format("Ctrl-C stops the server; what it knows stays in {}.", place_.data));
}

// As a client would: the same reading, the same answer.
Task<std::optional<JobId>> Demo::submit(std::string prompt) {
  http::Request request;
  request.method = http::Method::kPost;
  request.path = "/api/v1/jobs";
  request.body = json::serialize(json::object{{"prompt", prompt}, {"topic", "job.default"}});
  request.caller = {TenantId("default"), true, http::Role::kAdmin, "demo"};
  http::ReadTools tools{backend_.random, backend_.clock};
  auto planned = api_.plan(request, tools);
  http::Reply reply = planned ? co_await planned->call(backend_) : std::move(planned.error());
  std::string body = reply.render ? reply.render() : std::move(reply.body);
  json::error_code ignored;
  json::value answer = json::parse(body, ignored);
  const json::value* job = answer.is_object() ? answer.get_object().if_contains("job_id") : nullptr;
  if (reply.status != 200 || !job || !job->is_string()) {
    say_(fmt::format("demo: a job was refused: {}", body));
    co_return std::nullopt;
  }
  co_return JobId(std::string(job->get_string()));
}

Task<job::State> Demo::end_of(JobId job) {
  const MonotonicTime until = backend_.clock.monotonic() + kPatience;
  job::State state = job::State::kPending;
  while (!job::is_terminal(state) && backend_.clock.monotonic() < until) {
    if (!co_await backend_.loop.delay(kLookEvery)) break;
    auto loaded = co_await backend_.store.load(job, {});
    if (loaded && loaded->record) state = loaded->record->state;
  }
  co_return state;
}

}  // namespace fairlead::app
