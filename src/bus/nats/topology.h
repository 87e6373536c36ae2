// The streams and durable consumers of the cluster, as the Go services make them. Pure.
#pragma once

#include <string>
#include <string_view>

#include <boost/json/object.hpp>

#include "base/result.h"
#include "bus/nats/settings.h"

namespace fairlead::bus::nats {

inline constexpr std::string_view kSystemStream = "CORDUM_SYS";  // sys.>
inline constexpr std::string_view kJobStream = "CORDUM_JOBS";    // job.> and worker.*.jobs

// Whether messages on the subject go to a stream when there is JetStream: work, its results, dead
// letters, audit records and dispatches. A cancel does not, though the local bus keeps it.
bool is_streamed(std::string_view subject);
// REQUIRES: is_streamed(subject).
std::string_view stream_of(std::string_view subject);

// "dur_cordum-scheduler__sys_job_submit".
std::string durable_name(std::string_view queue, std::string_view subject);

boost::json::object stream_config(std::string_view stream, const Settings& settings);
boost::json::object consumer_config(std::string_view subject, std::string_view queue,
                                    std::string_view deliver_subject, const Settings& settings);

// Whether a stream or a consumer that others made can be used. The error names what is in the way.
Result<void> accept_stream(std::string_view stream, const boost::json::object& config);
Result<void> accept_consumer(std::string_view subject, std::string_view queue,
                             const boost::json::object& config, const Settings& settings);

}  // namespace fairlead::bus::nats
