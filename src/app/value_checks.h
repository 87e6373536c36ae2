// What the values of settings may be. Each check answers "" for a right value, else what would be
// right.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fairlead::app {

struct HostPort {
  std::string host;  // a number: 127.0.0.1, ::1
  uint16_t port = 0;

  // As it is written in an address: [::1]:8081.
  std::string text() const;
};

// "127.0.0.1:8081", "[::1]:8081", "localhost:0", and ":8081" for every address of this machine.
// Nothing for any other text.
std::optional<HostPort> parse_host_port(std::string_view text);
// A number of at most nine digits, with or without a fraction.
std::optional<double> parse_number(std::string_view text);
std::optional<bool> parse_flag(std::string_view text);

// A host's name as the name of a server: what may not be in one is '-'. "unknown" for nothing.
std::string instance_of_host(std::string_view host);
std::string instance_of_this_host();

std::string any_text(std::string_view value);
std::string not_empty(std::string_view value);
std::string is_flag(std::string_view value);
std::string is_host_port(std::string_view value);
std::string is_rate(std::string_view value);
std::string is_burst(std::string_view value);
std::string is_body_size(std::string_view value);
std::string is_days(std::string_view value);
std::string is_entry_count(std::string_view value);
std::string is_seconds(std::string_view value);
std::string is_count(std::string_view value);
std::string is_origin_list(std::string_view value);
std::string is_instance(std::string_view value);
std::string is_role_list(std::string_view value);
std::string is_duration(std::string_view value);
std::string is_log_format(std::string_view value);
std::string is_log_level(std::string_view value);

}  // namespace fairlead::app
