// What several verbs do with jobs.
#pragma once

#include <string>

#include "cli/call.h"

namespace fairlead::cli {

std::string job_path(const std::string& job, std::string_view rest = {});

// JSON given as such, in a file, or "-" for standard input. Throws a Problem.
json::value read_json(const std::string& given, std::string_view flag);
// The body of a submit out of the flags of `job submit`.
json::object submit_body(const Call& call, const std::string& prompt);

bool is_over(std::string_view state);
// 0 of SUCCEEDED, 3 of DENIED, 4 of TIMEOUT, 1 of every other end.
int exit_code_of(std::string_view state);

// Follows a job to its end; `show` is told of every event. The last state. Throws a Problem when
// the time is over (zero: there is no bound).
std::string follow(const Call& call, const std::string& job, Duration at_most,
                   const std::function<void(const Event&)>& show);
// The same, with progress for one who looks, for as long as --timeout says.
std::string follow_with_progress(const Call& call, const std::string& job);
// The state that a job ended in, or the job as JSON; what was wrong on standard error.
int show_end(const Call& call, const std::string& job, const std::string& state);

}  // namespace fairlead::cli
