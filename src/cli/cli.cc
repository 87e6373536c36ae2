#include "cli/cli.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include <fmt/core.h>

#include "cli/command_line.h"
#include "cli/output.h"

namespace fairlead::cli {

namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

bool truth(const std::string& text) {
  return text == "1" || text == "true" || text == "yes" || text == "on";
}

// Flags before the environment, the environment before what is usual.
Endpoint endpoint_of(const Dialect& dialect, const CommandLine& line) {
  auto pick = [&](const char* flag, const char* name, const char* otherwise) {
    if (auto given = line.flags.find(flag); given != line.flags.end()) return given->second.back();
    const std::string value = variable(name);
    return value.empty() ? std::string(otherwise) : value;
  };
  Endpoint endpoint;
  if (dialect.cordumctl) {
    endpoint.url = pick("gateway", "CORDUM_GATEWAY", "http://localhost:8081");
    endpoint.api_key = pick("api-key", "CORDUM_API_KEY", "");
    endpoint.tenant = pick("tenant", "CORDUM_TENANT_ID", "default");
    endpoint.ca_file = pick("cacert", "CORDUM_TLS_CA", "");
    endpoint.ca_flag = "--cacert";
    endpoint.insecure = truth(pick("insecure", "CORDUM_TLS_INSECURE", ""));
    constexpr const char* kLocalAuthority = "./certs/ca/ca.crt";
    const bool local = endpoint.url.starts_with("https://localhost") ||
                       endpoint.url.starts_with("https://127.0.0.1");
    if (local && endpoint.ca_file.empty() && std::filesystem::exists(kLocalAuthority)) {
      endpoint.ca_file = kLocalAuthority;
    }
  } else {
    endpoint.url = pick("server", "FAIRLEAD_API", "http://127.0.0.1:8081");
    endpoint.api_key = pick("api-key", "FAIRLEAD_API_KEY", "");
    endpoint.tenant = pick("tenant", "FAIRLEAD_TENANT", "");
    endpoint.ca_file = pick("ca", "FAIRLEAD_CA", "");
    endpoint.insecure = line.flags.contains("insecure");
  }
  if (endpoint.url.find("://") == endpoint.url.npos) endpoint.url = "http://" + endpoint.url;
  return endpoint;
}

Output output_of(const CommandLine& line) {
  auto given = line.flags.find("output");
  if (given == line.flags.end()) return Output::kTable;
  const std::string& format = given->second.back();
  if (format == "table") return Output::kTable;
  if (format == "json") return Output::kJson;
  if (format == "id") return Output::kId;
  throw Problem{kUsage, fmt::format("--output is '{}', must be table, json or id", format)};
}

// Every error of cordumctl exits with 1, but its doctor has a code of its own for wrong words.
int exit_of(const Dialect& dialect, std::span<const std::string_view> args,
            const Problem& problem) {
  if (!dialect.cordumctl) return problem.exit_code;
  const bool doctor = !args.empty() && args[0] == "doctor";
  return doctor && problem.exit_code == kUsage ? kUsage : kFailed;
}

int run_verb(const Dialect& dialect, CommandLine line) {
  SystemClock clock;
  HttpClient client(endpoint_of(dialect, line));
  const Output output = output_of(line);
  Call call{dialect, client, clock, std::move(line.words), std::move(line.flags), output};
  return line.verb->handler(call);
}

}  // namespace

int run(std::string_view program, std::span<const std::string_view> args, const Build& build,
        std::vector<Verb> own) {
  const Dialect dialect = dialect_of(std::string(program), build, std::move(own));
  auto complain = [&](const Problem& problem) {
    std::fflush(stdout);
    fmt::print(stderr, "{}: {}\n", dialect.program, printable(problem.message));
    return exit_of(dialect, args, problem);
  };
  auto line = parse_command_line(dialect, args);
  if (!line) return complain({kUsage, line.error().message});
  if (line->help) {
    fmt::print("{}", line->verb ? help_of(dialect, *line->verb) : help_of(dialect, line->group));
    return kDone;
  }
  if (!line->verb->handler) {
    return complain({kUsage, fmt::format("this program cannot {}", line->verb->name)});
  }
  try {
    return run_verb(dialect, *std::move(line));
  } catch (const Problem& problem) {
    return complain(problem);
  } catch (const std::exception& error) {
    // Of a parser: the server said what it should not.
    return complain({kFailed, std::string("the server's answer makes no sense: ") + error.what()});
  }
}

}  // namespace fairlead::cli
