// A request as it came over the wire, made the plain value that handlers see.
#pragma once

#include <expected>
#include <optional>

#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>

#include "edge/http/api/message.h"

namespace fairlead::http {

using WireRequest = boost::beast::http::request<boost::beast::http::string_body>;

// All but the body. The reply says why it is refused.
std::expected<Request, Reply> read_head(const WireRequest& message);

// The id that the caller gave its request, if it is fit to be echoed.
std::optional<std::string> given_request_id(const WireRequest& message);

}  // namespace fairlead::http
