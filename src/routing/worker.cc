#include "routing/worker.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/limits.h"

namespace fairlead::routing {

namespace {

// Names and labels of one report: a worker of 64 labels says it in a quarter of this.
constexpr size_t kReportBytesMax = 16 * 1024;
// Leaves room for sums of counts.
constexpr int32_t kJobsMax = 1'000'000;
constexpr double kPercentMax = 100;

bool may_stand_in_token(unsigned char c) {
  return c > ' ' && c != 0x7f && c != '.' && c != '*' && c != '>';
}

size_t text_bytes(const WorkerReport& report) {
  size_t bytes = report.pool.str().size() + report.region.size() + report.type.size();
  for (const auto& [name, value] : report.labels) bytes += name.size() + value.size();
  for (const std::string& capability : report.capabilities) bytes += capability.size() + 1;
  return bytes;
}

double percent(double load) {
  return load > 0 ? std::min(load, kPercentMax) : 0;
}

}  // namespace

bool is_ready_for(const WorkerReport& report, const Topic& topic) {
  return report.ready_topics.empty() || topic.empty() ||
         std::ranges::binary_search(report.ready_topics, topic.str());
}

Result<std::vector<std::string>> validated_topics(std::vector<std::string> topics) {
  if (topics.size() > limits::kReadyTopicsMax) {
    return fail(ErrorCode::kInvalid, fmt::format("worker names {} topics, at most {} are allowed",
                                                 topics.size(), limits::kReadyTopicsMax));
  }
  for (const std::string& topic : topics) {
    if (topic.size() <= limits::kTopicBytesMax) continue;
    return fail(ErrorCode::kInvalid, fmt::format("worker names a topic of {} bytes, at most {} are "
                                                 "allowed",
                                                 topic.size(), limits::kTopicBytesMax));
  }
  std::ranges::sort(topics);
  topics.erase(std::ranges::unique(topics).begin(), topics.end());
  return topics;
}

Result<void> validate(const WorkerId& id) {
  const std::string& text = id.str();
  if (text.empty()) return fail(ErrorCode::kInvalid, "worker id is empty");
  if (text.size() > limits::kWorkerIdBytesMax) {
    return fail(ErrorCode::kInvalid, fmt::format("worker id has {} bytes, at most {} are allowed",
                                                 text.size(), limits::kWorkerIdBytesMax));
  }
  if (!std::ranges::all_of(text, may_stand_in_token)) {
    return fail(ErrorCode::kInvalid,
                "worker id has a dot, a wildcard, white space or a control byte: it must be one "
                "token of a subject");
  }
  return {};
}

Result<void> validate(const WorkerReport& report) {
  if (auto valid = validate(report.id); !valid) return valid;
  if (report.labels.size() > limits::kWorkerLabelsMax) {
    return fail(ErrorCode::kInvalid, fmt::format("worker has {} labels, at most {} are allowed",
                                                 report.labels.size(), limits::kWorkerLabelsMax));
  }
  if (size_t bytes = text_bytes(report); bytes > kReportBytesMax) {
    return fail(ErrorCode::kInvalid,
                fmt::format("worker's pool, labels and capabilities have {} bytes, at most {} are "
                            "allowed",
                            bytes, kReportBytesMax));
  }
  return {};
}

void sanitise(WorkerReport& report) {
  report.active_jobs = std::clamp(report.active_jobs, 0, kJobsMax);
  report.max_parallel_jobs = std::clamp(report.max_parallel_jobs, 0, kJobsMax);
  report.cpu_load = percent(report.cpu_load);
  report.gpu_utilization = percent(report.gpu_utilization);
  report.memory_load = percent(report.memory_load);
}

bool overloaded(int32_t load, int32_t max_parallel_jobs, double cpu_load, double gpu_utilization) {
  if (max_parallel_jobs > 0 &&
      static_cast<double>(load) / max_parallel_jobs >= limits::kOverloadUtilization) {
    return true;
  }
  return cpu_load >= limits::kOverloadPercent || gpu_utilization >= limits::kOverloadPercent;
}

double score(int32_t load, double cpu_load, double gpu_utilization) {
  return load + cpu_load / 100 + gpu_utilization / 100;
}

}  // namespace fairlead::routing
