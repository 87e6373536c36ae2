"""A worker of the published CAP SDK, as its users write one: cap_worker.py ID POOL TOPIC.

Servers come from NATS_URL and REDIS_URL. It says `ready` when it listens.
"""

import asyncio
import importlib.metadata
import os
import sys

import redis.asyncio
from cap import Agent

worker, pool, topic = sys.argv[1:]
agent = Agent(worker_id=worker, pool=pool, max_parallel=8, heartbeat_interval=0.5)
notes = redis.asyncio.from_url(os.environ["REDIS_URL"])


@agent.job(topic)
async def handle(context, data):
    await notes.hincrby("mixed:runs", context.job.job_id, 1)
    if data["prompt"] == "fail":
        raise ValueError("told to fail")
    return {"echo": data["prompt"], "by": importlib.metadata.version("cap-sdk-python")}


async def main():
    await agent.start()
    print("ready", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)  # until it is closed
    await agent.close()


asyncio.run(main())
