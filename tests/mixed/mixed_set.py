"""The mixed set: what Go services left, Fairlead's schedulers on it, workers of the CAP SDK.

    mixed_set.py [--jetstream]

Says `made` when streams and keys stand as the Go services leave them; reads a line when schedulers
and workers run on them; then plays gateway, workflow engine and one bare worker, awaits what must
become of every job, and reads every key as a Go service would. Problems are printed; the status is 1
when there are any. Servers come from NATS_URL and REDIS_URL.
"""

import asyncio
import hashlib
import json
import os
import sys
import time
import uuid

import nats
import redis.asyncio
from cap.client import submit_job
from cap.heartbeat import heartbeat_payload
from cap.pb.cordum.agent.v1 import buspacket_pb2, job_pb2
from go_reader import GoReader
from go_services import SECOND, TERMINAL, GoServices, now, packet_of
from google.protobuf import json_format, unknown_fields

PATIENCE_S = 60
MINUTE = 60 * SECOND
LOCKED_MS = 4000
TOKENS = 9_876_543_210  # more than 32 bits


def request_of(job, topic, **fields):
    request = job_pb2.JobRequest(job_id=job, topic=topic, context_ptr=f"redis://ctx:{job}",
                                 tenant_id="acme", principal_id="ada", **fields)
    request.env["team_id"] = "blue"
    request.labels["colour"] = "red"
    request.meta.capability = "summarise"
    request.meta.risk_tags.append("low")
    request.budget.max_output_tokens = TOKENS
    return request


