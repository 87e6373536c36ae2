// A job as the API shows it.
#pragma once

#include <string>
#include <vector>

#include "cordum/agent/v1/job.pb.h"
#include "edge/http/api/backend.h"
#include "edge/http/api/message.h"
#include "job/record.h"

namespace fairlead::http {

// A record with the bytes of its request; "" when they are gone.
struct ShownJob {
  job::Record record;
  std::string request;
};

// One line of a list.
json::object job_item(const ShownJob& job, bool times_as_text);
// Everything but what lies in payloads.
json::object job_detail(const ShownJob& job, bool times_as_text);

json::array job_items(const std::vector<ShownJob>& jobs, bool times_as_text);
Task<Result<std::vector<ShownJob>>> with_requests(Backend& backend,
                                                  std::vector<job::Record> records);

// What policy said of the job, the last word first.
json::array job_decisions(const job::Record& record, size_t limit);
// Every step the job took, oldest first.
json::array job_timeline(const job::Record& record);

// "ALLOW", "REQUIRE_APPROVAL", …; "" when policy was not asked.
const char* to_string(job::Decision::Kind kind);

// A time as the caller wants it: microseconds, or text.
json::value shown_time(WallTime time, bool as_text);

}  // namespace fairlead::http
