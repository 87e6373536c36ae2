// A request as handlers see it, and their answer: plain values, no sockets.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "base/ids.h"
#include "base/result.h"

namespace fairlead::http {

namespace json = boost::json;

enum class Method { kGet, kPost, kPut, kPatch, kDelete };
const char* to_string(Method method);

// What a caller may do; each role may do what those before it may.
enum class Role { kViewer, kOperator, kAdmin };
const char* to_string(Role role);

// Who asks, as the gatekeeper found.
struct Caller {
  TenantId tenant{"default"};
  // Sees every tenant: it may act for any, and named none.
  bool all_tenants = false;
  Role role = Role::kViewer;
  std::string principal;
  bool principal_bound = false;  // its key says who it is: it cannot be another
  bool cross_tenant = false;     // its key is bound to no tenant, whether it named one or not

  bool sees(const TenantId& other) const { return all_tenants || other == tenant; }
};

using Pairs = std::vector<std::pair<std::string, std::string>>;

struct Request {
  Method method = Method::kGet;
  std::string path;  // as it came, without the query
  Pairs query;       // decoded, in the order given
  Pairs headers;     // names in lower case
  std::string body;
  Caller caller;
  // The parts of the path that the route leaves open, in order, decoded.
  std::vector<std::string> parameters;

  // The first of that name, or "".
  std::string_view header(std::string_view name) const;
  std::string_view parameter(std::string_view name) const;
  // Every one of that name, and what commas separate in them.
  std::vector<std::string> parameters_of(std::string_view name) const;
  // Times as text and lists without a wrapper, as the published Python client reads them.
  bool openapi_profile() const;
};

// An answer that goes on: events, until the connection ends.
struct StreamWish {
  bool all_tenants = false;
  TenantId tenant;
  std::string job;  // empty: of every job
  // Sent first, as an event of that name; then what followed that revision of the job.
  std::string first_event;
  std::string first_data;
  uint64_t first_revision = 0;
  uint64_t tapped_before = 0;  // no event up to this one of the tap tells of what followed
};

struct Reply {
  int status = 200;
  std::string body;
  std::string_view content_type = "application/json";
  Pairs headers;
  // Makes the body, on the thread that will send it.
  std::move_only_function<std::string()> render;
  size_t render_bytes = 0;  // what it holds until then, about
  std::optional<StreamWish> stream;
  std::string detail;  // of a problem that is not the caller's fault: for the log only
  // Held while the body is, or what it is made of: what keeps count of it is told when it goes.
  std::shared_ptr<void> counted;

  Reply& with(std::string name, std::string value) {
    headers.emplace_back(std::move(name), std::move(value));
    return *this;
  }
};

Reply reply_json(int status, const json::value& value);
// The body is made when the answer is sent: for what is long, or costly to put into words. Until
// then `make` holds about so many bytes.
Reply reply_later(int status, size_t bytes, std::move_only_function<json::value()> make);
// Likewise with JSON that `make` has put into words itself.
Reply reply_text_later(int status, size_t bytes, std::move_only_function<std::string()> make);
// A value as the text of an answer, which is UTF-8 whatever others have stored.
std::string text_of(const json::value& value);
// Adds a member to the text of an object that has some; `value` is JSON.
void add_member(std::string& object, std::string_view name, std::string_view value);
Reply reply_empty(int status);

// {"error": message, "code": code, "status": status} and `extra`. Without a code it is the message
// in lower case with everything but letters and digits as '_'.
Reply problem(int status, std::string_view message, std::string_view code = {},
              json::object extra = {});
// One of the `warnings` of an answer: what was asked for is done, and yet there is something to
// say.
json::object warning(std::string_view code, std::string_view message);
// What an error of the store or the scheduler means for a caller. Of what is not the caller's fault
// the error itself is the reply's detail.
Reply problem_of(const Error& error);

}  // namespace fairlead::http
