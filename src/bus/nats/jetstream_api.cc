#include "bus/nats/jetstream_api.h"

#include <fmt/format.h>

#include <boost/json.hpp>

namespace fairlead::bus::nats {

namespace json = boost::json;

namespace {

Result<ApiAnswer> read(const Reply& reply) {
  switch (reply.kind) {
    case Reply::Kind::kNone:
      return fail(ErrorCode::kUnknown, "JetStream gave no answer");
    case Reply::Kind::kNoResponders:
      return fail(ErrorCode::kNotFound, "the server has no JetStream");
    case Reply::Kind::kAnswer:
      break;
  }
  boost::system::error_code wrong;
  json::value parsed = json::parse(reply.message.payload, wrong);
  if (wrong || !parsed.is_object()) {
    return fail(ErrorCode::kCorrupt, "JetStream's answer is not readable");
  }
  ApiAnswer answer{std::move(parsed.get_object())};
  if (answer.body.contains("error")) {
    answer.error = ApiError{static_cast<int>(number_at(answer.body, "error.err_code")),
                            text_at(answer.body, "error.description")};
  }
  return answer;
}

const json::value* find(const json::object& document, std::string_view path) {
  const json::object* at = &document;
  while (true) {
    const size_t dot = path.find('.');
    const json::value* value = at->if_contains(path.substr(0, dot));
    if (!value || dot == std::string_view::npos) return value;
    at = value->if_object();
    if (!at) return nullptr;
    path.remove_prefix(dot + 1);
  }
}

}  // namespace

Future<Result<ApiAnswer>> JetStreamApi::call(std::string_view name, const json::object& question) {
  Completer<Result<ApiAnswer>> answer;
  Future<Result<ApiAnswer>> future = answer.future();
  const std::string reply = replies_.expect(
      [answer = std::move(answer)](Reply given) mutable { answer.complete(read(given)); });
  const std::string subject = fmt::format("$JS.API.{}", name);
  const std::string body = question.empty() ? std::string() : serialize(question);
  if (link_.send({subject, body, reply}) == Sending::kSent) return future;
  replies_.forget(reply);
  return fail(ErrorCode::kUnavailable, "there is no connection to NATS");
}

void JetStreamApi::tell(std::string_view name) {
  (void)call(name);
}

uint64_t number_at(const json::object& document, std::string_view path) {
  const json::value* value = find(document, path);
  if (!value || !value->is_number()) return 0;
  boost::system::error_code wrong;
  const auto number = value->to_number<uint64_t>(wrong);
  return wrong ? 0 : number;
}

std::string text_at(const json::object& document, std::string_view path) {
  const json::value* value = find(document, path);
  return value && value->is_string() ? std::string(value->get_string()) : std::string();
}

}  // namespace fairlead::bus::nats
