"""Reads a Redis as the Go services would and says what they could not make sense of: every key must
be one of theirs, of the type and form that they expect, or begin with `fairlead:`; and what they keep
in several places must agree."""

import json
import re

from cap.pb.cordum.agent.v1 import job_pb2
from go_services import META_TTL, TERMINAL
from google.protobuf import json_format

STATES = TERMINAL | {"PENDING", "APPROVAL_REQUIRED", "SCHEDULED", "DISPATCHED", "RUNNING",
                     "RETRYING"}
TEXTS = {"topic", "tenant", "team", "principal", "memory_id", "actor_id", "idempotency_key",
         "capability", "pack_id", "trace_id", "worker_id", "result_ptr", "failure_reason",
         "submitted_by", "agent_id", "agent_name", "agent_risk_tier", "safety_reason",
         "safety_rule_id", "safety_snapshot", "safety_approval_ref", "approval_by", "approval_role",
         "approval_reason", "approval_note", "approval_policy_snapshot", "approval_job_hash"}
NUMBERS = {"attempts", "approval_revision"}
TIMES = {"updated_at", "deadline_unix", "safety_checked_at", "approval_at", "approval_published_at"}
LISTS = {"risk_tags", "requires"}
CHOICES = {
    "state": STATES,
    "actor_type": {"human", "service"},
    "safety_decision": {"ALLOW", "DENY", "REQUIRE_APPROVAL", "THROTTLE", "ALLOW_WITH_CONSTRAINTS",
                        "UNAVAILABLE"},
    "safety_approval_required": {"true", ""},
    "approval_status": {"pending", "approved", "rejected", "expired", "invalidated", "repaired"},
    "approval_actionability": {"actionable", "resolved", "expired", "invalidated", "repaired"},
    "approval_decision": {"approve", "reject", "expire", "invalidate", "repair"},
    "approval_publish_status": {"pending", "published"},
    "approval_publish_target": {"submit", "dlq", "dlq_and_result"},
}
EVENT_CONTEXT = {"rule", "reason", "eval_ms", "eval_path", "worker_id", "pool", "strategy",
                 "approved_by", "approval_role", "approval_note", "wait_ms", "error_code",
                 "error_msg", "result_ptr", "duration_ms", "findings", "scanner", "topic",
                 "capabilities", "risk_tags", "actor_id", "extra"}
LOCK = r"cordum:scheduler:job:|cordum:reconciler:|cordum:replayer:|cordum:scheduler:snapshot:writer"
# Keys that are looked at alone. Those of ours, and notes of the test itself, say nothing to Go.
SIMPLE = {
    rf"{LOCK}": "string",
    r"ctx:|res:|art:|mem:": "string",
    r"cfg:": "string",
    r"cordum:workers:count$": "set",
    r"cordum:cb:safety:failures$": "string",
    r"cordum:bus:(processed|inflight):": "string",
    r"job:decisions:": "list",
    r"job:idempotency:": "string",
}
IGNORED = re.compile(r"fairlead:|mixed:")
# An hour for a sweep that takes away what belongs to a job with it.
ENDED_TTL_MAX = META_TTL + 3600


def is_time(text):
    """Microseconds of this century, in digits."""
    return text.isdigit() and 10**15 <= int(text) < 10**16


