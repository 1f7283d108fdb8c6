"""Python's servers of HTTP (http.server) and TLS (ssl), and one that agrees to TLS within another protocol."""

import os
import socket
import ssl
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

NAMES = ["a.test", "evil.test"]
# The last bytes of other protocols before a client begins TLS.
AGREED = [bytes.fromhex(end) for end in os.environ["AGREED"].split(",")]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 5

    def __getattr__(self, name):
        if not name.startswith("do_"):
            raise AttributeError(name)
        return self.answer

    def answer(self):
        length = self.headers.get("Content-Length", "").strip()
        if self.command in ("POST", "PUT", "PATCH") and length.isdigit():
            self.rfile.read(int(length))
        seen = [self.headers.get("Host", ""), self.path, self.request_version, ""]
        body = f"<<{chr(31).join(seen)}>>".encode("latin-1", "replace")
        if self.request_version != "HTTP/0.9":
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def context_of(name):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    # As a server that still takes old clients.
    context.options &= ~(ssl.OP_NO_TLSv1 | ssl.OP_NO_TLSv1_1)
    context.set_ciphers("ALL:@SECLEVEL=0")
    context.load_cert_chain(*(os.path.join(os.environ["CERTIFICATES"], name + end) for end in (".pem", ".key")))
    return context


NAMED = {name: context_of(name) for name in NAMES}
CONTEXT = context_of("default.test")


def choose(connection, name, _):
    named = NAMED.get((name or "").lower().removesuffix("."))
    if named:
        connection.context = named


CONTEXT.sni_callback = choose


def secure(client):
    """Makes a handshake, of bytes as they arrive."""
    greet(client, b"")


def agree(client):
    """Makes a handshake behind the last byte of another protocol."""
    before = b""
    while True:
        more = client.recv(65536)
        if not more:
            return
        before += more
        ends = [before.find(end) + len(end) for end in AGREED if end in before]
        if ends:
            return greet(client, before[min(ends) :])


def greet(client, begun):
    coming, going = ssl.MemoryBIO(), ssl.MemoryBIO()
    connection = CONTEXT.wrap_bio(coming, going, server_side=True)
    coming.write(begun)
    while True:
        try:
            connection.do_handshake()
            done = True
        except ssl.SSLWantReadError:
            done = False
        except ssl.SSLError:
            done = True
        client.sendall(going.read())
        more = b"" if done else client.recv(65536)
        if not more:
            return
        coming.write(more)


def answered(client, act):
    with client:
        client.settimeout(5)
        try:
            act(client)
        except OSError:
            pass


def serve(listener, act):
    while True:
        client = listener.accept()[0]
        threading.Thread(target=answered, args=(client, act), daemon=True).start()


# Names that are no ASCII.
sys.unraisablehook = lambda _: None
for title, act in [("tls python", secure), ("starttls python", agree)]:
    listener = socket.create_server(("127.0.0.1", 0), backlog=512)
    print(title, listener.getsockname()[1], flush=True)
    threading.Thread(target=serve, args=(listener, act), daemon=True).start()
web = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
web.handle_error = lambda *_: None
print("http python", web.server_port, flush=True)
web.serve_forever()
