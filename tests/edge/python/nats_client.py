"""Cases with the Python client of NATS: nats_client.py CASE. The server is in EDGE_* variables.

A case passes when it returns; it waits for events, each at most PATIENCE seconds.
"""

import asyncio
import json
import os
import ssl
import sys

import nats
from nats.errors import NoRespondersError, StaleConnectionError
from nats.js.errors import NoStreamResponseError, ServiceUnavailableError

PATIENCE = 20
PORT = os.environ["EDGE_NATS_PORT"]
URL = f"nats://127.0.0.1:{PORT}"


async def within(awaitable):
    return await asyncio.wait_for(awaitable, PATIENCE)


async def connect(**options):
    options.setdefault("allow_reconnect", False)
    return await nats.connect(options.pop("servers", URL), connect_timeout=PATIENCE, **options)


async def publish_subscribe():
    one, two = await connect(), await connect()
    subscription = await one.subscribe("greet.*")
    await one.flush()
    for i in range(1000):
        await two.publish("greet.joe", str(i).encode())
    for i in range(1000):
        message = await subscription.next_msg(PATIENCE)
        assert (message.subject, message.data) == ("greet.joe", str(i).encode())
    await one.close()
    await two.close()


async def large_message():
    client = await connect()
    subscription = await client.subscribe("big")
    payload = os.urandom(client.max_payload)
    await client.publish("big", payload)
    assert (await subscription.next_msg(PATIENCE)).data == payload
    await client.close()


async def wildcards():
    client = await connect()
    patterns = {p: await client.subscribe(p) for p in ("a.*", "a.>", "*.b", ">", "a.b.c")}
    await client.publish("a.b", b"1")
    await client.publish("a.b.c", b"2")
    await client.publish("x", b"3")
    await client.publish("end", b"")
    seen = {}
    for pattern, subscription in patterns.items():
        seen[pattern] = []
        if pattern == ">":
            while (message := await subscription.next_msg(PATIENCE)).subject != "end":
                seen[pattern].append(message.data.decode())
    for pattern, subscription in patterns.items():
        while subscription.pending_msgs:
            seen[pattern].append((await subscription.next_msg(PATIENCE)).data.decode())
    assert seen == {"a.*": ["1"], "a.>": ["1", "2"], "*.b": ["1"], ">": ["1", "2", "3"],
                    "a.b.c": ["2"]}, seen
    await client.close()


async def queue_group():
    clients = [await connect() for _ in range(3)]
    subscriptions = [await c.subscribe("work", queue="pool") for c in clients]
    audit = await clients[0].subscribe("work")
    for client in clients:
        await client.flush()
    for i in range(300):
        await clients[1].publish("work", str(i).encode())
    await clients[1].flush()
    for _ in range(300):
        await audit.next_msg(PATIENCE)
    for client in clients:
        await client.flush()
    counts = [s.pending_msgs for s in subscriptions]
    assert sum(counts) == 300 and min(counts) > 0, counts
    for client in clients:
        await client.close()


async def request_reply():
    server, client = await connect(), await connect()

    async def answer(message):
        await message.respond(b"re: " + message.data)

    await server.subscribe("service", cb=answer)
    await server.flush()
    answers = await within(asyncio.gather(*(
        client.request("service", str(i).encode(), timeout=PATIENCE) for i in range(100))))
    assert [a.data for a in answers] == [f"re: {i}".encode() for i in range(100)]
    await server.close()
    await client.close()


async def no_responders():
    client = await connect()
    try:
        await client.request("nobody.home", b"", timeout=PATIENCE)
        raise AssertionError("somebody answered")
    except NoRespondersError:
        pass
    await client.close()


async def headers():
    client = await connect()
    subscription = await client.subscribe("h")
    await client.publish("h", b"x", headers={"Trace": "abc", "Empty": ""})
    message = await subscription.next_msg(PATIENCE)
    assert message.headers["Trace"] == "abc" and message.data == b"x", message
    await client.close()


async def unsubscribe_after():
    client = await connect()
    subscription = await client.subscribe("u")
    await subscription.unsubscribe(limit=2)
    for i in range(5):
        await client.publish("u", str(i).encode())
    await client.flush()
    got = [(await subscription.next_msg(PATIENCE)).data for _ in range(2)]
    assert got == [b"0", b"1"]
    try:
        await client.request("u", b"", timeout=PATIENCE)
        raise AssertionError("the subscription is still there")
    except NoRespondersError:
        pass
    await client.close()


async def no_echo():
    quiet, other = await connect(no_echo=True), await connect()
    own, heard = await quiet.subscribe("e"), await other.subscribe("e")
    await quiet.flush()
    await other.flush()
    await quiet.publish("e", b"mine")
    assert (await heard.next_msg(PATIENCE)).data == b"mine"
    await other.publish("e", b"yours")
    assert (await own.next_msg(PATIENCE)).data == b"yours"
    await quiet.close()
    await other.close()


