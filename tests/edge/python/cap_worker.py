"""A worker made with the published CAP SDK runs jobs of the embedded core: cap_worker.py jobs.

Client, worker and payloads use nothing but the listeners.
"""

import asyncio
import json
import os
import sys

import nats
import redis.asyncio
from cap.client import submit_job
from cap.pb.cordum.agent.v1 import buspacket_pb2, job_pb2
from cap.runtime import Agent

PATIENCE = 30
NATS_URL = f"nats://127.0.0.1:{os.environ['EDGE_NATS_PORT']}"
REDIS_URL = f"redis://127.0.0.1:{os.environ['EDGE_RESP_PORT']}/0"
JOBS = 20


async def jobs():
    agent = Agent(nats_url=NATS_URL, redis_url=REDIS_URL, worker_id="py-worker", pool="echo",
                  max_parallel=4, heartbeat_interval=0.1)

    @agent.job("job.echo")
    async def echo(context, data):
        return {"echo": data["text"], "job": context.job_id}

    client = await nats.connect(NATS_URL)
    payloads = redis.asyncio.from_url(REDIS_URL)
    results = await client.subscribe("sys.job.result")
    beats = await client.subscribe("sys.heartbeat")
    await client.flush()
    running = asyncio.create_task(agent.run())
    await beats.next_msg(PATIENCE)  # from now on the worker is known

    for i in range(JOBS):
        await payloads.set(f"ctx:job-{i}", json.dumps({"text": f"hello {i}"}))
        request = job_pb2.JobRequest(job_id=f"job-{i}", topic="job.echo",
                                     context_ptr=f"redis://ctx:job-{i}", tenant_id="acme")
        await submit_job(client, request, f"trace-{i}", "tester")
    done = {}
    while len(done) < JOBS:
        packet = buspacket_pb2.BusPacket.FromString((await results.next_msg(PATIENCE)).data)
        result = packet.job_result
        assert result.status == job_pb2.JOB_STATUS_SUCCEEDED, packet
        assert result.worker_id == "py-worker"
        done[result.job_id] = result.result_ptr
    for i in range(JOBS):
        pointer = done[f"job-{i}"]
        value = json.loads(await payloads.get(pointer.removeprefix("redis://")))
        assert value == {"echo": f"hello {i}", "job": f"job-{i}"}, value

    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    await payloads.aclose()
    await client.close()


if __name__ == "__main__":
    asyncio.run(asyncio.wait_for(globals()[sys.argv[1]](), 2 * PATIENCE))
    print("passed")
