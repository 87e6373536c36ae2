"""echo.py serve HOST PORT: sends back what it gets. echo.py ask HOST PORT: says `.` for each answer."""

import socket
import sys
import time


def serve(place):
    with socket.create_server(place) as server:
        while True:
            connection, _ = server.accept()
            with connection:
                while data := connection.recv(100):
                    connection.sendall(data)


def ask(place):
    """Talks until the connection ends; a proxy ends it when the server is not there yet."""
    with socket.create_connection(place) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while True:
            connection.sendall(b"?")
            if not connection.recv(1):
                return
            sys.stdout.write(".")
            sys.stdout.flush()
            time.sleep(0.02)


what, place = sys.argv[1], (sys.argv[2], int(sys.argv[3]))
if what == "serve":
    serve(place)
while True:
    try:
        ask(place)
    except OSError:
        pass
    time.sleep(0.05)
