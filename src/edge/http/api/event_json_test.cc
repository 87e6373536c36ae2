#include "edge/http/api/event_json.h"

#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

namespace fairlead::http {
namespace {

namespace cap = cordum::agent::v1;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

constexpr const char* kProof = "aproofofwhoitis";

bool is_proof(std::string_view field) {
  constexpr std::string_view kNames[] = {"auth_token", "signature", "secret", "password", "nonce"};
  for (std::string_view name : kNames) {
    if (field.find(name) != field.npos) return true;
  }
  return field.ends_with("_token") || field == "proof";
}

// Fills in what proves who sent it, wherever a message has a place for that; tells how often.
int add_proofs(Message& message) {
  int added = 0;
  const auto* reflection = message.GetReflection();
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const FieldDescriptor* field = message.GetDescriptor()->field(i);
    if (field->is_repeated() || field->real_containing_oneof()) continue;
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      added += add_proofs(*reflection->MutableMessage(&message, field));
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING && is_proof(field->name())) {
      reflection->SetString(&message, field, kProof);
      ++added;
    }
  }
  return added;
}

TEST(PacketEvent, NothingThatProvesWhoSentAPacketIsInItsEvent) {
  const auto* payloads = cap::BusPacket::descriptor()->FindOneofByName("payload");
  ASSERT_NE(payloads, nullptr);
  int told = 0;
  for (int i = 0; i < payloads->field_count(); ++i) {
    const FieldDescriptor* payload = payloads->field(i);
    cap::BusPacket packet;
    int proofs = add_proofs(*packet.GetReflection()->MutableMessage(&packet, payload));
    if (payload->name() == "heartbeat") EXPECT_EQ(proofs, 1);
    EXPECT_EQ(add_proofs(packet), 2) << "of the packet itself";
    auto event = packet_event(packet.SerializeAsString());
    if (!event) continue;
    ++told;
    EXPECT_EQ(event->data.find(kProof), std::string::npos) << event->data;
    // Bytes are told in base64.
    EXPECT_EQ(event->data.find("signature\":"), std::string::npos) << event->data;
  }
  EXPECT_EQ(told, 6);
}

}  // namespace
}  // namespace fairlead::http
