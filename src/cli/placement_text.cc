#include "cli/placement_text.h"

#include <fmt/core.h>

#include <boost/json/parse.hpp>

#include "cli/output.h"

namespace fairlead::cli {

namespace {

std::string packet_words(const json::value& data) {
  if (const json::value& progress = member(data, "jobProgress"); !progress.is_null()) {
    return fmt::format("{} {}% {}", text_at(progress, "jobId"),
                       static_cast<int>(number_at(progress, "percent")),
                       text_at(progress, "message"));
  }
  if (const json::value& beat = member(data, "heartbeat"); !beat.is_null()) {
    return fmt::format("{} pool {} jobs {}/{} cpu {:.0f}%", text_at(beat, "workerId"),
                       text_at(beat, "pool"), static_cast<int>(number_at(beat, "activeJobs")),
                       static_cast<int>(number_at(beat, "maxParallelJobs")),
                       number_at(beat, "cpuLoad"));
  }
  if (const json::value& result = member(data, "jobResult"); !result.is_null()) {
    return fmt::format("{} {} by {} {}", text_at(result, "jobId"), text_at(result, "status"),
                       text_at(result, "workerId"), text_at(result, "errorMessage"));
  }
  if (const json::value& request = member(data, "jobRequest"); !request.is_null()) {
    return fmt::format("{} {}", text_at(request, "jobId"), text_at(request, "topic"));
  }
  if (const json::value& cancel = member(data, "jobCancel"); !cancel.is_null()) {
    return fmt::format("{} {}", text_at(cancel, "jobId"), text_at(cancel, "reason"));
  }
  return text_at(data, "reason");
}

std::string status_words(const json::value& data) {
  std::string line = fmt::format("{} {} {}", text_at(data, "job_id"), text_at(data, "state"),
                                 text_at(data, "topic"));
  for (const char* name : {"worker_id", "wait_reason", "error_code", "error_message"}) {
    if (const std::string text = text_at(data, name); !text.empty()) line += " " + text;
  }
  return line;
}

}  // namespace

std::string placement_text(const json::value& placement) {
  std::string out;
  const json::value& chosen = member(placement, "chosen");
  if (!chosen.is_null()) {
    out += fmt::format("Would go to {}{}\n", text_at(chosen, "worker_id"),
                       text_at(chosen, "by_hint") == "true" ? ", as its hint asked" : "");
  } else {
    out += fmt::format("No worker now: {} {}\n", text_at(placement, "reason"),
                       text_at(placement, "detail"));
  }
  const json::value& rejected = member(placement, "rejected");
  if (rejected.is_array() && !rejected.get_array().empty()) {
    Table table({"WORKER", "POOL", "CAUSE", "DETAIL"});
    for (const json::value& worker : rejected.get_array()) {
      table.add({text_at(worker, "worker_id"), text_at(worker, "pool"), text_at(worker, "cause"),
                 text_at(worker, "detail")});
    }
    out += table.text();
  }
  const json::value& hints = member(placement, "hints");
  if (hints.is_array()) {
    for (const json::value& hint : hints.get_array()) {
      out += fmt::format("Hint {}={}: {} {}\n", text_at(hint, "hint"), text_at(hint, "value"),
                         text_at(hint, "accepted") == "true" ? "taken" : "not taken",
                         text_at(hint, "cause"));
    }
  }
  return out;
}

std::string event_line(const Event& event, bool as_json) {
  if (as_json) return event.data + "\n";
  boost::system::error_code error;
  const json::value data = json::parse(event.data, error);
  if (error) return "";
  const std::string words =
      event.name == "job.status_changed" ? status_words(data) : packet_words(data);
  return fmt::format("{:<20} {}\n", event.name, printable(words));
}

}  // namespace fairlead::cli