class GoReader:
    def __init__(self, redis):
        self.redis = redis
        self.problems = []
        self.jobs = {}  # id: fields of job:meta, as text, without those that are ours

    def wrong(self, key, what):
        self.problems.append(f"{key}: {what}")

    def want(self, holds, key, what):
        if not holds:
            self.wrong(key, what)

    async def read(self):
        keys = {}
        async for key in self.redis.scan_iter(count=1000):
            keys[key.decode()] = (await self.redis.type(key)).decode()
        for key in sorted(keys):
            if key.startswith("job:meta:"):
                await self.read_meta(key, keys[key])
        for key, kind in sorted(keys.items()):
            await self.read_key(key, kind, keys)
        return self.problems

    async def read_key(self, key, kind, keys):
        if IGNORED.match(key) or key.startswith("job:meta:"):
            return
        readers = {
            "job:state:": ("string", self.read_state), "job:req:": ("string", self.read_request),
            "job:events:": ("list", self.read_events), "job:result_ptr:": ("string", self.read_ptr),
            "job:index:": ("zset", self.read_index), "job:recent": ("zset", self.read_members),
            "job:deadline": ("zset", self.read_deadlines), "trace:": ("set", self.read_trace),
            "job:tenant:active:": ("set", self.read_active),
            "worker:jobs:": ("zset", self.read_members), "dlq:entry:": ("string", self.read_letter),
            "dlq:index": ("zset", self.read_letters),
            "sys:workers:snapshot": ("string", self.read_snapshot),
            "cordum:instance:": ("string", self.read_instance),
        }
        for start, (wanted, reader) in readers.items():
            if key.startswith(start):
                self.want(kind == wanted, key, f"is a {kind}, must be a {wanted}")
                if kind == wanted:
                    await reader(key, key.removeprefix(start))
                return
        for pattern, wanted in SIMPLE.items():
            if re.match(pattern, key):
                self.want(kind == wanted, key, f"is a {kind}, must be a {wanted}")
                if re.match(LOCK, key):
                    self.want(await self.redis.pttl(key) > 0, key, "is a lock for ever")
                return
        self.wrong(key, "is no key of theirs")

    # --- A job ------------------------------------------------------------------------------------

    async def read_meta(self, key, kind):
        if kind != "hash":
            return self.wrong(key, f"is a {kind}")
        raw = await self.redis.hgetall(key)
        fields = {name.decode(): value.decode(errors="replace") for name, value in raw.items()
                  if not name.startswith(b"fl_")}
        job = key.removeprefix("job:meta:")
        self.jobs[job] = fields
        for name, value in fields.items():
            place = f"{key} {name}"
            if name in CHOICES:
                self.want(value in CHOICES[name], place, f"is \"{value}\"")
            elif name in TIMES:
                self.want(is_time(value), place, f"is \"{value}\", not microseconds")
            elif name in NUMBERS:
                self.want(value.isdigit(), place, f"is \"{value}\", not a number")
            elif name in LISTS:
                self.want(isinstance(json.loads(value), list), place, "is not a list")
            elif name == "labels":
                labels = json.loads(value)
                self.want(all(isinstance(v, str) for v in labels.values()), place, "not texts")
            elif name in ("safety_job_hash",):
                self.want(re.fullmatch(r"[0-9a-f]{64}|", value), place, f"is \"{value}\"")
            elif name not in TEXTS and name not in ("safety_constraints", "safety_remediations",
                                                    "output_safety", "delegation_lineage"):
                self.wrong(place, "is no field of theirs")
        for name in ("state", "updated_at", "attempts", "topic", "tenant", "trace_id"):
            self.want(name in fields, key, f"has no {name}")
        state = fields.get("state")
        ttl = await self.redis.ttl(key)
        if state in TERMINAL:
            self.want(0 < ttl <= ENDED_TTL_MAX, key, f"has ended and lives for {ttl} s")
            self.want("deadline_unix" not in fields, key, "has ended and has a deadline")
        mirror = await self.redis.get(f"job:state:{job}")
        self.want(mirror == state.encode(), key, f"is {state}, job:state:{job} says {mirror}")
        score = await self.redis.zscore(f"job:index:{state.lower()}", job) or 0
        self.want(str(int(score)) == fields["updated_at"], key,
                  f"was updated at {fields['updated_at']}, its index says {score}")
        if "result_ptr" in fields and state == "SUCCEEDED":
            pointer = await self.redis.get(f"job:result_ptr:{job}")
            self.want(pointer == fields["result_ptr"].encode(), key, f"job:result_ptr is {pointer}")
        self.want(await self.redis.exists(f"job:req:{job}"), key, "has no job:req")
        events = await self.redis.lrange(f"job:events:{job}", -1, -1)
        self.want(events and state.encode() in events[0], key,
                  f"is {state}, its last event is {events}")

    async def read_state(self, key, job):
        self.want(job in self.jobs, key, "has no job:meta")

    async def read_request(self, key, job):
        text = (await self.redis.get(key)).decode()
        request = job_pb2.JobRequest()
        try:
            json_format.Parse(text, request, ignore_unknown_fields=True)
        except json_format.ParseError as error:
            return self.wrong(key, f"cannot be read: {error}")
        self.want(request.job_id == job, key, f"is of job {request.job_id}")
        if job in self.jobs:
            self.want(request.topic == self.jobs[job].get("topic"), key, f"has {request.topic}")

    @staticmethod
    def event_of(entry):
        """Time and state of an event in either form."""
        text = entry.decode()
        if not text.startswith("{"):
            at, _, state = text.partition("|")
            return int(at), state, {}
        event = json.loads(text)
        return event["ts"], event["state"], event.get("ctx") or {}

    async def read_events(self, key, job):
        last = 0
        for entry in await self.redis.lrange(key, 0, -1):
            try:
                at, state, context = self.event_of(entry)
            except (ValueError, KeyError) as error:
                self.wrong(key, f"has {entry}: {error}")
                continue
            self.want(is_time(str(at)) and at >= last, key, f"goes back to {at} from {last}")
            self.want(state in STATES, key, f"has state {state}")
            self.want(set(context) <= EVENT_CONTEXT, key, f"has {set(context) - EVENT_CONTEXT}")
            last = at

    async def read_ptr(self, key, _):
        self.want((await self.redis.get(key)).startswith(b"redis://"), key, "is no pointer")

    # --- What many share --------------------------------------------------------------------------

    async def read_index(self, key, state):
        for job, score in await self.redis.zrange(key, 0, -1, withscores=True):
            known = self.jobs.get(job.decode(), {}).get("state", "gone")
            self.want(known.lower() == state, key, f"has {job}, which is {known}")
            self.want(is_time(str(int(score))), key, f"has {job} at {score}")

    async def read_members(self, key, _):
        for job, score in await self.redis.zrange(key, 0, -1, withscores=True):
            self.want(job.decode() in self.jobs, key, f"has {job}, which is gone")
            self.want(is_time(str(int(score))), key, f"has {job} at {score}")
        self.want(await self.redis.zcard(key) <= 1016, key, "grows")

    async def read_deadlines(self, key, _):
        for job, score in await self.redis.zrange(key, 0, -1, withscores=True):
            fields = self.jobs.get(job.decode(), {})
            self.want(fields.get("deadline_unix") == str(int(score)), key, f"has {job} at {score}")

    async def read_trace(self, key, trace):
        for job in await self.redis.smembers(key):
            self.want(self.jobs.get(job.decode(), {}).get("trace_id") == trace, key, f"has {job}")

    async def read_active(self, key, tenant):
        for job in await self.redis.smembers(key):
            fields = self.jobs.get(job.decode(), {})
            self.want(fields.get("state", "SUCCEEDED") not in TERMINAL, key, f"has {job}, ended")
            self.want(fields.get("tenant") == tenant, key, f"has {job} of {fields.get('tenant')}")

    async def read_letter(self, key, job):
        entry = json.loads(await self.redis.get(key))
        for name, kind in (("job_id", str), ("topic", str), ("status", str), ("reason", str),
                           ("reason_code", str), ("last_state", str), ("attempts", int),
                           ("created_at", str)):
            self.want(isinstance(entry.get(name), kind), key, f"has {name} {entry.get(name)}")
        self.want(entry["job_id"] == job, key, f"is of {entry['job_id']}")
        self.want(entry["status"] in job_pb2.JobStatus.keys(), key, f"has status {entry['status']}")
        self.want(await self.redis.ttl(key) > 0, key, "lives for ever")
        self.want(await self.redis.zscore("dlq:index", job), key, "is not in dlq:index")

    async def read_letters(self, key, _):
        for job, score in await self.redis.zrange(key, 0, -1, withscores=True):
            self.want(10**9 <= score < 10**10, key, f"has {job} at {score}, not seconds")
            self.want(await self.redis.exists(b"dlq:entry:" + job), key, f"has {job}: no entry")

    async def read_snapshot(self, key, _):
        snapshot = json.loads(await self.redis.get(key))
        self.want(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", snapshot["captured_at"]), key,
                  f"captured at {snapshot['captured_at']}")
        self.want(isinstance(snapshot["writer_id"], str), key, "has no writer")
        for pool in snapshot.get("pools", {}).values():
            self.want(set(pool) == {"workers", "active_jobs", "capacity"}, key, f"has pool {pool}")
        for topic in snapshot.get("topics", {}).values():
            self.want(set(topic) == {"pool", "workers", "capacity", "available"}, key,
                      f"has topic {topic}")
        for worker in snapshot.get("workers", []):
            self.want({"worker_id", "pool", "active_jobs", "max_parallel_jobs"} <= set(worker), key,
                      f"has worker {worker}")
            self.want(set(worker) <= {"worker_id", "pool", "active_jobs", "max_parallel_jobs",
                                      "capabilities", "cpu_load", "gpu_utilization", "memory_load",
                                      "region", "type", "labels"}, key, f"has worker {worker}")

    async def read_instance(self, key, _):
        entry = json.loads(await self.redis.get(key))
        self.want({"id", "service", "version", "commit", "started_at"} <= set(entry), key, entry)
        self.want(await self.redis.ttl(key) <= 15, key, "lives too long")
