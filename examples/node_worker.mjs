// A worker for Node: answers every job with its prompt. Needs the packages nats, redis and protobufjs,
// and the messages of this repository (PROTO: the folder proto).
import { connect } from "nats";
import protobuf from "protobufjs";
import { createClient } from "redis";

const name = `node-${process.pid}`;
const pool = process.env.POOL ?? "default";
const proto = process.env.PROTO ?? new URL("../proto", import.meta.url).pathname;

const root = new protobuf.Root();
root.resolvePath = (_, file) => (file.startsWith("google/") ? file : `${proto}/${file}`);
await root.load("cordum/agent/v1/buspacket.proto");
const Packet = root.lookupType("cordum.agent.v1.BusPacket");
const { JOB_STATUS_SUCCEEDED } = root.lookupEnum("cordum.agent.v1.JobStatus").values;
const packet = (traceId, payload) =>
  Packet.encode({ traceId, senderId: name, protocolVersion: 1, ...payload }).finish();

const client = await connect({ servers: process.env.NATS_URL ?? "nats://127.0.0.1:4222", name });
const payloads = createClient({ url: process.env.REDIS_URL ?? "redis://127.0.0.1:6379/0" });
await payloads.connect();

const beat = () => {
  const heartbeat = { workerId: name, pool, maxParallelJobs: 4 };
  client.publish("sys.heartbeat", packet(name, { heartbeat }));
};
setInterval(beat, 5000); // the scheduler sends jobs to workers that say that they live
const jobs = client.subscribe(`worker.${name}.jobs`);
beat();

for await (const message of jobs) {
  const { traceId, jobRequest } = Packet.decode(message.data);
  const given = JSON.parse(await payloads.get(jobRequest.contextPtr.replace("redis://", "")));
  const key = `res:${jobRequest.jobId}`;
  await payloads.set(key, JSON.stringify({ you_said: given.prompt }), { EX: 86400 });
  const jobResult = {
    jobId: jobRequest.jobId,
    workerId: name,
    status: JOB_STATUS_SUCCEEDED,
    resultPtr: `redis://${key}`,
  };
  client.publish("sys.job.result", packet(traceId, { jobResult }));
}
