"""A worker with the CAP SDK: answers every job with its prompt. Needs cap-sdk-python."""

import asyncio
import os

from cap.runtime import Agent

agent = Agent(
    nats_url=os.environ.get("NATS_URL", "nats://127.0.0.1:4222"),
    redis_url=os.environ.get("REDIS_URL", "redis://127.0.0.1:6379/0"),
    worker_id=f"cap-{os.getpid()}",
    pool=os.environ.get("POOL", "default"),
    max_parallel=4,
)


@agent.job("job.default")
async def answer(context, data):
    return {"you_said": data["prompt"], "job": context.job_id}


asyncio.run(agent.run())
