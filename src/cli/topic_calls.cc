#include "cli/topic_calls.h"

#include <boost/json/parse.hpp>

#include "cli/output.h"

namespace fairlead::cli {

MadeTopic make_topic(const Call& call, const json::object& body) {
  const std::string topics = "/api/v1/topics";
  const Answer answer = call.call("POST", topics, body);
  boost::system::error_code error;
  const json::value said = json::parse(answer.body, error);
  if (answer.good() && !error) return {said};
  if (error || text_at(said, "code") != "unknown_pool") call.refuse(answer);
  call.ask("PUT", "/api/v1/pools/" + percent_encoded(text_at(body, "pool")), json::object{});
  return {call.ask("POST", topics, body), true};
}

}  // namespace fairlead::cli
