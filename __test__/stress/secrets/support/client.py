"""Makes the attempts of a plan over sockets, and writes all that comes back into one file each."""
import base64, bz2, functools, json, lzma, os, socket, ssl, sys, threading, time, urllib.parse, zlib

from hpack import integer

plan, out = json.load(open(sys.argv[1])), sys.argv[2]
os.makedirs(out, exist_ok=True)


def filled(text):
    """Puts the stand-ins in, in the form that is asked for."""
    for name in ("TOKEN", "AWS", "OTHER", "FOREIGN"):
        value = os.environ.get(name, "")
        for form, make in {
            "": lambda v: v,
            ".b64": lambda v: base64.b64encode(v.encode()).decode(),
            ".basic": lambda v: base64.b64encode(b"me:" + v.encode()).decode(),
            ".url": lambda v: "".join(f"%{ord(c):02X}" for c in v),
            ".hex": lambda v: v.encode().hex(),
            ".lower": str.lower,
            ".upper": str.upper,
            ".half": lambda v: v[: len(v) // 2],
            ".rest": lambda v: v[len(v) // 2 :],
        }.items():
            text = text.replace("{" + name + form + "}", make(value))
    return text.encode("latin-1")


def block(headers):
    """Headers as literals of HPACK, which no table keeps."""
    made = b""
    for name, value in headers:
        name, value = filled(name), filled(value)
        made += b"\0" + integer(len(name), 7) + name + integer(len(value), 7) + value
    return made


def frames(list):
    """Frames of HTTP/2: type, flags, stream, and headers or text; a fifth entry repeats it."""
    made = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    for kind, flags, stream, content, *times in list:
        data = filled(content) if isinstance(content, str) else block(content)
        one = len(data).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + data
        made += one * (times[0] if times else 1)
    return [made]


def connect(one):
    plain = socket.create_connection((one["host"], one["port"]), timeout=one.get("wait", 3))
    if one.get("before"):
        plain.sendall(filled(one["before"]))
        if one.get("reads"):
            plain.recv(65536)
    if not one.get("tls", True):
        return plain
    trusts, names = one.get("trusts", True), one.get("sni") is None
    context = context_of(trusts, names, one.get("most"), tuple(one.get("alpn", ["http/1.1"])))
    name = one.get("sni", one["host"])
    return context.wrap_socket(plain, server_hostname=name or None)


@functools.lru_cache
def context_of(trusts, names, most, alpn):
    """The settings of connections. It takes long to read the authorities of the system."""
    context = ssl.create_default_context()
    context.check_hostname = trusts and names
    context.verify_mode = ssl.CERT_REQUIRED if trusts else ssl.CERT_NONE
    if most == "1.2":
        context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(alpn)
    return context


def received(stream, wait):
    got, end = b"", time.monotonic() + wait
    try:
        while time.monotonic() < end and len(got) < 8 << 20:
            stream.settimeout(max(0.05, min(wait, end - time.monotonic())))
            more = stream.recv(65536)
            if not more:
                break
            got += more
    except (OSError, ValueError):
        pass
    return got


def exchanged(one):
    stream = connect(one)
    pieces = frames(one["frames"]) if "frames" in one else [filled(piece) for piece in one["send"]]
    got = b""
    for at, piece in enumerate(pieces):
        if at:
            time.sleep(one.get("pause", 0.05))
        try:
            stream.sendall(piece)
        except OSError:
            break
    got += received(stream, one.get("wait", 3))
    stream.close()
    return got


def body_of(answer):
    return answer.split(b"\r\n\r\n", 1)[-1]


def attempt(one):
    if "ranges" not in one:
        return exchanged(one)
    joined, raw = b"", b""
    for first in range(0, one["ranges"], one["step"]):
        text = one["send"][0].replace("{RANGE}", f"{first}-{first + one['step'] - 1}")
        answer = exchanged({**one, "send": [text]})
        joined, raw = joined + body_of(answer), raw + answer
    return joined + b"\n" + raw


def opened(data):
    """Whatever the bytes may be in compressed form."""
    body, found = body_of(data), []
    chunks = b""
    rest = body
    while b"\r\n" in rest:
        size, rest = rest.split(b"\r\n", 1)
        try:
            length = int(size.split(b";")[0], 16)
        except ValueError:
            break
        chunks, rest = chunks + rest[:length], rest[length + 2 :]
    for bytes_ in (body, chunks):
        for start in range(0, min(len(bytes_), 64)):
            for window in (31, 15, -15):
                try:
                    one = zlib.decompressobj(window).decompress(bytes_[start:], 1 << 20)
                except zlib.error:
                    continue
                found.append(one)
                for again in (31, 15, -15):
                    try:
                        found.append(zlib.decompressobj(again).decompress(one, 1 << 20))
                    except zlib.error:
                        pass
        for library in (bz2, lzma):
            try:
                found.append(library.decompress(bytes_))
            except Exception:
                pass
    return b"\n".join(found)


def run(one):
    try:
        got = attempt(one)
    except Exception as error:
        got = f"! {type(error).__name__}: {error}".encode()
    with open(os.path.join(out, one["id"]), "wb") as file:
        file.write(got + b"\n==\n" + (opened(got) if len(got) < 1 << 20 else b""))


waiting = list(plan)
lock = threading.Lock()


def work():
    while True:
        with lock:
            if not waiting:
                return
            one = waiting.pop(0)
        run(one)


threads = [threading.Thread(target=work) for _ in range(16)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("done", len(plan))
