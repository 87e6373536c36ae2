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

  // What it takes to keep it, about.
  size_t bytes() const;
};

// One line of a list.
json::object job_item(const ShownJob& job, bool times_as_text);
// Everything but what lies in payloads.
json::object job_detail(const ShownJob& job, bool times_as_text);

// The lines of a list. A job may be long and a list has many: of each only that is kept which its
// line shows.
struct JobRows {
  std::vector<ShownJob> jobs;
  size_t bytes = 0;  // of all, about
};
Task<Result<JobRows>> job_rows(Backend& backend, std::vector<job::Record> records);
json::array job_items(const JobRows& rows, bool times_as_text);

// What policy said of the job, the last word first.
json::array job_decisions(const job::Record& record, size_t limit);
// Every step the job took, oldest first.
json::array job_timeline(const job::Record& record);

// "ALLOW", "REQUIRE_APPROVAL", …; "" when policy was not asked.
const char* to_string(job::Decision::Kind kind);

// A time as the caller wants it: microseconds, or text.
json::value shown_time(WallTime time, bool as_text);

}  // namespace fairlead::http
