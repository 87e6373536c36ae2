// `timeouts.yaml`: how long jobs may be on their way and with a worker.
#pragma once

#include <map>
#include <string_view>

#include "base/result.h"
#include "scheduler/settings.h"

namespace fairlead::scheduler {

struct TimeoutsFile {
  Timeouts timeouts;
  std::map<Topic, Timeouts> topics;  // those that differ
  // All numbers of the file, also those that other services go by: section, entry, name. Those of
  // the reconciler stand under the entry "".
  std::map<std::string, std::map<std::string, std::map<std::string, uint32_t>>> whole{};
};

// Reads the text of a `timeouts.yaml`:
//
//   reconciler: {dispatch_timeout_seconds, running_timeout_seconds, scan_interval_seconds}
//   topics:     {<topic>: {dispatch_timeout_seconds, running_timeout_seconds, timeout_seconds,
//                          max_retries}}
//   workflows:  {<workflow>: {child_timeout_seconds, total_timeout_seconds, max_retries}}
//
// All are whole numbers; of a topic, 0 means that it has none of its own, and timeout_seconds is
// another name of the running timeout. Without a reconciler section a job may be 300 s on its way
// and run for 9000 s; a 0 in it means 120 s and 300 s. The scan interval and the retries are
// checked and left to others: this scheduler is woken when something is late, and retries are the
// policy's. Anything else is kInvalid; the error says the line and what would be right.
Result<TimeoutsFile> parse_timeouts(std::string_view yaml);

}  // namespace fairlead::scheduler
