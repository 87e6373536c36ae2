"""A worker with a plain NATS client: answers every job with its prompt.

Needs nats-py and redis; of cap-sdk-python only the message classes are used.
"""

import asyncio
import json
import os

import nats
import redis.asyncio
from cap.pb.cordum.agent.v1 import buspacket_pb2, heartbeat_pb2, job_pb2

NAME = f"nats-{os.getpid()}"
POOL = os.environ.get("POOL", "default")


def packet(trace, **payload):
    return buspacket_pb2.BusPacket(
        trace_id=trace, sender_id=NAME, protocol_version=1, **payload).SerializeToString()


async def main():
    client = await nats.connect(os.environ.get("NATS_URL", "nats://127.0.0.1:4222"), name=NAME)
    payloads = redis.asyncio.from_url(os.environ.get("REDIS_URL", "redis://127.0.0.1:6379/0"))

    async def work(message):
        job = buspacket_pb2.BusPacket.FromString(message.data)
        request = job.job_request
        given = json.loads(await payloads.get(request.context_ptr.removeprefix("redis://")))
        key = f"res:{request.job_id}"
        await payloads.set(key, json.dumps({"you_said": given["prompt"]}), ex=86400)
        result = job_pb2.JobResult(
            job_id=request.job_id, worker_id=NAME, status=job_pb2.JOB_STATUS_SUCCEEDED,
            result_ptr=f"redis://{key}")
        await client.publish("sys.job.result", packet(job.trace_id, job_result=result))

    await client.subscribe(f"worker.{NAME}.jobs", cb=work)
    while True:  # the scheduler sends jobs to workers that say every few seconds that they live
        beat = heartbeat_pb2.Heartbeat(worker_id=NAME, pool=POOL, max_parallel_jobs=4)
        await client.publish("sys.heartbeat", packet(NAME, heartbeat=beat))
        await asyncio.sleep(5)


asyncio.run(main())
