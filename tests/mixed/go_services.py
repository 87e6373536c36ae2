"""What the Go services leave in Redis and NATS, written from the description of their wire and of
their keys. Nothing of ours is used here: it is the other side of the mixed set.

All times are microseconds since 1970, as whole numbers.
"""

import json
import random
import time

from cap.pb.cordum.agent.v1 import buspacket_pb2, job_pb2
from google.protobuf import json_format

META_TTL = 7 * 24 * 3600
DATA_TTL = 24 * 3600
TERMINAL = {"SUCCEEDED", "FAILED", "CANCELLED", "TIMEOUT", "DENIED", "OUTPUT_QUARANTINED"}
SECOND = 1_000_000

STREAMS = {"CORDUM_SYS": ["sys.>"], "CORDUM_JOBS": ["job.>", "worker.*.jobs"]}
DURABLES = {
    "dur_cordum-scheduler__sys_job_submit": ("sys.job.submit", "cordum-scheduler"),
    "dur_cordum-scheduler__sys_job_result": ("sys.job.result", "cordum-scheduler"),
    "dur_cordum-workflow-engine__sys_job_result": ("sys.job.result", "cordum-workflow-engine"),
    "dur_cordum-gateway__sys_job_dlq": ("sys.job.dlq", "cordum-gateway"),
}


def now():
    return time.time_ns() // 1000


def protojson(message):
    """Go's protojson with EmitUnpopulated: unset messages are null, and the blanks behind commas
    are there or not, as chance has it."""

    def filled(part):
        known = json_format.MessageToDict(part, always_print_fields_with_no_presence=True)
        for field in part.DESCRIPTOR.fields:
            if field.message_type is None or field.is_repeated:
                continue
            name = field.json_name
            known[name] = filled(getattr(part, field.name)) if part.HasField(field.name) else None
        return known

    comma = random.choice([",", ", ", ",  "])
    return json.dumps(filled(message), separators=(comma, random.choice([":", ": "])))


def packet_of(request, trace, sender="api-gateway-http"):
    packet = buspacket_pb2.BusPacket(trace_id=trace, sender_id=sender, protocol_version=1)
    packet.created_at.GetCurrentTime()
    packet.job_request.CopyFrom(request)
    return packet


