#include "tests/cluster/cluster_load.h"

#include <algorithm>

#include "base/check.h"
#include "cordum/agent/v1/buspacket.pb.h"

namespace fairlead::cluster {

using namespace std::chrono_literals;

ClusterLoad::ClusterLoad(uint16_t nats_port, int workers, int capacity) : nats_port_(nats_port) {
  for (int i = 0; i < workers; ++i) {
    auto on_job = [this](load::NatsWorker& worker, std::string_view packet) {
      work(worker, packet);
    };
    workers_.push_back(std::make_unique<load::NatsWorker>(context_, "worker-" + std::to_string(i),
                                                          "default", capacity, on_job));
    check(workers_.back()->connect(nats_port), "a worker connects");
  }
  beat();
}

void ClusterLoad::submit(uint16_t api, size_t count, int clients) {
  std::deque<std::unique_ptr<load::HttpClient>> all;
  size_t asked = 0;
  size_t busy = 0;
  bool gone = false;
  std::function<void(load::HttpClient&)> next = [&](load::HttpClient& client) {
    if (gone || asked == count) return;
    ++asked;
    ++busy;
    client.post("/api/v1/jobs", R"({"prompt":"x","topic":"job.default"})",
                [&](int status, std::string_view body) {
                  --busy;
                  if (status == 0) gone = true;
                  if (status >= 200 && status < 300) {
                    acknowledged_.emplace(load::json_text(body, "job_id"));
                  }
                  next(client);
                });
  };
  for (int i = 0; i < clients; ++i) {
    all.push_back(std::make_unique<load::HttpClient>(context_));
    if (all.back()->connect(api)) next(*all.back());
  }
  const auto patience = Clock::now() + 60s;
  while (busy > 0 && Clock::now() < patience) context_.run_for(1ms);
}

bool ClusterLoad::all_succeed(uint16_t api, Clock::duration patience) {
  const auto until = Clock::now() + patience;
  std::set<std::string> open = acknowledged_;
  while (!open.empty() && Clock::now() < until) {
    context_.run_for(20ms);
    for (auto job = open.begin(); job != open.end() && Clock::now() < until;) {
      const std::string answer = load::get(api, "/api/v1/jobs/" + *job);
      if (load::json_text(answer, "state") != "SUCCEEDED") break;
      job = open.erase(job);
    }
  }
  return open.empty();
}

size_t ClusterLoad::repeated_epochs() const {
  size_t repeated = 0;
  for (const auto& [job, epochs] : delivered_) {
    repeated += epochs.size() - std::set<uint64_t>(epochs.begin(), epochs.end()).size();
  }
  return repeated;
}

void ClusterLoad::hold_results(bool hold) {
  holding_ = hold;
  while (!holding_ && !held_.empty()) {
    held_.front().first->succeed_surely(held_.front().second);
    held_.pop_front();
  }
}

void ClusterLoad::tell_results_again() {
  for (auto& worker : workers_) worker->tell_again();
}

void ClusterLoad::work(load::NatsWorker& worker, std::string_view packet) {
  cordum::agent::v1::BusPacket read;
  check(read.ParseFromArray(packet.data(), static_cast<int>(packet.size())), "a packet is one");
  delivered_[read.job_request().job_id()].push_back(read.job_request().dispatch().attempt());
  if (holding_) {
    held_.emplace_back(&worker, std::string(packet));
  } else {
    worker.succeed_surely(packet);
  }
}

void ClusterLoad::beat() {
  for (auto& worker : workers_) {
    if (!worker->connected()) worker->connect(nats_port_);
    worker->beat();
  }
  timer_.expires_after(1s);
  timer_.async_wait([this](boost::system::error_code error) {
    if (!error) beat();
  });
}

}  // namespace fairlead::cluster
