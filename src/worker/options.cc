#include "worker/options.h"

#include <algorithm>
#include <charconv>
#include <functional>

#include <fmt/core.h>

#include "base/go_duration.h"
#include "base/text.h"

namespace fairlead::worker {

namespace {

constexpr std::string_view kUsage = R"(usage: fairlead worker --pool P [options] -- command…

Runs the command once for every job of the pool: the payload is its standard
input, the result its standard output.

  --pool P            the pool to work for
  --topic T           take jobs of this topic only; may be given several times
  --parallel N        jobs at the same time (1)
  --server URL        nats:// or tls://[user:password@ or token@]host:port
                      (NATS_URL, nats://127.0.0.1:4222)
  --payloads URL      redis:// or rediss://[user:password@]host:port
                      (REDIS_URL, redis://127.0.0.1:6379); on the server's host
                      it is shown the server's password if it has none
  --token T           the listeners' token (FAIRLEAD_WORKER_TOKEN)
  --ca FILE           authority that signed the listeners' certificates
                      (NATS_TLS_CA)
  --cert FILE         certificate to show to the listeners (NATS_TLS_CERT)
  --key FILE          its key (NATS_TLS_KEY)
  --id ID             the worker's name (WORKER_ID, else host, process and chance)
  --label K=V         for placement; may be given several times
  --capability C      what it can do; may be given several times
  --grace TIME        from SIGTERM to SIGKILL when a job must stop (10s)
  --output-max BYTES  of one result, with k or m behind (8m)
  --keep-results TIME how long results are kept (168h, as long as the server
                      keeps ended jobs unless it is told otherwise)
  --cpu-load WHICH    what heartbeats tell: how busy the worker and its jobs
                      keep this machine, or how busy it is with everything;
                      from 90 % on no job is given. jobs or machine (jobs)

The program finds in its environment
  FAIRLEAD_PAYLOAD_FILE   the payload as a file; FAIRLEAD_PROMPT_FILE and
                          FAIRLEAD_CONTEXT_FILE: its prompt and its context
  FAIRLEAD_REQUEST_FILE   the whole job request as JSON
  FAIRLEAD_JOB_ID, FAIRLEAD_TOPIC, FAIRLEAD_TENANT, FAIRLEAD_TRACE_ID,
  FAIRLEAD_EPOCH, FAIRLEAD_DEADLINE_MS, FAIRLEAD_WORKER_ID, FAIRLEAD_POOL,
  FAIRLEAD_PROGRESS_FD
Lines on descriptor 3 are progress: "40", "40 reading", or JSON with percent,
message and step.

It ends with
  0         the job SUCCEEDED
  75        FAILED_RETRYABLE: the job is tried again later
  65, 78    FAILED_FATAL: no try can help
  others    FAILED, with the last lines of standard error as the message

SIGTERM or SIGINT: takes no more jobs, finishes those that run, ends. Again: kills
them.

examples:
  fairlead worker --pool default -- cat
  fairlead worker --pool default -- sh -c 'tr a-z A-Z < "$FAIRLEAD_PROMPT_FILE"'
  fairlead worker --pool gpu --topic job.train --parallel 2 -- python3 train.py
)";

std::unexpected<Error> wrong(std::string message) {
  return fail(ErrorCode::kInvalid, std::move(message));
}

template <class Number>
std::optional<Number> number_of(std::string_view digits) {
  Number value{};
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

// [user:password@ | token@]host[:port]
Result<ServerAddress> parse_address(std::string_view url, std::string_view plain,
                                    std::string_view secure, uint16_t port) {
  ServerAddress address;
  address.port = port;
  std::string_view rest = url;
  if (size_t mark = rest.find("://"); mark != rest.npos) {
    const std::string_view scheme = rest.substr(0, mark);
    if (scheme != plain && scheme != secure) {
      return wrong(fmt::format("'{}' must begin with {}:// or {}://", url, plain, secure));
    }
    address.tls = scheme == secure;
    rest.remove_prefix(mark + 3);
  }
  rest = rest.substr(0, rest.find('/'));
  if (size_t at = rest.rfind('@'); at != rest.npos) {
    const std::string_view who = rest.substr(0, at);
    if (size_t colon = who.find(':'); colon != who.npos) {
      address.user = who.substr(0, colon);
      address.password = who.substr(colon + 1);
    } else {
      address.token = who;
    }
    rest.remove_prefix(at + 1);
  }
  const size_t bracket = rest.starts_with('[') ? rest.find(']') : 0;
  if (bracket == rest.npos) return wrong(fmt::format("'{}' has a '[' without its ']'", url));
  if (size_t colon = rest.find(':', bracket); colon != rest.npos) {
    auto given = number_of<uint16_t>(rest.substr(colon + 1));
    if (!given || *given == 0) return wrong(fmt::format("'{}' has no port behind its ':'", url));
    address.port = *given;
    rest = rest.substr(0, colon);
  }
  if (bracket > 0) rest = rest.substr(1, bracket - 1);
  if (rest.empty()) return wrong(fmt::format("'{}' names no host", url));
  address.host = rest;
  return address;
}

Result<Duration> parse_duration(std::string_view text) {
  using namespace std::chrono_literals;
  Duration unit = 1s;
  std::string_view digits = text;
  if (digits.ends_with("ms")) {
    unit = 1ms;
    digits.remove_suffix(2);
  } else if (digits.ends_with('s')) {
    digits.remove_suffix(1);
  } else if (digits.ends_with('m')) {
    unit = 1min;
    digits.remove_suffix(1);
  }
  auto count = number_of<uint32_t>(digits);
  if (!count) return wrong(fmt::format("'{}' is no time: 500ms, 10s or 2m", text));
  return unit * *count;
}

Result<size_t> parse_bytes(std::string_view text) {
  size_t unit = 1;
  std::string_view digits = text;
  if (digits.ends_with('k')) unit = 1 << 10;
  if (digits.ends_with('m')) unit = 1 << 20;
  if (unit > 1) digits.remove_suffix(1);
  auto count = number_of<uint32_t>(digits);
  if (!count || *count * unit > limits::kBlobBytesMax) {
    return wrong(fmt::format("'{}' is no size of at most {} bytes", text, limits::kBlobBytesMax));
  }
  return *count * unit;
}

// Names of workers are one token of a subject.
bool is_worker_id(std::string_view id) {
  return !id.empty() && id.size() <= limits::kWorkerIdBytesMax &&
         std::ranges::all_of(
             id, [](char c) { return c > ' ' && c < 127 && c != '.' && c != '*' && c != '>'; });
}

struct Reading {
  Options options;
  std::string server_url;
  std::string payloads_url;
  std::string token;
  std::string ca_file;
  std::string certificate;
  std::string key;
};

using Setter = std::function<Result<void>(Reading&, std::string_view)>;

Setter text(std::string Reading::* field) {
  return [field](Reading& reading, std::string_view value) -> Result<void> {
    reading.*field = value;
    return {};
  };
}
Setter option_text(std::string Options::* field) {
  return [field](Reading& reading, std::string_view value) -> Result<void> {
    reading.options.*field = value;
    return {};
  };
}
Setter option_list(std::vector<std::string> Options::* field) {
  return [field](Reading& reading, std::string_view value) -> Result<void> {
    (reading.options.*field).emplace_back(value);
    return {};
  };
}

Result<void> set_parallel(Reading& reading, std::string_view value) {
  auto number = number_of<int>(value);
  if (!number || *number < 1 || *number > limits::kParallelMax) {
    return wrong(fmt::format("--parallel is '{}', must be 1 to {}", value, limits::kParallelMax));
  }
  reading.options.parallel = *number;
  return {};
}

Result<void> set_label(Reading& reading, std::string_view value) {
  const size_t equals = value.find('=');
  if (equals == value.npos || equals == 0) {
    return wrong(fmt::format("--label is '{}', must be NAME=VALUE", value));
  }
  reading.options.labels[std::string(value.substr(0, equals))] = value.substr(equals + 1);
  return {};
}

Result<void> set_grace(Reading& reading, std::string_view value) {
  auto duration = parse_duration(value);
  if (!duration) return std::unexpected(duration.error());
  reading.options.grace = *duration;
  return {};
}

Result<void> set_output_max(Reading& reading, std::string_view value) {
  auto bytes = parse_bytes(value);
  if (!bytes) return std::unexpected(bytes.error());
  reading.options.output_bytes_max = *bytes;
  return {};
}

Result<void> set_results_kept(Reading& reading, std::string_view value) {
  auto duration = parse_go_duration(value);
  if (!duration || *duration < std::chrono::seconds(1)) {
    return wrong(fmt::format("--keep-results is '{}', must be a time from 1s on, as 168h", value));
  }
  reading.options.results_kept = *duration;
  return {};
}

Result<void> set_cpu_load(Reading& reading, std::string_view value) {
  if (value != "machine" && value != "jobs") {
    return wrong(fmt::format("--cpu-load is '{}', must be jobs or machine", value));
  }
  reading.options.cpu_load = value == "jobs" ? Options::CpuLoad::kJobs : Options::CpuLoad::kMachine;
  return {};
}

const std::map<std::string_view, Setter>& setters() {
  static const std::map<std::string_view, Setter> all{
      {"--pool", option_text(&Options::pool)},
      {"--id", option_text(&Options::id)},
      {"--topic", option_list(&Options::topics)},
      {"--capability", option_list(&Options::capabilities)},
      {"--server", text(&Reading::server_url)},
      {"--payloads", text(&Reading::payloads_url)},
      {"--token", text(&Reading::token)},
      {"--ca", text(&Reading::ca_file)},
      {"--cert", text(&Reading::certificate)},
      {"--key", text(&Reading::key)},
      {"--parallel", set_parallel},
      {"--label", set_label},
      {"--grace", set_grace},
      {"--output-max", set_output_max},
      {"--keep-results", set_results_kept},
      {"--cpu-load", set_cpu_load},
  };
  return all;
}

// Reads up to `--`; the rest is the command.
Result<void> read_words(Reading& reading, std::span<const std::string_view> args) {
  for (size_t i = 0; i < args.size(); ++i) {
    std::string_view name = args[i];
    if (name == "--") {
      reading.options.command.assign(args.begin() + static_cast<ptrdiff_t>(i) + 1, args.end());
      return {};
    }
    if (name == "--help" || name == "-h" || name == "help") {
      reading.options.help = true;
      return {};
    }
    std::optional<std::string_view> value;
    if (size_t equals = name.find('='); name.starts_with("--") && equals != name.npos) {
      value = name.substr(equals + 1);
      name = name.substr(0, equals);
    }
    auto setter = setters().find(name);
    if (setter == setters().end()) {
      return wrong(name.starts_with('-')
                       ? fmt::format("worker does not know {}; see fairlead worker --help", name)
                       : fmt::format("put -- before the command: fairlead worker … -- {}", name));
    }
    if (!value) {
      if (++i == args.size()) return wrong(fmt::format("{} needs a value", name));
      value = args[i];
    }
    if (auto set = setter->second(reading, *value); !set) return set;
  }
  return {};
}

}  // namespace

bool ServerAddress::names_someone() const {
  return !token.empty() || !user.empty() || !password.empty();
}

std::string ServerAddress::shown() const {
  return fmt::format("{}:{}", host, port);
}

std::string_view usage() {
  return kUsage;
}

std::vector<std::string_view> flag_names() {
  std::vector<std::string_view> names;
  for (const auto& [name, setter] : setters()) names.push_back(name);
  return names;
}

Result<Options> parse_options(std::span<const std::string_view> args,
                              const std::map<std::string, std::string>& environment) {
  Reading reading;
  auto variable = [&](const char* name) {
    auto found = environment.find(name);
    return found == environment.end() ? std::string() : found->second;
  };
  reading.server_url = variable("NATS_URL");
  reading.payloads_url = variable("REDIS_URL");
  reading.token = variable("FAIRLEAD_WORKER_TOKEN");
  reading.ca_file = variable("NATS_TLS_CA");
  reading.certificate = variable("NATS_TLS_CERT");
  reading.key = variable("NATS_TLS_KEY");
  reading.options.id = variable("WORKER_ID");
  if (auto read = read_words(reading, args); !read) return std::unexpected(read.error());
  Options& options = reading.options;
  if (options.help) return options;

  if (options.pool.empty()) return wrong("--pool is missing: fairlead worker --pool P -- command");
  if (options.command.empty()) {
    return wrong("the command is missing: fairlead worker --pool P -- command");
  }
  if (reading.certificate.empty() != reading.key.empty()) {
    return wrong("--cert and --key go together");
  }
  if (!options.id.empty() && !is_worker_id(options.id)) {
    return wrong(
        fmt::format("--id is '{}', must be at most {} characters without '.', '*', '>' "
                    "and white space",
                    options.id, limits::kWorkerIdBytesMax));
  }
  if (reading.server_url.empty()) reading.server_url = "nats://127.0.0.1:4222";
  if (reading.payloads_url.empty()) reading.payloads_url = "redis://127.0.0.1:6379";
  auto server = parse_address(reading.server_url, "nats", "tls", 4222);
  if (!server) return std::unexpected(server.error());
  auto payloads = parse_address(reading.payloads_url, "redis", "rediss", 6379);
  if (!payloads) return std::unexpected(payloads.error());
  options.server = *std::move(server);
  options.payloads = *std::move(payloads);
  for (ServerAddress* address : {&options.server, &options.payloads}) {
    if (!address->names_someone()) address->token = reading.token;
  }
  if (!options.payloads.names_someone() && options.payloads.host == options.server.host) {
    options.payloads.user = options.server.user;
    options.payloads.password = options.server.password;
    options.payloads.token = options.server.token;
    options.payloads.borrowed = true;
  }
  for (ServerAddress* address : {&options.server, &options.payloads}) {
    address->ca_file = reading.ca_file;
    address->certificate = reading.certificate;
    address->key = reading.key;
  }
  return options;
}

}  // namespace fairlead::worker
