// The verbs as a table: dispatch, help and completion are made from it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/call.h"

namespace fairlead::cli {

// Those that every verb takes that talks to a server.
std::span<const Flag> common_flags(const Dialect& dialect);

// Of all verbs, or of those that begin with a word.
std::string help_of(const Dialect& dialect, std::string_view group = {});
std::string help_of(const Dialect& dialect, const Verb& verb);
// A script for bash.
std::string bash_completion(const Dialect& dialect);

// The tables, by what they are about.
std::vector<Verb> job_verbs();
std::vector<Verb> job_look_verbs();
std::vector<Verb> dlq_verbs();
std::vector<Verb> fleet_verbs();
std::vector<Verb> server_verbs();
std::vector<Verb> cordumctl_core_verbs();
std::vector<Verb> cordumctl_flow_verbs();

}  // namespace fairlead::cli
