#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <vector>

#include <google/protobuf/message.h>
#include <openssl/evp.h>

#include "base/check.h"
#include "job/request.h"

namespace fairlead::job {

namespace {

constexpr char kEffectiveConfig[] = "CORDUM_EFFECTIVE_CONFIG";

// Labels that are added to a job after its client wrote it.
bool is_added_label(std::string_view name) {
  constexpr std::string_view kApproval = "approval_";
  auto same_letter = [](char a, char b) { return a == (b >= 'A' && b <= 'Z' ? b - 'A' + 'a' : b); };
  return std::ranges::equal(kApproval, name.substr(0, kApproval.size()), same_letter) ||
         name == "cordum.bus_msg_id" || name == "policy.attachment_id";
}

// The fields of a message that hold messages, looked up once. Maps are left out: those of a request
// hold strings, in which nothing is unknown.
std::vector<const google::protobuf::FieldDescriptor*> parts_of(
    const google::protobuf::Descriptor& descriptor) {
  std::vector<const google::protobuf::FieldDescriptor*> parts;
  for (int i = 0; i < descriptor.field_count(); ++i) {
    const google::protobuf::FieldDescriptor* field = descriptor.field(i);
    if (field->message_type() == nullptr || field->is_map()) continue;
    check(!field->is_repeated(), "a request has no lists of messages");
    parts.push_back(field);
  }
  return parts;
}

// At any depth.
bool has_unknown_fields(const google::protobuf::Message& message) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  if (!reflection.GetUnknownFields(message).empty()) return true;
  for (const google::protobuf::FieldDescriptor* field : parts_of(*message.GetDescriptor())) {
    if (!reflection.HasField(message, field)) continue;
    if (has_unknown_fields(reflection.GetMessage(message, field))) return true;
  }
  return false;
}

bool has_unknown_fields(const cap::JobRequest& request) {
  static const auto parts = parts_of(*cap::JobRequest::descriptor());
  const google::protobuf::Reflection& reflection = *request.GetReflection();
  if (!reflection.GetUnknownFields(request).empty()) return true;
  return std::ranges::any_of(parts, [&](const google::protobuf::FieldDescriptor* field) {
    return reflection.HasField(request, field) &&
           has_unknown_fields(reflection.GetMessage(request, field));
  });
}

}  // namespace

std::string sha256_hex(std::string_view bytes) {
  // Fetched once: a lookup costs as much as hashing a small job.
  static EVP_MD* const sha256 = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  static thread_local const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(
      EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned int size = 0;
  bool done = EVP_DigestInit_ex2(context.get(), sha256, nullptr) == 1 &&
              EVP_DigestUpdate(context.get(), bytes.data(), bytes.size()) == 1 &&
              EVP_DigestFinal_ex(context.get(), digest.data(), &size) == 1;
  check(done, "OpenSSL offers SHA-256");

  constexpr char kHex[] = "0123456789abcdef";
  std::string hex;
  hex.reserve(2 * size);
  for (unsigned int i = 0; i < size; ++i) {
    hex += kHex[digest[i] >> 4];
    hex += kHex[digest[i] & 0xf];
  }
  return hex;
}

std::string job_hash(const cap::JobRequest& request) {
  // Most requests are bare already, and a copy costs more than the rest.
  bool unknown_fields = has_unknown_fields(request);
  bool added_labels = std::ranges::any_of(
      request.labels(), [](const auto& label) { return is_added_label(label.first); });
  if (!unknown_fields && !added_labels && !request.env().contains(kEffectiveConfig)) {
    return sha256_hex(serialise(request));
  }

  cap::JobRequest bare = request;
  auto& labels = *bare.mutable_labels();
  for (auto label = labels.begin(); label != labels.end();) {
    label = is_added_label(label->first) ? labels.erase(label) : std::next(label);
  }
  bare.mutable_env()->erase(kEffectiveConfig);
  if (unknown_fields) bare.DiscardUnknownFields();
  return sha256_hex(serialise(bare));
}

}  // namespace fairlead::job
