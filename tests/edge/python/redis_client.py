"""Cases with the Python client of Redis: redis_client.py CASE. The server is in EDGE_* variables."""

import os
import sys

import redis

PORT = int(os.environ["EDGE_RESP_PORT"])


def connect(**options):
    return redis.Redis("localhost" if options.get("ssl") else "127.0.0.1", PORT,
                       socket_timeout=20, **options)


def use(client):
    """What a worker does with payloads."""
    value = os.urandom(300_000) + b"\r\n$-1\r\n"
    assert client.ping()
    assert client.get("ctx:1") is None
    assert client.set("ctx:1", value, ex=60) is True
    assert client.get("ctx:1") == value
    assert client.strlen("ctx:1") == len(value)
    assert 0 < client.ttl("ctx:1") <= 60 and 0 < client.pttl("ctx:1") <= 60_000
    assert client.set("ctx:1", "other", nx=True) is None
    assert client.set("res:1", "new", xx=True) is None
    assert client.set("res:1", "new", px=90_000, nx=True) is True
    assert client.setex("art:1", 50, "a") and client.psetex("mem:1", 50_000, "m")
    assert client.mget("art:1", "mem:1", "ctx:none") == [b"a", b"m", None]
    assert client.exists("art:1", "mem:1", "ctx:none") == 2
    assert client.expire("art:1", 500) and 400 < client.ttl("art:1") <= 500
    assert client.ttl("ctx:none") == -2
    assert client.set("ctx:stays", b"") is True and client.ttl("ctx:stays") > 6 * 86_400
    assert client.get("ctx:stays") == b""
    assert client.delete("ctx:1", "res:1", "ctx:none", "ctx:stays") == 2 + 1
    assert client.echo("hey") == b"hey"
    client.info()


def version_two():
    use(connect(protocol=2))


def version_three():
    use(connect(protocol=3, client_name="tester"))


def pipeline():
    client = connect()
    with client.pipeline(transaction=False) as pipe:
        for i in range(5000):
            pipe.set(f"ctx:{i}", str(i)).get(f"ctx:{i}")
        answers = pipe.execute()
    assert answers == [x for i in range(5000) for x in (True, str(i).encode())]


def largest():
    client = connect()
    value = b"x" * (64 << 20)
    assert client.set("ctx:large", value)
    assert client.get("ctx:large") == value
    try:
        client.set("ctx:larger", value + b"x")
        raise AssertionError("too large a value was taken")
    except (redis.exceptions.RedisError, OSError):
        pass
    assert client.ping()


def refusals():
    client = connect()
    for call in (lambda: client.get("job:1"), lambda: client.flushall(),
                 lambda: client.set("ctx:a", "x", keepttl=True), lambda: client.lpush("ctx:l", 1),
                 lambda: client.set("ctx:a", "x", get=True)):
        try:
            call()
            raise AssertionError("it was not refused")
        except redis.exceptions.ResponseError:
            pass
    assert client.ping()


def token():
    use(connect(password="s3cret"))
    use(connect(username="default", password="s3cret", protocol=3))
    refused(password="wrong")
    refused()


def user_password():
    use(connect(username="ann", password="p w"))
    refused(username="ann", password="wrong")
    refused(username="bob", password="p w")


def refused(**options):
    try:
        connect(**options).get("ctx:1")
        raise AssertionError("a stranger was let in")
    except (redis.exceptions.AuthenticationError, redis.exceptions.ResponseError):
        pass


def tls():
    use(connect(ssl=True, ssl_ca_certs=os.environ["EDGE_CA"]))


if __name__ == "__main__":
    globals()[sys.argv[1]]()
    print("passed")
