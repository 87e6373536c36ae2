#include <algorithm>
#include <array>
#include <iterator>

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

// At any depth. Maps are left out: those of a request hold strings, in which nothing is unknown.
bool has_unknown_fields(const google::protobuf::Message& message) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  if (!reflection.GetUnknownFields(message).empty()) return true;
  const google::protobuf::Descriptor& descriptor = *message.GetDescriptor();
  for (int i = 0; i < descriptor.field_count(); ++i) {
    const google::protobuf::FieldDescriptor* field = descriptor.field(i);
    if (field->message_type() == nullptr || field->is_map()) continue;
    check(!field->is_repeated(), "a request has no lists of messages");
    if (!reflection.HasField(message, field)) continue;
    if (has_unknown_fields(reflection.GetMessage(message, field))) return true;
  }
  return false;
}

std::string sha256_hex(std::string_view bytes) {
  // Fetched once: a lookup costs as much as hashing a small job.
  static EVP_MD* const sha256 = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned int size = 0;
  int done = EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, sha256, nullptr);
  check(done == 1, "OpenSSL offers SHA-256");

  constexpr char kHex[] = "0123456789abcdef";
  std::string hex;
  hex.reserve(2 * size);
  for (unsigned int i = 0; i < size; ++i) {
    hex += kHex[digest[i] >> 4];
    hex += kHex[digest[i] & 0xf];
  }
  return hex;
}

}  // namespace

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
