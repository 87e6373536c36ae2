// Who may use a listener.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace fairlead::edge {

// Either way in is enough where both are set.
struct Credentials {
  std::string token;
  std::string user;
  std::string password;

  bool required() const { return !token.empty() || has_user(); }
  bool has_user() const { return !user.empty() || !password.empty(); }
  // Take as long for a wrong answer as for a right one.
  bool admits_token(std::string_view presented) const;
  bool admits_user(std::string_view presented_user, std::string_view presented_password) const;
};

// Compares in a time that tells nothing about where the two differ, or how long they are.
bool same_secret(std::string_view left, std::string_view right);

// An error when a listener on `address` would serve strangers: without credentials only loopback
// addresses are allowed.
Result<void> check_exposure(const std::string& address, const Credentials& credentials);

}  // namespace fairlead::edge
