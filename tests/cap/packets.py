"""Packets of the published CAP SDK, for cap_packets_test.cc.

    packets.py write DIR     every message of cordum.agent.v1 with every field filled
    packets.py read DIR      checks such files, written by our side
    packets.py schema FILE   compares our descriptors (a FileDescriptorSet) with the SDK's

The rule that gives every field its value is that of sample.h.
"""

import pathlib
import sys

from cap.handshake import handshake_payload
from cap.heartbeat import heartbeat_payload
from cap.pb.cordum.agent.v1 import (  # noqa: F401  (imported to register their messages)
    alert_pb2, buspacket_pb2, handshake_pb2, heartbeat_pb2, job_pb2, policy_pb2, safety_pb2)
from google.protobuf import descriptor_pb2, message_factory, struct_pb2, unknown_fields
from google.protobuf.descriptor import FieldDescriptor

MODULES = (alert_pb2, buspacket_pb2, handshake_pb2, heartbeat_pb2, job_pb2, policy_pb2, safety_pb2)
PACKAGE = "cordum.agent.v1"


def all_files():
    """The SDK's files of the package, also those that are only imported by others."""
    found, queue = {}, [module.DESCRIPTOR for module in MODULES]
    while queue:
        file = queue.pop()
        if file.package == PACKAGE and file.name not in found:
            found[file.name] = file
            queue.extend(file.dependencies)
    return found.values()


def is_map(field):
    return field.message_type is not None and field.message_type.GetOptions().map_entry


def scalar(field, index):
    """The value that `field` carries at `index` (0 when it is not repeated)."""
    if field.type == FieldDescriptor.TYPE_STRING:
        return f"{field.containing_type.name}.{field.name}#{index}"
    if field.type == FieldDescriptor.TYPE_BYTES:
        return b"\xff\x00" + f"{field.containing_type.name}.{field.name}#{index}".encode()
    if field.type == FieldDescriptor.TYPE_BOOL:
        return True
    if field.type == FieldDescriptor.TYPE_ENUM:
        return max(value.number for value in field.enum_type.values)
    if field.type == FieldDescriptor.TYPE_INT32:
        return -(field.number + index)
    if field.type == FieldDescriptor.TYPE_INT64:
        return 2**40 + field.number + index
    if field.type == FieldDescriptor.TYPE_UINT64:
        return 2**63 + field.number + index
    if field.type == FieldDescriptor.TYPE_FLOAT:
        return field.number + 0.5
    if field.type == FieldDescriptor.TYPE_DOUBLE:
        return field.number + 0.1
    raise NotImplementedError(f"{field.full_name} has a type without a sample value")


def fill(message, payload=""):
    """Fills every field; of a BusPacket's payloads only the one named."""
    if isinstance(message, struct_pb2.Struct):
        message["key"] = "value"  # a Struct can hold itself: filling it by descriptor has no end
        return
    for field in message.DESCRIPTOR.fields:
        if field.containing_oneof is not None and field.name != payload:
            continue
        if is_map(field):
            entry = field.message_type.fields_by_name
            getattr(message, field.name)[scalar(entry["key"], 0)] = scalar(entry["value"], 0)
        elif field.message_type is not None and field.is_repeated:
            for _ in range(2):
                fill(getattr(message, field.name).add())
        elif field.message_type is not None:
            getattr(message, field.name).SetInParent()
            fill(getattr(message, field.name))
        elif field.is_repeated:
            getattr(message, field.name).extend(scalar(field, index) for index in range(2))
        else:
            setattr(message, field.name, scalar(field, 0))


def samples():
    """(file name, filled message) for every message, a BusPacket for every payload."""
    for file in all_files():
        for descriptor in file.message_types_by_name.values():
            payloads = [f.name for f in descriptor.fields if f.containing_oneof] or [""]
            for payload in payloads:
                message = message_factory.GetMessageClass(descriptor)()
                fill(message, payload)
                yield ".".join(filter(None, (descriptor.name, payload, "bin"))), message


