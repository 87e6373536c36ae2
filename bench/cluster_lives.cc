#include "bench/cluster_lives.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/check.h"
#include "job/request.h"

namespace fairlead::bench {

using namespace std::chrono_literals;

namespace {

constexpr int kWorkers = 10;
// A worker is full at nine tenths of this; together they take all that any case has in flight.
constexpr int kCapacity = 400;
constexpr int kConnections = 128;
constexpr const char* kAnswers = "$JS.ACK.CORDUM_SYS.dur_cordum-scheduler__sys_job_result.>";

// With what stands around it a request of about 400 bytes.
const std::string kBody =
    fmt::format(R"({{"prompt":"{}","topic":"job.default"}})", std::string(300, 'x'));

double millis(std::chrono::steady_clock::duration taken) {
  return std::chrono::duration<double, std::milli>(taken).count();
}

// $JS.ACK.<stream>.<consumer>.<deliveries>.<sequence in the stream>.…
uint64_t sequence_in(std::string_view subject) {
  for (int skipped = 0; skipped < 5; ++skipped) {
    const size_t dot = subject.find('.');
    if (dot == subject.npos) return 0;
    subject.remove_prefix(dot + 1);
  }
  return load::number_in(subject);
}

}  // namespace

ClusterLives::ClusterLives(uint16_t nats, const std::vector<uint16_t>& apis)
    : run_name_(fmt::format("{:08}", ::getpid() % 100'000'000)) {
  add_workers(nats);
  bus_.subscribe(kAnswers, [this](const load::NatsMessage& answer) {
    if (answer.payload.starts_with("+ACK")) hear_answered(sequence_in(answer.subject));
  });
  check(bus_.connect(nats), "the bench connects");
  for (int i = 0; i < kConnections && !apis.empty(); ++i) {
    clients_.push_back(std::make_unique<load::HttpClient>(context_));
    const uint16_t api = apis[static_cast<size_t>(i) % apis.size()];
    check(clients_.back()->connect(api), "a client connects");
    idle_.push_back(clients_.back().get());
  }
  beat();
}

void ClusterLives::add_workers(uint16_t nats) {
  for (int i = 0; i < kWorkers; ++i) {
    auto on_job = [this](load::NatsWorker& worker, std::string_view packet) {
      work(worker, packet);
    };
    workers_.push_back(std::make_unique<load::NatsWorker>(context_, fmt::format("worker-{}", i),
                                                          "default", kCapacity, on_job));
    workers_.back()->on_stored(
        [this](std::string_view job, uint64_t sequence) { hear_stored(job, sequence); });
    check(workers_.back()->connect(nats), "a worker connects");
  }
}

void ClusterLives::set_in_flight(size_t count) {
  in_flight_max_ = count;
  fill();
}

bool ClusterLives::run_until_ended(Clock::duration patience) {
  set_in_flight(0);
  const auto until = Clock::now() + patience;
  while (in_flight_ > 0 && Clock::now() < until) context_.run_for(5ms);
  return in_flight_ == 0;
}

void ClusterLives::forget_times() {
  to_worker_ms_.clear();
  to_end_ms_.clear();
}

void ClusterLives::fill() {
  while (in_flight_ < in_flight_max_ && (clients_.empty() || !idle_.empty())) {
    ++in_flight_;
    if (clients_.empty()) {
      submit_over_bus();
    } else {
      submit_over_api();
    }
  }
}

void ClusterLives::submit_over_bus() {
  const std::string job = fmt::format("{}-4f2a-8c1d-{:020}", run_name_, ++submitted_);
  lives_[job].submitted = Clock::now();
  bus_.publish("sys.job.submit", form_.fill(job));
}

void ClusterLives::submit_over_api() {
  load::HttpClient* client = idle_.front();
  idle_.pop_front();
  const auto sent = Clock::now();
  client->post("/api/v1/jobs", kBody, [this, client, sent](int status, std::string_view body) {
    check(status >= 200 && status < 300, "a job is accepted");
    idle_.push_back(client);
    const std::string job(load::json_text(body, "job_id"));
    Life& life = lives_[job];
    life.submitted = sent;
    close_if_known(job, life);
    fill();
  });
}

void ClusterLives::work(load::NatsWorker& worker, std::string_view packet) {
  lives_[std::string(job::peek_job_id(packet))].with_worker = Clock::now();
  worker.succeed_surely(packet);
}

void ClusterLives::hear_stored(std::string_view job, uint64_t sequence) {
  if (answered_first_.erase(sequence) > 0) return end(std::string(job));
  stored_.emplace(sequence, job);
}

void ClusterLives::hear_answered(uint64_t sequence) {
  if (auto result = stored_.extract(sequence)) return end(result.mapped());
  answered_first_.insert(sequence);
}

void ClusterLives::end(const std::string& job) {
  Life& life = lives_[job];
  life.ended = Clock::now();
  close_if_known(job, life);
  fill();
}

void ClusterLives::close_if_known(const std::string& job, const Life& life) {
  if (!life.submitted || !life.with_worker || !life.ended) return;
  to_worker_ms_.push_back(millis(*life.with_worker - *life.submitted));
  to_end_ms_.push_back(millis(*life.ended - *life.submitted));
  ++ended_;
  --in_flight_;
  lives_.erase(job);
}

void ClusterLives::beat() {
  for (auto& worker : workers_) worker->beat();
  timer_.expires_after(5s);
  timer_.async_wait([this](boost::system::error_code error) {
    if (!error) beat();
  });
}

}  // namespace fairlead::bench
