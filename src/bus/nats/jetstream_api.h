// Questions to JetStream: a JSON document on a subject, answered by another.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <boost/json/object.hpp>

#include "base/result.h"
#include "bus/nats/link.h"
#include "bus/nats/replies.h"
#include "runtime/future.h"

namespace fairlead::bus::nats {

// What JetStream says when it does not do what it was asked for.
struct ApiError {
  int code = 0;  // err_code, as the server's documentation lists them
  std::string description;

  static constexpr int kNoMessage = 10037;
  static constexpr int kNotEnabledForAccount = 10039;
  static constexpr int kNotEnabled = 10076;
  static constexpr int kConsumerNotFound = 10014;
  static constexpr int kConsumerExists = 10013;
  static constexpr int kStreamNotFound = 10059;
  static constexpr int kStreamExists = 10058;
};

struct ApiAnswer {
  boost::json::object body;
  std::optional<ApiError> error{};

  bool failed_with(int code) const { return error && error->code == code; }
};

class JetStreamApi {
 public:
  // Both must outlive it.
  JetStreamApi(Link& link, Replies& replies) : link_(link), replies_(replies) {}

  // `name` is what follows "$JS.API." in the subject. The error is kUnavailable while there is no
  // connection, kNotFound when the server has no JetStream, kUnknown when no answer came.
  Future<Result<ApiAnswer>> call(std::string_view name, const boost::json::object& question = {});
  // Nobody waits for the answer.
  void tell(std::string_view name);

 private:
  Link& link_;
  Replies& replies_;
};

// A number of a document, 0 where there is none; `path` has dots between names.
uint64_t number_at(const boost::json::object& document, std::string_view path);
// The same of a text.
std::string text_at(const boost::json::object& document, std::string_view path);

}  // namespace fairlead::bus::nats
