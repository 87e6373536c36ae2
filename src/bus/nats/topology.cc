#include "bus/nats/topology.h"

#include <array>

#include <fmt/format.h>

#include <boost/json.hpp>

#include "bus/bus.h"

namespace fairlead::bus::nats {

namespace {

namespace json = boost::json;

constexpr std::string_view kAuditSubject = "sys.audit.export";
// The server gives up after this many; we do before (limits::kDeliveriesMax).
constexpr int64_t kMaxDeliver = limits::kDeliveriesMax;

int64_t to_nanos(Duration duration) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count();
}

std::string as_name(std::string_view text) {
  std::string name;
  for (char byte : text) {
    if (byte == '.') {
      name += '_';
    } else if (byte == '*') {
      name += "STAR";
    } else if (byte == '>') {
      name += "GT";
    } else {
      name += byte;
    }
  }
  return name;
}

json::array subjects_of(std::string_view stream) {
  if (stream == kSystemStream) return {"sys.>"};
  return {"job.>", "worker.*.jobs"};
}

// What the server leaves out has its zero value.
json::value given(const json::object& config, std::string_view name, const json::value& like) {
  if (const auto* value = config.if_contains(name)) {
    // Numbers are read as signed where they fit.
    if (value->is_uint64()) return static_cast<int64_t>(value->get_uint64());
    return *value;
  }
  if (like.is_string()) return "";
  if (like.is_bool()) return false;
  return 0;
}

std::string in_words(const json::value& value) {
  return value.is_string() ? fmt::format("\"{}\"", std::string_view(value.get_string()))
                           : serialize(value);
}

std::unexpected<Error> clash(std::string_view what, std::string_view name, std::string_view setting,
                             const json::value& has, const json::value& wanted) {
  return fail(ErrorCode::kInvalid, fmt::format("{} {} exists with {} {} where {} is wanted", what,
                                               name, setting, in_words(has), in_words(wanted)));
}

}  // namespace

bool is_streamed(std::string_view subject) {
  return subject == kSubmitSubject || subject == kResultSubject || subject == kDeadLetterSubject ||
         subject == kAuditSubject || subject.starts_with("job.") ||
         (subject.starts_with("worker.") && subject.ends_with(".jobs"));
}

std::string_view stream_of(std::string_view subject) {
  return subject.starts_with("sys.") ? kSystemStream : kJobStream;
}

std::string durable_name(std::string_view queue, std::string_view subject) {
  return fmt::format("dur_{}__{}", as_name(queue), as_name(subject));
}

json::object stream_config(std::string_view stream, const Settings& settings) {
  return {{"name", stream},
          {"subjects", subjects_of(stream)},
          {"retention", "limits"},
          {"storage", "file"},
          {"discard", "old"},
          {"max_consumers", -1},
          {"max_msgs", -1},
          {"max_bytes", -1},
          {"max_age", to_nanos(settings.max_age)},
          {"duplicate_window", to_nanos(std::min(limits::kDuplicateWindow, settings.max_age))},
          {"num_replicas", settings.replicas}};
}

json::object consumer_config(std::string_view subject, std::string_view queue,
                             std::string_view deliver_subject, const Settings& settings) {
  return {{"durable_name", durable_name(queue, subject)},
          {"deliver_subject", deliver_subject},
          {"deliver_group", queue},
          {"deliver_policy", "all"},
          {"replay_policy", "instant"},
          {"ack_policy", "explicit"},
          {"ack_wait", to_nanos(settings.ack_wait)},
          {"max_deliver", kMaxDeliver},
          {"max_ack_pending", settings.max_ack_pending},
          {"filter_subject", subject}};
}

Result<void> accept_stream(std::string_view stream, const json::object& config) {
  auto wanted = [&](std::string_view setting, const json::value& value) -> Result<void> {
    json::value has = given(config, setting, value);
    if (has == value) return {};
    return clash("stream", stream, setting, has, value);
  };
  const json::value subjects = subjects_of(stream);
  const json::value* has = config.if_contains("subjects");
  for (const json::value& subject : subjects.get_array()) {
    const json::array* all = has ? has->if_array() : nullptr;
    if (!all || std::ranges::find(*all, subject) == all->end()) {
      return clash("stream", stream, "subjects", has ? *has : json::array(), subjects);
    }
  }
  // Age, size, replicas and storage are the operator's; they are told at start.
  if (auto same = wanted("retention", "limits"); !same) return same;
  if (auto same = wanted("no_ack", false); !same) return same;
  return wanted("sealed", false);
}

Result<void> accept_consumer(std::string_view subject, std::string_view queue,
                             const json::object& config, const Settings& settings) {
  const std::string name = durable_name(queue, subject);
  const json::object ours = consumer_config(subject, queue, "", settings);
  for (std::string_view setting : {"filter_subject", "deliver_group", "ack_policy", "ack_wait",
                                   "max_deliver", "max_ack_pending"}) {
    const json::value has = given(config, setting, ours.at(setting));
    if (has != ours.at(setting)) {
      return clash("consumer", name, setting, has, ours.at(setting));
    }
  }
  for (std::string_view setting : {"headers_only", "flow_control"}) {
    const json::value has = given(config, setting, false);
    if (has != json::value(false)) return clash("consumer", name, setting, has, false);
  }
  if (!config.contains("deliver_subject")) {
    return fail(ErrorCode::kInvalid,
                fmt::format("consumer {} exists without deliver_subject: it is pulled from, and a "
                            "push consumer is wanted",
                            name));
  }
  return {};
}

}  // namespace fairlead::bus::nats
