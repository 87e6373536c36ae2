#include "bus/nats/stored_message.h"

#include <charconv>
#include <cstdio>

#include <openssl/evp.h>

#include "base/text.h"
#include "bus/nats/jetstream_api.h"

namespace fairlead::bus::nats {

namespace {

std::optional<std::string> from_base64(const std::string& text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::string bytes(text.size() / 4 * 3, '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                   reinterpret_cast<const unsigned char*>(text.data()),
                                   static_cast<int>(text.size()));
  if (size < 0) return std::nullopt;
  size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  bytes.resize(static_cast<size_t>(size) - padding);
  return bytes;
}

std::optional<uint64_t> number_of(std::string_view text) {
  uint64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

std::optional<WallTime> read_time(const std::string& text) {
  int year = 0, hour = 0, minute = 0, second = 0, read = 0;
  unsigned month = 0, day = 0;
  if (std::sscanf(text.c_str(), "%4d-%2u-%2uT%2d:%2d:%2d%n", &year, &month, &day, &hour, &minute,
                  &second, &read) != 6 ||
      !text.ends_with('Z')) {
    return std::nullopt;
  }
  const auto date = std::chrono::year(year) / std::chrono::month(month) / std::chrono::day(day);
  if (!date.ok()) return std::nullopt;
  int64_t micros = 0;
  int64_t unit = 100'000;
  for (size_t i = static_cast<size_t>(read) + 1; i < text.size() - 1; ++i, unit /= 10) {
    micros += (text[i] - '0') * unit;
  }
  const Duration since_epoch = std::chrono::sys_days(date).time_since_epoch() +
                               std::chrono::hours(hour) + std::chrono::minutes(minute) +
                               std::chrono::seconds(second) + Duration(micros);
  return WallTime(since_epoch);
}

std::optional<StoredMessage> read_stored_message(const boost::json::object& answer) {
  StoredMessage message;
  message.sequence = Sequence(number_at(answer, "message.seq"));
  message.subject = text_at(answer, "message.subject");
  auto payload = from_base64(text_at(answer, "message.data"));
  auto headers = from_base64(text_at(answer, "message.hdrs"));
  auto time = read_time(text_at(answer, "message.time"));
  if (message.sequence == Sequence(0) || message.subject.empty() || !payload || !headers || !time) {
    return std::nullopt;
  }
  message.payload = *std::move(payload);
  message.headers = *std::move(headers);
  message.stored_at = *time;
  return message;
}

std::optional<DeliveryPlace> read_delivery_place(std::string_view ack_subject) {
  if (!ack_subject.starts_with("$JS.ACK.")) return std::nullopt;
  const std::vector<std::string_view> tokens = split(ack_subject, '.');
  // Newer servers put domain and account before the stream, and a token behind all.
  const size_t first = tokens.size() >= 11 ? 6 : 4;
  if (tokens.size() < first + 5) return std::nullopt;
  auto deliveries = number_of(tokens[first]);
  auto sequence = number_of(tokens[first + 1]);
  auto nanos = number_of(tokens[first + 3]);
  auto pending = number_of(tokens[first + 4]);
  if (!deliveries || !sequence || !nanos || !pending) return std::nullopt;
  return DeliveryPlace{static_cast<uint32_t>(*deliveries), Sequence(*sequence),
                       wall_time_from_micros(static_cast<int64_t>(*nanos / 1000)), *pending,
                       tokens[first - 1]};
}

std::string_view header_in(std::string_view block, std::string_view name) {
  for (std::string_view line : split(block, '\n')) {
    const size_t colon = line.find(':');
    if (colon != std::string_view::npos && line.substr(0, colon) == name) {
      return trim(line.substr(colon + 1));
    }
  }
  return {};
}

}  // namespace fairlead::bus::nats