async def drain():
    client, other = await connect(), await connect()
    handled, gate = [], asyncio.Event()

    async def slow(message):
        await gate.wait()
        handled.append(message.data)

    subscription = await client.subscribe("d", cb=slow)
    await client.flush()
    for i in range(200):
        await other.publish("d", str(i).encode())

    async def all_have_come():
        while subscription.pending_msgs < 199:
            await asyncio.sleep(0.001)

    await within(all_have_come())
    draining = asyncio.create_task(client.drain())
    gate.set()
    await within(draining)
    assert len(handled) == 200, len(handled)
    assert client.is_closed
    await other.close()


async def durable_publish():
    client = await connect()
    js = client.jetstream()
    heard = await client.subscribe("sys.job.dlq")
    first = await js.publish("sys.job.dlq", b"entry", headers={"Nats-Msg-Id": "one"})
    assert first.stream == "CORDUM_SYS" and first.seq > 0 and not first.duplicate, first
    second = await js.publish("sys.job.dlq", b"entry")
    assert second.seq > first.seq
    assert (await heard.next_msg(PATIENCE)).data == b"entry"
    raw = await client.request("sys.job.submit", b"not a packet", timeout=PATIENCE)
    assert "stream" in json.loads(raw.data), raw.data
    again = [await js.publish("sys.job.cancel", b"x", headers={"Nats-Msg-Id": "same"})
             for _ in range(2)]
    assert again[1].duplicate and again[1].seq == again[0].seq, again
    for call in (js.account_info(), js.stream_info("CORDUM_SYS"), js.publish("other", b"")):
        try:
            await call
            raise AssertionError("there is no such JetStream")
        except (NoStreamResponseError, ServiceUnavailableError, NoRespondersError):
            pass
    await client.close()


async def token():
    client = await connect(token="s3cret")
    await client.flush()
    await client.close()
    await refused(token="wrong")
    await refused()


async def user_password():
    client = await connect(user="ann", password="p w")
    await client.flush()
    await client.close()
    await refused(user="ann", password="wrong")


async def refused(**options):
    try:
        await within(connect(max_reconnect_attempts=0, **options))
        raise AssertionError("a stranger was let in")
    except (nats.errors.Error, OSError) as error:
        assert "uthorization" in str(error) or isinstance(error, nats.errors.NoServersError), error


async def tls():
    context = ssl.create_default_context(cafile=os.environ["EDGE_CA"])
    client = await connect(servers=f"tls://localhost:{PORT}", tls=context, tls_hostname="localhost")
    subscription = await client.subscribe("t")
    for size in (0, 1, 20_000, client.max_payload):
        await client.publish("t", b"x" * size)
        assert len((await subscription.next_msg(PATIENCE)).data) == size
    await client.close()


async def reconnect():
    """The server is stopped and started again by the test, on the same port."""
    lost, back = asyncio.Event(), asyncio.Event()

    async def on_lost():
        lost.set()

    async def on_back():
        back.set()

    client = await connect(allow_reconnect=True, reconnect_time_wait=0.05,
                           max_reconnect_attempts=-1, disconnected_cb=on_lost,
                           reconnected_cb=on_back)
    subscription = await client.subscribe("again")
    await client.flush()
    print("restart", flush=True)
    await within(lost.wait())
    await within(back.wait())
    await client.publish("again", b"here")
    assert (await subscription.next_msg(PATIENCE)).data == b"here"
    await client.close()


async def server_pings():
    """The server pings every 50 ms: a client that answers stays, one that does not is cut off."""
    client = await connect()
    reader, writer = await asyncio.open_connection("127.0.0.1", int(PORT))
    silent = await within(reader.read(-1))
    assert silent.endswith(b"-ERR 'Stale Connection'\r\n"), silent
    writer.close()
    await client.flush()
    assert client.is_connected
    await client.close()


async def client_pings():
    client = await connect(ping_interval=0.01, max_outstanding_pings=2)
    for _ in range(20):
        await client.flush(PATIENCE)
        await asyncio.sleep(0.01)
    assert client.is_connected
    await client.close()


async def ping_timeout():
    """The server is frozen by the test: one that does not answer pings is given up."""
    gone = asyncio.Event()

    async def on_gone():
        gone.set()

    client = await connect(ping_interval=0.05, max_outstanding_pings=2, disconnected_cb=on_gone)
    await client.flush()
    print("freeze", flush=True)
    await within(gone.wait())
    assert isinstance(client.last_error, StaleConnectionError), client.last_error
    print("noticed", flush=True)


if __name__ == "__main__":
    asyncio.run(globals()[sys.argv[1]]())
    print("passed")