def write(folder):
    for name, message in samples():
        (folder / name).write_bytes(message.SerializeToString())
    # Two packets as the SDK's own functions make them, values and all.
    (folder / "sdk_heartbeat.bin").write_bytes(heartbeat_payload(
        worker_id="worker-7", pool="gpu", active_jobs=3, max_parallel=8, cpu_load=42.5,
        auth_token="secret", agent_name="Seven"))
    (folder / "sdk_handshake.bin").write_bytes(handshake_payload(
        "worker-7", {"chat": True, "stream": False}, ready_topics=["job.chat"]))


def unknown_fields_in(message):
    """Field numbers of `message` and below it that the SDK does not know."""
    numbers = [f"{message.DESCRIPTOR.name}.{field.field_number}"
               for field in unknown_fields.UnknownFieldSet(message)]
    for field, value in message.ListFields():
        if field.message_type is not None and not is_map(field):
            for child in value if field.is_repeated else [value]:
                numbers += unknown_fields_in(child)
    return numbers


def without_unknown_fields(message):
    copy = type(message)()
    copy.CopyFrom(message)
    copy.DiscardUnknownFields()
    return copy


def read(folder):
    checked = 0
    for name, expected in samples():
        actual = type(expected)()
        actual.ParseFromString((folder / name).read_bytes())
        if without_unknown_fields(actual) != expected:
            sys.exit(f"{name}: expected\n{expected}\nbut read\n{actual}")
        for unknown in unknown_fields_in(actual):
            print(f"unknown {unknown}")
        checked += 1
    print(f"read {checked}")


def shape_of_message(proto):
    oneofs = [oneof.name for oneof in proto.oneof_decl]
    fields = {f.name: (f.number, f.label, f.type, f.type_name,
                       oneofs[f.oneof_index] if f.HasField("oneof_index") else None)
              for f in proto.field}
    nested = {f"{proto.name}.{n.name}": shape_of_message(n) for n in proto.nested_type}
    reserved = sorted((r.start, r.end) for r in proto.reserved_range)
    return {"fields": fields, "nested": nested, "reserved": reserved}


def shapes(files):
    """Everything that decides the bytes on the wire, by kind and name."""
    found = {}
    for file in files:
        for message in file.message_type:
            found["message", message.name] = shape_of_message(message)
        for enum in file.enum_type:
            found["enum", enum.name] = {value.name: value.number for value in enum.value}
        for service in file.service:
            found["service", service.name] = {
                m.name: (m.input_type, m.output_type, m.client_streaming, m.server_streaming)
                for m in service.method}
    return found


def sdk_file_protos():
    for file in all_files():
        proto = descriptor_pb2.FileDescriptorProto()
        file.CopyToProto(proto)
        yield proto


def schema(path):
    """Prints a line for every difference; fields that only we have are not errors by themselves."""
    ours = shapes(f for f in descriptor_pb2.FileDescriptorSet.FromString(path.read_bytes()).file
                  if f.package == PACKAGE)
    theirs = shapes(sdk_file_protos())
    for key in sorted(ours.keys() | theirs.keys()):
        kind, name = key
        if key not in ours:
            print(f"missing {kind} {name}")
        elif key not in theirs:
            print(f"newer {kind} {name}")
        elif kind == "message":
            print_field_differences(name, ours[key], theirs[key])
        elif ours[key] != theirs[key]:
            print(f"different {kind} {name}: ours {ours[key]}, theirs {theirs[key]}")


def print_field_differences(name, ours, theirs):
    if ours["nested"] != theirs["nested"]:
        print(f"different entries of {name}: ours {ours['nested']}, theirs {theirs['nested']}")
    for numbers in theirs["reserved"]:
        if numbers not in ours["reserved"]:
            print(f"missing reserved numbers {numbers} of {name}")
    for field in sorted(ours["fields"].keys() | theirs["fields"].keys()):
        mine, other = ours["fields"].get(field), theirs["fields"].get(field)
        if mine is None:
            print(f"missing field {name}.{field}")
        elif other is None:
            print(f"newer field {name}.{field}")
        elif mine != other:
            print(f"different field {name}.{field}: ours {mine}, theirs {other}")


if __name__ == "__main__":
    commands = {"write": write, "read": read, "schema": schema}
    if len(sys.argv) != 3 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    commands[sys.argv[1]](pathlib.Path(sys.argv[2]))
