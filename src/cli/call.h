// What a verb is called with: its words, its flags, a client, and where to write.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

#include "cli/dialect.h"
#include "cli/http_client.h"
#include "runtime/clock.h"

namespace fairlead::cli {

namespace json = boost::json;

enum ExitCode { kDone = 0, kFailed = 1, kUsage = 2, kDenied = 3, kTimedOut = 4 };

enum class Output { kTable, kJson, kId };

// A verb that cannot go on: a line for people, and what the program exits with.
struct Problem {
  int exit_code = kFailed;
  std::string message;
  bool denied = false;  // the server does not let this key do it
};

struct Call {
  const Dialect& dialect;
  HttpClient& client;
  const Clock& clock;
  std::vector<std::string> words;
  std::map<std::string, std::vector<std::string>> flags;
  Output output = Output::kTable;

  bool has(const std::string& flag) const { return flags.contains(flag); }
  // The last value given, or `otherwise`.
  std::string flag(const std::string& name, std::string otherwise = {}) const;
  // Every value given, and what commas separate in them.
  std::vector<std::string> list(const std::string& name) const;
  // "500ms", "10s", "1m30s", "1h" or seconds. Throws a Problem.
  Duration duration(const std::string& name, Duration otherwise) const;
  // At least 1. Throws a Problem.
  int64_t count(const std::string& name, int64_t otherwise) const;

  // Calls a verb's work for each of the words, however the others went: what is wrong with one is
  // said, and what they answered is shown as one document of JSON. What the program exits with.
  int for_each_word(const std::function<json::value(const std::string& word)>& work) const;

  // Calls the API. Anything but success is thrown as a Problem, in the words of the dialect.
  json::value ask(std::string_view method, const std::string& target,
                  const json::value& body = nullptr) const;
  // The same, when the verb wants to look at a refusal itself.
  Answer call(std::string_view method, const std::string& target,
              const json::value& body = nullptr) const;
  // What a list has on every page, or on its first one: then a line says that there are more.
  // `target` has a query.
  json::array ask_list(const std::string& target, bool every_page) const;
  [[noreturn]] void refuse(const Answer& answer) const;
  [[noreturn]] void no_server(const NoAnswer& none) const;
};

// A missing server, in one line that says how to start one.
std::string no_server_line(const Dialect& dialect, const std::string& url, const NoAnswer& none);

}  // namespace fairlead::cli
