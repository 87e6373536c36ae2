// Calls to the API of a server. One thread; every call waits for its answer, with a bound.
#pragma once

#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"

namespace fairlead::cli {

struct Endpoint {
  std::string url = "http://127.0.0.1:8081";
  std::string api_key;
  std::string tenant;
  std::string ca_file;           // empty: the system's authorities
  const char* ca_flag = "--ca";  // by which a person names one
  bool insecure = false;         // any certificate will do
  Duration patience = std::chrono::seconds(15);
};

struct Answer {
  int status = 0;
  std::string body;

  bool good() const { return status >= 200 && status < 300; }
};

// Why there is no answer, and a line for people.
struct NoAnswer {
  enum class Why {
    kNobody,    // nobody answers there
    kWrong,     // the address or a file makes no sense, or what answers does not speak HTTP
    kTooLate,   // nothing came in time; what was asked may be done
    kBroken,    // the connection ended; what was asked may be done
    kTimeOver,  // of a stream: as long as it was wanted
  };
  Why why = Why::kNobody;
  std::string message;
};

using Answered = std::expected<Answer, NoAnswer>;

// One event of a stream.
struct Event {
  std::string id;
  std::string name;
  std::string data;
};

class HttpClient {
 public:
  explicit HttpClient(Endpoint endpoint);
  ~HttpClient();

  const Endpoint& endpoint() const { return endpoint_; }

  // `target` is a path with its query. `patience` may be less than the endpoint's.
  Answered call(std::string_view method, std::string_view target, std::string body = {},
                std::optional<Duration> patience = {});

  // Reads events until `take` has enough (answers false), the stream ends or `at_most` is over
  // (zero: there is no bound). The answer is that of a server that opened no stream. kTimeOver:
  // `at_most` is over. `patience` is for the stream to open.
  using Take = std::function<bool(const Event&)>;
  Answered stream(std::string_view target, std::string_view last_event_id, Duration at_most,
                  const Take& take, std::optional<Duration> patience = {});

  // Lets time pass.
  void pause(Duration duration);

 private:
  class Core;
  Endpoint endpoint_;
  std::unique_ptr<Core> core_;
};

// For a path or a query: everything but letters, digits and -._~ as %XX.
std::string percent_encoded(std::string_view text);

}  // namespace fairlead::cli
