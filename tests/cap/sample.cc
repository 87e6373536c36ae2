#include "tests/cap/sample.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/message_differencer.h>

namespace fairlead::cap {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Struct;
using google::protobuf::util::MessageDifferencer;

std::string sample_text(const FieldDescriptor& field, int index) {
  return field.containing_type()->name() + "." + field.name() + "#" + std::to_string(index);
}

std::string sample_bytes(const FieldDescriptor& field, int index) {
  return std::string("\xff\0", 2) + sample_text(field, index);
}

int highest_value(const EnumDescriptor& type) {
  int highest = 0;
  for (int i = 0; i < type.value_count(); ++i) highest = std::max(highest, type.value(i)->number());
  return highest;
}

// Sets a singular field (`repeated` false) or appends one element.
void put(Message& message, const FieldDescriptor& field, bool repeated, int index) {
  const auto& reflection = *message.GetReflection();
  auto store = [&](auto set, auto add, const auto& value) {
    if (repeated)
      (reflection.*add)(&message, &field, value);
    else
      (reflection.*set)(&message, &field, value);
  };
  using R = google::protobuf::Reflection;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return store(&R::SetInt32, &R::AddInt32, -(field.number() + index));
    case FieldDescriptor::CPPTYPE_INT64:
      return store(&R::SetInt64, &R::AddInt64, (int64_t{1} << 40) + field.number() + index);
    case FieldDescriptor::CPPTYPE_UINT64:
      return store(&R::SetUInt64, &R::AddUInt64, (uint64_t{1} << 63) + field.number() + index);
    case FieldDescriptor::CPPTYPE_FLOAT:
      return store(&R::SetFloat, &R::AddFloat, static_cast<float>(field.number()) + 0.5F);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return store(&R::SetDouble, &R::AddDouble, field.number() + 0.1);
    case FieldDescriptor::CPPTYPE_BOOL:
      return store(&R::SetBool, &R::AddBool, true);
    case FieldDescriptor::CPPTYPE_ENUM:
      return store(&R::SetEnumValue, &R::AddEnumValue, highest_value(*field.enum_type()));
    case FieldDescriptor::CPPTYPE_STRING:
      return store(&R::SetString, &R::AddString,
                   field.type() == FieldDescriptor::TYPE_BYTES ? sample_bytes(field, index)
                                                               : sample_text(field, index));
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return fill_sample(repeated ? *reflection.AddMessage(&message, &field)
                                  : *reflection.MutableMessage(&message, &field));
    case FieldDescriptor::CPPTYPE_UINT32:
      break;
  }
  GOOGLE_LOG(FATAL) << field.full_name() << " has a type without a sample value";
}

void clear_newer_messages(Message& message) {
  const auto& reflection = *message.GetReflection();
  std::vector<const FieldDescriptor*> present;
  reflection.ListFields(message, &present);
  for (const auto* field : present) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    if (is_newer_message(*field->message_type())) {
      reflection.ClearField(&message, field);
    } else if (field->is_repeated()) {
      for (int i = 0; i < reflection.FieldSize(message, field); ++i)
        clear_newer_messages(*reflection.MutableRepeatedMessage(&message, field, i));
    } else {
      clear_newer_messages(*reflection.MutableMessage(&message, field));
    }
  }
}

// Keeps the lines of a difference report, one for each field.
class Lines : public MessageDifferencer::Reporter {
 public:
  using Path = std::vector<MessageDifferencer::SpecificField>;

  void ReportAdded(const Message&, const Message&, const Path& path) override {
    add("unexpected", path);
  }
  void ReportDeleted(const Message&, const Message&, const Path& path) override {
    add("missing", path);
  }
  void ReportModified(const Message&, const Message&, const Path& path) override {
    add("different", path);
  }

  std::vector<std::string> take() { return std::move(lines_); }

 private:
  void add(const char* what, const Path& path) {
    std::string line = what;
    for (const auto& step : path) {
      line += step.field ? " " + step.field->name()
                         : " unknown field " + std::to_string(step.unknown_field_number);
    }
    lines_.push_back(std::move(line));
  }

  std::vector<std::string> lines_;
};

}  // namespace

void fill_sample(Message& message, std::string_view payload) {
  if (auto* open = dynamic_cast<Struct*>(&message)) {
    // A Struct can hold itself: filling it by descriptor has no end.
    (*open->mutable_fields())["key"].set_string_value("value");
    return;
  }
  const auto* descriptor = message.GetDescriptor();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const auto& field = *descriptor->field(i);
    if (field.containing_oneof() && field.name() != payload) continue;
    if (!field.is_repeated()) {
      put(message, field, false, 0);
      continue;
    }
    const int elements = field.is_map() ? 1 : 2;
    for (int index = 0; index < elements; ++index) put(message, field, true, index);
  }
}

bool is_newer_message(const Descriptor& type) {
  const std::string& name = type.name();
  return name == "IdentityBinding" || name == "DispatchIdentity" || name == "ResourceRef" ||
         name == "SignatureMetadata" || name.starts_with("WorkerHandshake");
}

std::vector<std::string> sample_differences(const Message& actual, Generation peer,
                                            std::string_view payload) {
  const std::unique_ptr<Message> expected(actual.New());
  fill_sample(*expected, payload);
  if (peer == Generation::kOlder) clear_newer_messages(*expected);

  Lines lines;
  MessageDifferencer differencer;
  differencer.ReportDifferencesTo(&lines);
  differencer.Compare(*expected, actual);
  return lines.take();
}

}  // namespace fairlead::cap
