#include "bus/nats/nkey.h"

#include <cstdint>
#include <memory>

#include <openssl/evp.h>

#include "base/text.h"

namespace fairlead::bus::nats {

namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
constexpr uint8_t kSeedPrefix = 18 << 3;  // "S"
constexpr uint8_t kUserPrefix = 20 << 3;  // "U"
constexpr size_t kKeyBytes = 32;
constexpr size_t kChecksumBytes = 2;

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;

// CRC-16 of the XMODEM protocol.
uint16_t checksum(std::string_view bytes) {
  uint16_t sum = 0;
  for (char byte : bytes) {
    sum = static_cast<uint16_t>(sum ^ static_cast<uint16_t>(static_cast<uint8_t>(byte) << 8));
    for (int bit = 0; bit < 8; ++bit) {
      sum = static_cast<uint16_t>(sum & 0x8000 ? (sum << 1) ^ 0x1021 : sum << 1);
    }
  }
  return sum;
}

std::string to_base32(std::string_view bytes) {
  std::string text;
  uint32_t held = 0;
  int bits = 0;
  for (char byte : bytes) {
    held = held << 8 | static_cast<uint8_t>(byte);
    for (bits += 8; bits >= 5; bits -= 5) text += kAlphabet[held >> (bits - 5) & 31];
  }
  if (bits > 0) text += kAlphabet[held << (5 - bits) & 31];
  return text;
}

// Empty: not base32.
std::string from_base32(std::string_view text) {
  std::string bytes;
  uint32_t held = 0;
  int bits = 0;
  for (char letter : text) {
    const size_t value = kAlphabet.find(letter);
    if (value == std::string_view::npos) return {};
    held = held << 5 | static_cast<uint32_t>(value);
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes += static_cast<char>(held >> bits & 255);
    }
  }
  return bytes;
}

Result<Key> private_key(std::string_view seed) {
  // Two bytes of prefix: what it is, and whose.
  const std::string bytes = from_base32(trim(seed));
  auto wrong = [] { return fail(ErrorCode::kInvalid, "this is not the seed of a user's nkey"); };
  if (bytes.size() != 2 + kKeyBytes + kChecksumBytes) return wrong();
  const auto at = [&](size_t index) { return static_cast<uint8_t>(bytes[index]); };
  const uint16_t sum = static_cast<uint16_t>(at(2 + kKeyBytes) | at(3 + kKeyBytes) << 8);
  if (sum != checksum(std::string_view(bytes).substr(0, 2 + kKeyBytes))) return wrong();
  const auto whose = static_cast<uint8_t>((at(0) & 7) << 5 | (at(1) & 248) >> 3);
  if ((at(0) & 248) != kSeedPrefix || whose != kUserPrefix) return wrong();
  Key key(
      EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr,
                                   reinterpret_cast<const uint8_t*>(bytes.data()) + 2, kKeyBytes),
      EVP_PKEY_free);
  if (!key) return wrong();
  return key;
}

}  // namespace

Result<std::string> nkey_public(std::string_view seed) {
  Result<Key> key = private_key(seed);
  if (!key) return std::unexpected(key.error());
  std::string bytes(1 + kKeyBytes, static_cast<char>(kUserPrefix));
  size_t size = kKeyBytes;
  EVP_PKEY_get_raw_public_key(key->get(), reinterpret_cast<uint8_t*>(bytes.data()) + 1, &size);
  const uint16_t sum = checksum(bytes);
  bytes += static_cast<char>(sum & 255);
  bytes += static_cast<char>(sum >> 8);
  return to_base32(bytes);
}

}  // namespace fairlead::bus::nats
