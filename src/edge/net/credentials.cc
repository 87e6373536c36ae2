#include "edge/net/credentials.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/sha.h>

namespace fairlead::edge {

bool same_secret(std::string_view left, std::string_view right) {
  unsigned char digests[2][SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(left.data()), left.size(), digests[0]);
  SHA256(reinterpret_cast<const unsigned char*>(right.data()), right.size(), digests[1]);
  return CRYPTO_memcmp(digests[0], digests[1], SHA256_DIGEST_LENGTH) == 0;
}

bool Credentials::admits_token(std::string_view presented) const {
  return same_secret(presented, token) && !token.empty();
}

bool Credentials::admits_user(std::string_view presented_user,
                              std::string_view presented_password) const {
  const bool user_fits = same_secret(presented_user, user);
  const bool password_fits = same_secret(presented_password, password);
  return user_fits && password_fits && has_user();
}

Result<void> check_exposure(const std::string& address, const Credentials& credentials) {
  if (credentials.required()) return {};
  in6_addr six{};
  in_addr four{};
  const bool loopback =
      (inet_pton(AF_INET, address.c_str(), &four) == 1 && (ntohl(four.s_addr) >> 24) == 127) ||
      (inet_pton(AF_INET6, address.c_str(), &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six));
  if (loopback) return {};
  return fail(ErrorCode::kInvalid,
              fmt::format("{} can be reached by others: set a token, or a user and a password, or "
                          "listen on 127.0.0.1",
                          address));
}

}  // namespace fairlead::edge