class MixedSet:
    def __init__(self, client, connection, jetstream):
        self.redis = client
        self.nats = connection
        self.jetstream = jetstream
        self.go = GoServices(client, connection, jetstream)
        self.patience = time.monotonic() + PATIENCE_S
        self.problems = []
        self.expected = {}  # job: its state in the end
        self.untouched = {}  # job: all that is known of it
        self.letters = {}  # job: the packet on sys.job.dlq
        self.raw = {}  # job: the message that the bare worker got
        self.greeted = []  # what schedulers said of themselves when they came

    def want(self, holds, what):
        if not holds:
            self.problems.append(what)

    # --- Before any of ours runs --------------------------------------------------------------------

    async def make(self):
        await self.nats.subscribe("sys.handshake", cb=self.note_handshake)
        if self.jetstream:
            await self.go.make_streams()
        await self.go.worker_snapshot()
        await self.go.system_config()
        await self.make_ended()
        await self.make_forgotten()
        await self.make_handed_out()
        await self.make_approvals()
        if self.jetstream:
            self.described = await self.go.describe_streams()

    async def note_handshake(self, message):
        packet = buspacket_pb2.BusPacket.FromString(message.data)
        if packet.HasField("handshake") and packet.sender_id == "scheduler":
            self.greeted.append(packet.handshake)

    async def make_ended(self):
        for state in sorted(TERMINAL):
            job, at = f"go-{state.lower()}", now() - 3600 * SECOND
            await self.go.gateway_stores(request_of(job, "job.old"), "trace-ended", at)
            await self.go.set_state(job, "SCHEDULED", at + 1)
            await self.go.set_state(job, state, at + 2)
            if state == "SUCCEEDED":
                await self.redis.hset(f"job:meta:{job}", "result_ptr", f"redis://res:{job}")
                await self.redis.set(f"job:result_ptr:{job}", f"redis://res:{job}", ex=604800)
                await self.redis.set(f"res:{job}", b'"the first"', ex=86400)
            if state == "FAILED":
                await self.go.dead_letter(job, "job.old", "JOB_STATUS_FAILED", "dispatch_failed", at)
            self.untouched[job] = await self.all_of(job)

    async def make_forgotten(self):
        """Left in the store by a scheduler that died or gave up; nothing will ever be published."""
        old = now() - 10 * MINUTE
        await self.go.gateway_stores(request_of("go-pending-forgotten", "job.old"), "trace-old", old)
        self.expected["go-pending-forgotten"] = "SUCCEEDED"
        await self.go.gateway_stores(request_of("go-scheduled-forgotten", "job.new"), "trace-old",
                                     old)
        await self.go.set_state("go-scheduled-forgotten", "SCHEDULED", old + 1)
        self.expected["go-scheduled-forgotten"] = "SUCCEEDED"
        older = now() - 20 * MINUTE
        await self.go.gateway_stores(request_of("go-stuck", "job.old"), "trace-old", older)
        for state in ("SCHEDULED", "DISPATCHED", "RUNNING"):
            await self.go.set_state("go-stuck", state, older)
        self.expected["go-stuck"] = "TIMEOUT"
        await self.go.gateway_stores(request_of("go-late", "job.nobody"), "trace-old", old)
        await self.go.set_deadline("go-late", now() - MINUTE)
        self.expected["go-late"] = "TIMEOUT"

    async def make_handed_out(self):
        """With a worker when the Go scheduler stopped; the results come to ours."""
        for state in ("DISPATCHED", "RUNNING"):
            job = f"go-{state.lower()}"
            await self.go.gateway_stores(request_of(job, "job.raw"), "trace-handed-out")
            await self.go.set_state(job, "SCHEDULED")
            await self.go.set_state(job, "DISPATCHED")
            if state == "RUNNING":
                await self.go.set_state(job, "RUNNING")
            self.expected[job] = "SUCCEEDED"

    async def make_approvals(self):
        self.to_approve = request_of("go-approved", "job.new")
        for request in (self.to_approve, request_of("go-unapproved", "job.new")):
            digest = hashlib.sha256(request.SerializeToString(deterministic=True)).hexdigest()
            await self.go.gateway_requires_approval(request, "trace-approval", digest)
        self.expected["go-approved"] = "SUCCEEDED"
        self.expected["go-unapproved"] = "APPROVAL_REQUIRED"

    # --- Beside ours --------------------------------------------------------------------------------

    async def play(self):
        await self.listen()
        await self.submit_over_gateway()
        await self.submit_bare()
        await self.go.gateway_approves(self.to_approve, "trace-approval")
        for job in ("go-dispatched", "go-running"):
            await self.answer(job, "trace-handed-out")
        await self.answer("go-succeeded", "trace-ended")  # once more, long after its end
        await self.cancel()

    async def listen(self):
        def note_letter(packet, _):
            self.letters[packet.job_result.job_id] = packet

        await self.go.listen("sys.job.dlq", "cordum-gateway", note_letter)
        if self.jetstream:
            await self.go.listen("sys.job.result", "cordum-workflow-engine", lambda *_: None)

        async def work(message):
            packet = buspacket_pb2.BusPacket.FromString(message.data)
            self.raw[packet.job_request.job_id] = message
            await self.answer(packet.job_request.job_id, packet.trace_id)

        await self.nats.subscribe("worker.raw-worker.jobs", queue="worker.raw-worker.jobs", cb=work)
        self.beating = asyncio.create_task(self.beat())

    async def beat(self):
        while True:
            await self.nats.publish("sys.heartbeat", heartbeat_payload("raw-worker", "raw", 0, 8, 0))
            await asyncio.sleep(0.5)

    async def submit_over_gateway(self):
        for i in range(20):
            topic = ("job.old", "job.new")[i % 2]
            await self.go.gateway_submits(request_of(f"gateway-{i}", topic), f"trace-{i}")
            self.expected[f"gateway-{i}"] = "SUCCEEDED"
        failing = request_of("gateway-failing", "job.old")
        await self.go.gateway_stores(failing, "trace-failing")
        await self.redis.set("ctx:gateway-failing", json.dumps({"prompt": "fail"}))
        await self.go.publish("sys.job.submit", packet_of(failing, "trace-failing"), "failing")
        self.expected["gateway-failing"] = "FAILED"
        await self.go.gateway_submits(request_of("gateway-unmapped", "job.unmapped"), "trace-none")
        self.expected["gateway-unmapped"] = "FAILED"
        if self.jetstream:  # a submit that must wait for a lock is given back to the stream
            await self.submit_locked()

    async def submit_locked(self):
        """The job's lock is held by a service that knows nothing of us."""
        self.free_at = now() + LOCKED_MS * 1000
        await self.go.lock_job("gateway-locked", str(uuid.uuid4()), LOCKED_MS)
        await self.go.gateway_submits(request_of("gateway-locked", "job.old"), "trace-locked")
        self.expected["gateway-locked"] = "SUCCEEDED"

    async def submit_bare(self):
        """Jobs of which the store knows nothing yet, as the workflow engine sends them."""
        job = "run-7:step-a@1"
        await self.redis.set(f"ctx:{job}", json.dumps({"prompt": "of a workflow"}))
        await submit_job(self.nats, request_of(job, "job.new", workflow_id="wf-1", step_index=2),
                         "trace-workflow", "workflow-engine")
        self.expected[job] = "SUCCEEDED"

        # With fields of a version that neither we nor the SDK know.
        packet = packet_of(request_of("bare-unknown-fields", "job.raw"), "trace-raw")
        newer = packet.job_request.SerializeToString() + bytes([0xC2, 0x3E, 3]) + b"new"
        packet.job_request.ParseFromString(newer)
        await self.go.publish("sys.job.submit", packet, "jobreq:bare-unknown-fields")
        self.expected["bare-unknown-fields"] = "SUCCEEDED"
        # And once more, the very same.
        await self.go.publish("sys.job.submit", packet, "again:bare-unknown-fields")

    async def answer(self, job, trace):
        packet = buspacket_pb2.BusPacket(trace_id=trace, sender_id="raw-worker", protocol_version=1)
        packet.created_at.GetCurrentTime()
        packet.job_result.CopyFrom(job_pb2.JobResult(
            job_id=job, status=job_pb2.JOB_STATUS_SUCCEEDED, worker_id="raw-worker",
            result_ptr=f"redis://res:{job}", execution_ms=3))
        await self.nats.publish("sys.job.result", packet.SerializeToString())

    async def cancel(self):
        await self.go.gateway_submits(request_of("gateway-cancelled", "job.nobody"), "trace-cancel")
        await self.until(lambda: self.known_to_ours("gateway-cancelled"), "it is waiting")
        packet = buspacket_pb2.BusPacket(trace_id="trace-cancel", sender_id="api-gateway",
                                         protocol_version=1)
        packet.job_cancel.CopyFrom(job_pb2.JobCancel(
            job_id="gateway-cancelled", reason="no longer wanted", requested_by="ada"))
        await self.nats.publish("sys.job.cancel", packet.SerializeToString())
        self.expected["gateway-cancelled"] = "CANCELLED"

    # --- What became of them ------------------------------------------------------------------------

    async def known_to_ours(self, job):
        return await self.redis.hexists(f"job:meta:{job}", "fl_rec")

    async def state_of(self, job):
        return (await self.redis.hget(f"job:meta:{job}", "state") or b"").decode()

    async def all_of(self, job):
        meta = {name: value for name, value in (await self.redis.hgetall(f"job:meta:{job}")).items()
                if not name.startswith(b"fl_")}
        return {"meta": meta, "request": await self.redis.get(f"job:req:{job}"),
                "events": await self.redis.lrange(f"job:events:{job}", 0, -1),
                "result": await self.redis.get(f"res:{job}"),
                "letter": await self.redis.get(f"dlq:entry:{job}")}

    async def until(self, holds, what):
        """All that is awaited has the same patience together."""
        while not await holds():
            if time.monotonic() > self.patience:
                return self.want(False, f"not after {PATIENCE_S} s: {what}")
            await asyncio.sleep(0.1)

    async def check(self):
        for job, state in self.expected.items():
            async def is_there():
                return await self.state_of(job) == state

            await self.until(is_there, f"{job} is {state}")
        await self.check_results()
        await self.check_letters()
        await self.check_bare_worker()
        for job, before in self.untouched.items():
            after = await self.all_of(job)
            self.want(after == before, f"{job} had ended and was touched: {before} {after}")
        if self.jetstream:
            await self.check_locked()
            await self.check_streams()
        await self.check_leftovers()
        await self.check_schedulers()
        self.problems += await GoReader(self.redis).read()
        if not self.problems:
            await self.check_reader()

    async def check_reader(self):
        """A reader that finds fault with nothing would prove nothing: what is damaged, it names."""
        damage = {
            "job:meta:gateway-0": self.redis.set("job:state:gateway-0", "RUNNING"),
            "job:index:failed": self.redis.zadd("job:index:failed", {"gateway-2": now()}),
            "job:meta:gateway-4 updated_at":
                self.redis.hset("job:meta:gateway-4", "updated_at", 1_700_000_000),
            "job:meta:gateway-5 spice": self.redis.hset("job:meta:gateway-5", "spice", "nutmeg"),
            "job:req:gateway-6": self.redis.set("job:req:gateway-6", "{"),
            "job:events:gateway-8": self.redis.rpush("job:events:gateway-8", "nonsense"),
            "job:tenant:active:acme": self.redis.sadd("job:tenant:active:acme", "gateway-10"),
            "job:recent": self.redis.zadd("job:recent", {"nobody": now()}),
            "cordum:scheduler:job:x": self.redis.set("cordum:scheduler:job:x", "token"),
            "job:meta:gateway-14": self.redis.persist("job:meta:gateway-14"),
            "dlq:index": self.redis.zadd("dlq:index", {"gateway-failing": now()}),
            "job:result_ptr:gateway-16": self.redis.set("job:result_ptr:gateway-16", "res"),
            "another:key": self.redis.set("another:key", ""),
        }
        for change in damage.values():
            await change
        named = await GoReader(self.redis).read()
        for key in damage:
            self.want(any(problem.startswith(key + ":") for problem in named),
                      f"{key} is damaged, and the reader does not notice")

    async def check_results(self):
        versions = set()
        for job, state in self.expected.items():
            request = job_pb2.JobRequest()
            json_format.Parse(await self.redis.get(f"job:req:{job}"), request,
                              ignore_unknown_fields=True)
            runs = int(await self.redis.hget("mixed:runs", job) or 0)
            if request.topic in ("job.old", "job.new") and state == "SUCCEEDED":
                result = json.loads(await self.redis.get(f"res:{job}") or "{}")
                wanted = json.loads(await self.redis.get(f"ctx:{job}"))["prompt"]
                self.want(result.get("echo") == wanted, f"{job} has result {result}")
                self.want(runs == 1, f"{job} was run {runs} times")
                versions.add(result.get("by"))
            self.want(request.labels["colour"] == "red", f"{job} lost its labels")
            self.want(request.budget.max_output_tokens == TOKENS, f"{job} lost digits")
            trace = await self.redis.hget(f"job:meta:{job}", "trace_id")
            members = await self.redis.smembers(b"trace:" + trace)
            self.want(job.encode() in members, f"{job} is not in its trace {trace}")
        self.want(len(versions) == 2, f"jobs were run by {versions}")
        reason = await self.redis.hget("job:meta:go-stuck", "failure_reason")
        self.want(reason == b"timeout: RUNNING >15m0s", f"go-stuck says {reason}")
        reason = await self.redis.hget("job:meta:go-late", "failure_reason")
        self.want(reason == b"timeout: deadline expired", f"go-late says {reason}")

    async def check_locked(self):
        events = [json.loads(event)
                  for event in await self.redis.lrange("job:events:gateway-locked", 0, -1)]
        began = [event["ts"] for event in events if event["state"] == "DISPATCHED"]
        self.want(began and began[0] >= self.free_at, f"a lock was broken: {began} {self.free_at}")

    async def check_letters(self):
        for job, reason in (("gateway-failing", "told to fail"), ("gateway-unmapped", "")):
            async def came():
                return job in self.letters

            await self.until(came, f"{job} is on sys.job.dlq")
            packet = self.letters.get(job, buspacket_pb2.BusPacket())
            self.want(packet.sender_id == "cordum-scheduler", f"{job}: from {packet.sender_id}")
            self.want(packet.trace_id == job, f"{job}: its trace is {packet.trace_id}")
            self.want(packet.job_result.status == job_pb2.JOB_STATUS_FAILED, f"{job}: {packet}")
            entry = json.loads(await self.redis.get(f"dlq:entry:{job}") or "{}")
            self.want(entry.get("reason_code") == packet.job_result.error_code, f"{job}: {entry}")
            self.want(entry.get("reason") == packet.job_result.error_message, f"{job}: {entry}")
            self.want(reason in entry.get("reason", ""), f"{job}: {entry}")
            if job == "gateway-unmapped":
                self.want(entry.get("reason_code") == "no_pool_mapping", f"{job}: {entry}")

    async def check_bare_worker(self):
        self.want(set(self.raw) == {"bare-unknown-fields"}, f"the bare worker got {set(self.raw)}")
        for message in self.raw.values():
            packet = buspacket_pb2.BusPacket.FromString(message.data)
            fields = unknown_fields.UnknownFieldSet(packet.job_request)
            self.want(any(field.field_number == 1000 and field.data == b"new" for field in fields),
                      "a field that nobody knows was lost on the way to the worker")
            self.want(packet.sender_id == "cordum-scheduler", f"dispatched by {packet.sender_id}")
            self.want(packet.trace_id == "trace-raw", f"dispatched with trace {packet.trace_id}")
            self.want(packet.protocol_version == 1, "dispatched with another version")

    async def check_streams(self):
        self.want(await self.go.describe_streams() == self.described, "settings were changed")
        for durable in self.described["durables"]:
            async def is_empty():
                info = await self.go.ask_jetstream("CONSUMER.INFO.CORDUM_SYS." + durable)
                return info["num_pending"] == 0 and info["num_ack_pending"] == 0

            await self.until(is_empty, f"{durable} has nothing left")

    async def check_schedulers(self):
        """Ours are where Go services look for schedulers, and say of themselves what those say."""
        ours = {"one", "two"}

        async def registered():
            found = {}
            async for key in self.redis.scan_iter("cordum:instance:scheduler:*"):
                entry = json.loads(await self.redis.get(key) or "{}")
                self.want(key.decode().endswith(":" + entry.get("id", "")), f"{key}: {entry}")
                self.want(entry.get("service") == "scheduler" and entry.get("started_at"),
                          f"{key}: {entry}")
                self.want(0 < await self.redis.ttl(key) <= 15, f"{key} does not expire")
                found[entry.get("id", "").split(".")[0]] = entry
            return set(found) == ours

        await self.until(registered, f"schedulers {ours} are registered")

        async def snapshot_is_ours():
            snapshot = json.loads(await self.redis.get("sys:workers:snapshot") or "{}")
            known = {worker["worker_id"] for worker in snapshot.get("workers", [])}
            return (snapshot.get("writer_id", "").split(".")[0] in ours
                    and {"raw-worker", "cap-old", "cap-new"} <= known)

        await self.until(snapshot_is_ours, "the snapshot of the workers is written by ours")
        roles = [handshake.role for handshake in self.greeted]
        scheduler = self.greeted[0].DESCRIPTOR.fields_by_name["role"].enum_type.values_by_name[
            "COMPONENT_ROLE_SCHEDULER"].number if self.greeted else None
        self.want(roles == [scheduler, scheduler], f"schedulers introduced themselves as {roles}")
        await self.check_config()

    async def check_config(self):
        """The timeouts file is there for all services, also what schedulers do not go by."""
        document = json.loads(await self.redis.get("cfg:system:default"))
        self.want(document["data"].get("timeouts") == {
            "reconciler": {"dispatch_timeout_seconds": 300, "running_timeout_seconds": 900,
                           "scan_interval_seconds": 30},
            "topics": {"job.old": {"max_retries": 2}},
            "workflows": {"wf-1": {"child_timeout_seconds": 60, "total_timeout_seconds": 600,
                                   "max_retries": 1}}}, f"timeouts are {document['data']}")
        self.want(document["data"].get("scheduler") == {"input_fail_mode": "closed"},
                  f"what others keep there is {document['data']}")
        self.want(document["revision"] == 4, f"{document['revision'] - 3} writes for two replicas")

    async def check_leftovers(self):
        async def are_gone():
            names = ("unpublished", "outbox", "claims")
            return not [1 for name in names if await self.redis.zcard(f"fairlead:{name}")]

        await self.until(are_gone, "nothing is left on its way")
        async for key in self.redis.scan_iter("fairlead:slots:*"):
            self.want(False, f"{key} is still held")
        async for key in self.redis.scan_iter("cordum:scheduler:job:*"):
            self.want(False, f"{key} is still locked")


async def main():
    client = redis.asyncio.from_url(os.environ["REDIS_URL"])
    connection = await nats.connect(os.environ["NATS_URL"])
    mixed = MixedSet(client, connection, "--jetstream" in sys.argv)
    await mixed.make()
    print("made", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
    await mixed.play()
    await mixed.check()
    for problem in mixed.problems:
        print(problem)
    print(f"{len(mixed.expected) + len(mixed.untouched)} jobs, {len(mixed.problems)} problems")
    os._exit(1 if mixed.problems else 0)


asyncio.run(main())