class GoServices:
    def __init__(self, redis, nats, jetstream):
        self.redis = redis
        self.nats = nats
        self.jetstream = jetstream

    # --- Streams ----------------------------------------------------------------------------------

    async def ask_jetstream(self, subject, body=None):
        body = json.dumps(body).encode() if body else b""
        answer = await self.nats.request("$JS.API." + subject, body, timeout=5)
        answer = json.loads(answer.data)
        if "error" in answer:
            raise RuntimeError(f"{subject}: {answer['error']}")
        return answer

    async def make_streams(self):
        """As every Go service does at its start, with nats.go's words."""
        for name, subjects in STREAMS.items():
            await self.ask_jetstream("STREAM.CREATE." + name, {
                "name": name, "subjects": subjects, "retention": "limits", "max_consumers": 0,
                "max_msgs": 0, "max_bytes": 0, "discard": "old", "max_age": 7 * 24 * 3600 * 10**9,
                "max_msgs_per_subject": 0, "max_msg_size": 0, "storage": "file", "num_replicas": 1,
                "duplicate_window": 120 * 10**9, "sealed": False, "deny_delete": False,
                "deny_purge": False, "allow_rollup_hdrs": False})
        for durable, (subject, group) in DURABLES.items():
            await self.ask_jetstream(f"CONSUMER.CREATE.CORDUM_SYS.{durable}.{subject}", {
                "stream_name": "CORDUM_SYS",
                "config": {
                    "durable_name": durable, "name": durable,
                    "deliver_policy": "all", "ack_policy": "explicit", "ack_wait": 600 * 10**9,
                    "max_deliver": 100, "filter_subject": subject, "replay_policy": "instant",
                    "max_ack_pending": 2048, "deliver_subject": self.nats.new_inbox(),
                    "deliver_group": group}})

    async def describe_streams(self):
        """Settings of streams and durables, as the server tells them."""
        streams = {name: (await self.ask_jetstream("STREAM.INFO." + name))["config"]
                   for name in STREAMS}
        durables = {name: (await self.ask_jetstream("CONSUMER.INFO.CORDUM_SYS." + name))["config"]
                    for name in DURABLES}
        return {"streams": streams, "durables": durables}

    async def publish(self, subject, packet, message_id):
        """A durable subject: published with an id, and awaited, where there is JetStream."""
        if self.jetstream:
            answer = await self.nats.request(subject, packet.SerializeToString(), timeout=5,
                                             headers={"Nats-Msg-Id": message_id})
            assert "stream" in json.loads(answer.data), answer.data
        else:
            await self.nats.publish(subject, packet.SerializeToString())

    async def listen(self, subject, group, heard):
        """The packets of a durable subject, each acknowledged when `heard` has returned."""

        async def take(message):
            packet = buspacket_pb2.BusPacket.FromString(message.data)
            heard(packet, message)
            if self.jetstream:
                await message.ack()

        where = subject
        if self.jetstream:
            durable = next(name for name, to in DURABLES.items() if to == (subject, group))
            told = await self.ask_jetstream("CONSUMER.INFO.CORDUM_SYS." + durable)
            where = told["config"]["deliver_subject"]
        await self.nats.subscribe(where, queue=group, cb=take)

    # --- The job store ----------------------------------------------------------------------------

    async def set_state(self, job, state, at=None, event=None):
        at = at or now()
        meta = f"job:meta:{job}"
        before, attempts, tenant = await self.redis.hmget(meta, "state", "attempts", "tenant")
        attempts = int(attempts or 0)
        if state == "SCHEDULED" and before != b"SCHEDULED":
            attempts += 1
        event = event or json.dumps({"ts": at, "state": state}, separators=(",", ":"))
        async with self.redis.pipeline(transaction=True) as steps:
            steps.hset(meta, mapping={"state": state, "updated_at": at, "attempts": attempts})
            steps.set(f"job:state:{job}", state)
            if before:
                steps.zrem(f"job:index:{before.decode().lower()}", job)
            steps.zadd(f"job:index:{state.lower()}", {job: at})
            if tenant:
                active = f"job:tenant:active:{tenant.decode()}"
                (steps.srem if state in TERMINAL else steps.sadd)(active, job)
                steps.expire(active, META_TTL)
            steps.zadd("job:recent", {job: at})
            steps.zremrangebyrank("job:recent", 0, -1001)
            for key in (meta, f"job:state:{job}", f"job:result_ptr:{job}"):
                steps.expire(key, META_TTL)
            steps.rpush(f"job:events:{job}", event)
            if state in TERMINAL:
                steps.zrem("job:deadline", job)
                steps.hdel(meta, "deadline_unix")
            await steps.execute()

    async def set_request(self, request):
        await self.redis.set(f"job:req:{request.job_id}", protojson(request), ex=META_TTL)

    async def set_meta(self, request, trace):
        job, meta = request.job_id, f"job:meta:{request.job_id}"
        tenant = request.meta.tenant_id or request.tenant_id or request.env.get("tenant_id", "")
        fields = {"topic": request.topic, "tenant": tenant, "team": request.env.get("team_id", ""),
                  "principal": request.principal_id, "memory_id": request.memory_id}
        actor = request.meta.actor_id or request.principal_id
        if actor:
            fields["actor_id"] = actor
        if request.meta.actor_type:
            fields["actor_type"] = {job_pb2.ACTOR_TYPE_HUMAN: "human",
                                    job_pb2.ACTOR_TYPE_SERVICE: "service"}[request.meta.actor_type]
        for name in ("idempotency_key", "capability", "pack_id"):
            if getattr(request.meta, name):
                fields[name] = getattr(request.meta, name)
        for name in ("risk_tags", "requires"):
            if getattr(request.meta, name):
                fields[name] = json.dumps(list(getattr(request.meta, name)))
        labels = {**request.labels, **request.meta.labels}
        if labels:
            fields["labels"] = json.dumps(labels)
        async with self.redis.pipeline(transaction=True) as steps:
            steps.sadd(f"trace:{trace}", job)
            steps.hset(meta, mapping={**fields, "trace_id": trace})
            steps.expire(meta, META_TTL)
            await steps.execute()

    async def set_deadline(self, job, at):
        await self.redis.hset(f"job:meta:{job}", "deadline_unix", at)
        await self.redis.zadd("job:deadline", {job: at})

    async def gateway_stores(self, request, trace, at=None):
        """What the gateway writes before it publishes a submit."""
        context = {"prompt": f"of {request.job_id}", "adapter_id": "", "topic": request.topic,
                   "priority": "batch", "created_at": "2026-06-01T00:00:00Z",
                   "tenant_id": request.tenant_id}
        await self.redis.set(f"ctx:{request.job_id}", json.dumps(context), ex=DATA_TTL)
        await self.set_state(request.job_id, "PENDING", at)
        await self.set_meta(request, trace)
        await self.set_request(request)
        await self.redis.hset(f"job:meta:{request.job_id}", "submitted_by",
                              "apikey:0a1b2c3d|principal:ada")

    async def gateway_submits(self, request, trace):
        await self.gateway_stores(request, trace)
        await self.publish("sys.job.submit", packet_of(request, trace), f"jobreq:{request.job_id}")

    async def gateway_requires_approval(self, request, trace, job_hash):
        job = request.job_id
        await self.gateway_stores(request, trace)
        decision = {"decision": "REQUIRE_APPROVAL", "reason": "needs a person", "rule_id": "rule-9",
                    "policy_snapshot": "snapshot-1", "constraints": None, "remediations": None,
                    "approval_required": True, "approval_ref": job, "job_hash": job_hash,
                    "checked_at": now(), "approval_status": "pending",
                    "actionability": "actionable", "approval_revision": 1, "approval_decision": ""}
        await self.redis.hset(f"job:meta:{job}", mapping={
            "safety_decision": "REQUIRE_APPROVAL", "safety_reason": "needs a person",
            "safety_rule_id": "rule-9", "safety_snapshot": "snapshot-1",
            "safety_approval_ref": job, "safety_checked_at": now(),
            "safety_approval_required": "true", "safety_job_hash": job_hash,
            "approval_status": "pending", "approval_actionability": "actionable",
            "approval_revision": 1})
        await self.redis.rpush(f"job:decisions:{job}", json.dumps(decision))
        await self.redis.expire(f"job:decisions:{job}", META_TTL)
        await self.set_state(job, "APPROVAL_REQUIRED")

    async def gateway_approves(self, request, trace):
        """ResolveApproval, with its event of the old form, and the submit that follows it."""
        job, at = request.job_id, now()
        request.labels["approval_granted"] = "true"
        request.labels["approval_snapshot"] = "snapshot-1"
        request.labels["cordum.bus_msg_id"] = f"approval:{job}"
        await self.redis.hset(f"job:meta:{job}", mapping={
            "approval_by": "grace", "approval_role": "admin", "approval_at": at,
            "approval_reason": "", "approval_note": "fine", "approval_policy_snapshot": "snapshot-1",
            "approval_status": "approved", "approval_actionability": "resolved",
            "approval_revision": 2, "approval_decision": "approve",
            "approval_publish_status": "pending", "approval_publish_target": "submit",
            "labels": json.dumps(dict(request.labels))})
        await self.set_request(request)
        await self.set_state(job, "PENDING", at, event=f"{at}|PENDING")
        await self.publish("sys.job.submit", packet_of(request, trace, "api-gateway"),
                           f"jobreq:sys.job.submit:approval:{job}")
        await self.redis.hset(f"job:meta:{job}", mapping={
            "approval_publish_status": "published", "approval_published_at": now()})

    async def lock_job(self, job, token, milliseconds):
        await self.redis.set(f"cordum:scheduler:job:{job}", token, nx=True, px=milliseconds)

    async def dead_letter(self, job, topic, status, reason_code, at):
        entry = {"job_id": job, "topic": topic, "status": status, "reason": "it broke",
                 "reason_code": reason_code, "last_state": "FAILED", "attempts": 1,
                 "created_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at // SECOND))}
        await self.redis.set(f"dlq:entry:{job}", json.dumps(entry), ex=30 * 24 * 3600)
        await self.redis.zadd("dlq:index", {job: at // SECOND})

    async def worker_snapshot(self):
        snapshot = {
            "captured_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "writer_id": "go-scheduler-0a1b2c3d",
            "pools": {"raw": {"workers": 1, "active_jobs": 0, "capacity": 8}},
            "topics": {"job.raw": {"pool": "raw", "workers": 1, "capacity": 8, "available": True}},
            "workers": [{"worker_id": "raw-worker", "pool": "raw", "active_jobs": 0,
                         "max_parallel_jobs": 8, "capabilities": [], "cpu_load": 0,
                         "gpu_utilization": 0, "memory_load": 0, "region": "", "type": "raw",
                         "labels": {}}]}
        await self.redis.set("sys:workers:snapshot", json.dumps(snapshot), ex=DATA_TTL)

    async def system_config(self):
        document = {"scope": "system", "scope_id": "default", "revision": 3,
                    "updated_at": "2026-06-01T00:00:00Z", "meta": {},
                    "data": {"scheduler": {"input_fail_mode": "closed"}}}
        await self.redis.set("cfg:system:default", json.dumps(document))
