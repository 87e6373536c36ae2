// Cases with the JavaScript clients of NATS and Redis: client.mjs CASE. The server is in EDGE_*
// variables.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createConnection } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { connect, DebugEvents, ErrorCode, headers, StringCodec } from "nats";
import { createClient } from "redis";

const servers = `127.0.0.1:${process.env.EDGE_NATS_PORT}`;
const text = StringCodec();
const open = (options = {}) =>
  connect({ servers, timeout: 20_000, reconnect: false, ...options });

async function take(subscription, count) {
  const got = [];
  for await (const message of subscription) {
    got.push(message);
    if (got.length === count) return got;
  }
  return got;
}

async function payloads({ socket = {}, ...options } = {}) {
  const client = createClient({
    socket: { host: "localhost", port: Number(process.env.EDGE_RESP_PORT), reconnectStrategy: false, ...socket },
    ...options,
  });
  client.on("error", () => {});
  await client.connect();
  assert.equal(await client.get("ctx:1"), null);
  assert.equal(await client.set("ctx:1", "value", { EX: 60 }), "OK");
  assert.equal(await client.get("ctx:1"), "value");
  assert.ok((await client.ttl("ctx:1")) > 0);
  assert.equal(await client.set("ctx:1", "other", { NX: true }), null);
  const many = await Promise.all(
    Array.from({ length: 500 }, (_, i) => client.set(`res:${i}`, String(i)).then(() => client.get(`res:${i}`))));
  assert.deepEqual(many, Array.from({ length: 500 }, (_, i) => String(i)));
  await assert.rejects(client.get("job:1"), /not served here/);
  assert.equal(await client.del("ctx:1"), 1);
  await client.quit();
}

const cases = {
  async publish_subscribe() {
    const client = await open();
    const all = take(client.subscribe("a.>"), 500);
    const pool = [0, 1].map(() => client.subscribe("a.*", { queue: "pool" }));
    const extra = headers();
    extra.set("Trace", "abc");
    for (let i = 0; i < 500; i++) client.publish("a.b", text.encode(String(i)), { headers: extra });
    (await all).forEach((message, i) => {
      assert.equal(text.decode(message.data), String(i));
      assert.equal(message.headers.get("Trace"), "abc");
    });
    await client.flush();
    const counts = pool.map((member) => member.getReceived());
    assert.equal(counts[0] + counts[1], 500);
    assert.ok(counts[0] > 0 && counts[1] > 0);
    await client.close();
  },
  async request_reply() {
    const client = await open();
    client.subscribe("service", { callback: (_, message) => message.respond(message.data) });
    for (let i = 0; i < 100; i++) {
      const reply = await client.request("service", text.encode("x"), { timeout: 20_000 });
      assert.equal(text.decode(reply.data), "x");
    }
    await assert.rejects(client.request("nobody", "", { timeout: 20_000 }),
      (error) => error.code === ErrorCode.NoResponders);
    await client.close();
  },
  async durable_publish() {
    const client = await open();
    const stream = client.jetstream();
    const first = await stream.publish("sys.job.cancel", "x", { msgID: "same" });
    assert.equal(first.stream, "CORDUM_SYS");
    const again = await stream.publish("sys.job.cancel", "x", { msgID: "same" });
    assert.ok(again.duplicate && again.seq === first.seq);
    await assert.rejects(client.jetstreamManager());
    await client.close();
  },
  async drain() {
    const client = await open();
    const other = await open();
    let handled = 0;
    client.subscribe("d", { callback: () => handled++ });
    await client.flush();
    for (let i = 0; i < 200; i++) other.publish("d");
    await other.flush();
    await client.flush();
    await client.drain();
    assert.equal(handled, 200);
    await other.close();
  },
  async token() {
    await (await open({ token: "s3cret" })).close();
    await assert.rejects(open({ token: "wrong" }), (e) => e.code === ErrorCode.AuthorizationViolation);
    await payloads({ password: "s3cret" });
  },
  async user_password() {
    await (await open({ user: "ann", pass: "p w" })).close();
    await assert.rejects(open({ user: "ann", pass: "wrong" }),
      (e) => e.code === ErrorCode.AuthorizationViolation);
    await payloads({ username: "ann", password: "p w" });
  },
  async tls() {
    const client = await open({ servers: `localhost:${process.env.EDGE_NATS_PORT}`,
      tls: { caFile: process.env.EDGE_CA } });
    await client.flush();
    await client.close();
    await payloads({ socket: { tls: true, ca: readFileSync(process.env.EDGE_CA) } });
    const plain = createConnection(Number(process.env.EDGE_RESP_PORT), "localhost");
    let heard = "";
    plain.on("data", (bytes) => (heard += bytes)).on("error", () => {});
    plain.end("PING\r\n");
    await new Promise((closed) => plain.on("close", closed));
    assert.ok(!heard.includes("PONG"), "nothing is served without TLS");
  },
  // The server pings every 50 ms, and so does the client: both stay.
  async pings() {
    const client = await open({ pingInterval: 50, maxPingOut: 100 });
    for (let i = 0; i < 20; i++) {
      await sleep(25);
      await client.flush();
    }
    assert.ok(!client.isClosed());
    await client.close();
  },
  // A server that does not answer pings is given up.
  async ping_timeout() {
    const client = await open({ pingInterval: 50, maxPingOut: 2 });
    await client.flush();
    console.log("freeze");
    for await (const status of client.status()) {
      if (status.type === DebugEvents.StaleConnection) break;
    }
    await client.closed();
    console.log("noticed");
  },
  async reconnect() {
    const client = await connect({ servers, reconnectTimeWait: 50, maxReconnectAttempts: -1 });
    const got = take(client.subscribe("again"), 1);
    await client.flush();
    console.log("restart");
    for await (const status of client.status()) {
      if (status.type === "reconnect") break;
    }
    client.publish("again");
    assert.equal((await got).length, 1);
    await client.close();
  },
  payloads: () => payloads(),
  payloads_of_version_three: () => payloads({ RESP: 3 }),
};

await cases[process.argv[2]]();
console.log("passed");
