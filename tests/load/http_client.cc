#include "tests/load/http_client.h"

#include <charconv>

#include <fmt/format.h>

#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

namespace fairlead::load {

bool HttpClient::connect(const Endpoint& place) {
  wire_ = std::make_shared<Wire>(context_);
  if (!wire_->connect(place)) return false;
  wire_->start([this](std::string_view bytes) { return take(bytes); }, [this] { answer(0, {}); });
  return true;
}

void HttpClient::post(std::string_view path, std::string_view body, Answered answered,
                      std::string_view more_headers) {
  answered_ = std::move(answered);
  wire_->send(
      fmt::format("POST {} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json"
                  "\r\nContent-Length: {}\r\n{}\r\n{}",
                  path, body.size(), more_headers, body));
}

void HttpClient::close() {
  answered_ = nullptr;
  if (wire_) wire_->close();
}

// The server names the length of every answer.
size_t HttpClient::take(std::string_view bytes) {
  size_t end = bytes.find("\r\n\r\n");
  if (end == bytes.npos) return 0;
  constexpr std::string_view kLength = "Content-Length: ";
  size_t at = bytes.substr(0, end).find(kLength);
  size_t length = 0;
  if (at != bytes.npos) {
    std::from_chars(bytes.data() + at + kLength.size(), bytes.data() + end, length);
  }
  if (bytes.size() < end + 4 + length) return 0;
  int status = 0;
  std::from_chars(bytes.data() + 9, bytes.data() + 12, status);
  answer(status, bytes.substr(end + 4, length));
  return end + 4 + length;
}

void HttpClient::answer(int status, std::string_view body) {
  if (auto answered = std::exchange(answered_, nullptr)) answered(status, body);
}

std::string get(const Endpoint& place, std::string_view path) {
  asio::io_context context;
  asio::ip::tcp::socket socket(context);
  boost::system::error_code error;
  socket.connect({asio::ip::make_address_v4(place.host), place.port}, error);
  if (error) return {};
  std::string request =
      fmt::format("GET {} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", path);
  asio::write(socket, asio::buffer(request), error);
  std::string answer;
  asio::read(socket, asio::dynamic_buffer(answer), error);
  size_t end = answer.find("\r\n\r\n");
  return end == answer.npos ? std::string() : answer.substr(end + 4);
}

std::string_view json_text(std::string_view json, std::string_view name) {
  std::string key = fmt::format("\"{}\":\"", name);
  size_t at = json.find(key);
  if (at == json.npos) return {};
  std::string_view rest = json.substr(at + key.size());
  return rest.substr(0, rest.find('"'));
}

}  // namespace fairlead::load
