#!/usr/bin/env python3
"""HOST PORT NAME MODE: sends the first message of a TLS handshake that asks for NAME, in pieces as MODE says.

HOST is resolved. Where it has no address, as without a world, 127.0.0.1 stands for it.
"""
import socket
import ssl
import sys
import time

host, port, name, mode = sys.argv[1:5]
try:
    at = socket.getaddrinfo(host, port, socket.AF_INET, socket.SOCK_STREAM)[0][4]
except OSError:
    at = ("127.0.0.1", int(port))

context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
context.check_hostname = False
context.verify_mode = ssl.CERT_NONE
if mode == "alpn":
    context.set_alpn_protocols([name])
out = ssl.MemoryBIO()
try:
    context.wrap_bio(ssl.MemoryBIO(), out, server_hostname=None if mode == "alpn" else name).do_handshake()
except ssl.SSLWantReadError:
    pass
hello = out.read()


def records(size):
    """The same message in TLS records of that size."""
    body = hello[5:]
    parts = [body[n : n + size] for n in range(0, len(body), size)]
    return b"".join(hello[:3] + len(part).to_bytes(2, "big") + part for part in parts)


with socket.create_connection(at, 5) as connection:
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    data = records(40) if mode == "records" else records(1) if mode == "tiny" else hello
    data = b"GET / HTTP/1.1\r\n\r\n" + hello if mode == "late" else data
    step = {"bytes": 1, "halves": 60, "records": 45, "tiny": 7}.get(mode, len(data))
    for n in range(0, len(data), step):
        connection.sendall(data[n : n + step])
        if mode == "halves":
            time.sleep(0.02)
    connection.shutdown(socket.SHUT_WR)
    connection.settimeout(5)
    connection.recv(1)
