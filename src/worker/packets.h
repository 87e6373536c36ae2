// The packets that a worker sends and reads.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "cordum/agent/v1/buspacket.pb.h"
#include "worker/options.h"
#include "worker/progress_line.h"

namespace fairlead::worker {

namespace cap = cordum::agent::v1;

inline constexpr std::string_view kResultSubject = "sys.job.result";
inline constexpr std::string_view kProgressSubject = "sys.job.progress";
inline constexpr std::string_view kCancelSubject = "sys.job.cancel";
inline constexpr std::string_view kHeartbeatSubject = "sys.heartbeat";
inline constexpr std::string_view kHandshakeSubject = "sys.handshake";
inline constexpr std::string_view kGoneSubject = "fairlead.worker.gone";
std::string jobs_subject(std::string_view worker);
// Where those who call themselves so hear of each other.
std::string hello_subject(std::string_view worker);

Result<cap::BusPacket> read_packet(std::string_view bytes);

struct Load {
  float cpu = 0;
  float memory = 0;
  int active_jobs = 0;
};

std::string handshake_packet(const Options& options, WallTime now);
std::string heartbeat_packet(const Options& options, const Load& load, WallTime now);
std::string result_packet(const cap::JobResult& result, const std::string& trace, WallTime now);
std::string progress_packet(const std::string& job, const cap::DispatchIdentity& dispatch,
                            const ProgressLine& progress, const std::string& worker,
                            const std::string& trace, WallTime now);

// The status that an exit code stands for.
cap::JobStatus status_of_exit(int code);

}  // namespace fairlead::worker
