# `load.py REQUESTS THREADS SEED` makes requests by HTTP, HTTPS and DNS over UDP and TCP, some of them for blocked names, and each for a name
# of its own. It writes a line for each: protocol, name, and `answered` or `failed`. A TCP connection has one try, with the patience of
# a user; a datagram is sent again, as resolvers do.
import random
import socket
import ssl
import struct
import sys
import threading

SERVER = "10.9.2.2"
PATIENCE = 90
# A blocked request gets no answer. Its connection is open for this long, in which TCP sends it again.
IN_VAIN = 2.5
CONTENT = 1000

TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
TLS.check_hostname = False
TLS.verify_mode = ssl.CERT_NONE


def query(name, number):
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    return struct.pack("!6H", number, 0x100, 1, 0, 0, 0) + labels + struct.pack("!BHH", 0, 1, 1)


def is_answer(answer, asked):
    return answer[:2] == asked[:2] and answer[3] & 15 == 0 and answer.endswith(socket.inet_aton(SERVER))


def by_udp(names):
    for name in names:
        asked = query(name, random.randrange(1 << 16))
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
            client.connect((SERVER, 53))
            tries = 3 if is_blocked(name) else PATIENCE
            client.settimeout(IN_VAIN / tries if is_blocked(name) else 1)
            yield any(is_answered(client, asked) for _ in range(tries))


def is_answered(client, asked):
    client.send(asked)
    try:
        return is_answer(client.recv(4096), asked)
    except TimeoutError:
        return False


def whole(stream, length):
    """Reads so many bytes. An end before them is an error."""
    read = stream.read(length)
    if len(read) < length:
        raise ConnectionError("it ended early")
    return read


def by_tcp(names):
    with socket.create_connection((SERVER, 53), PATIENCE) as client, client.makefile("rb") as stream:
        for name in names:
            client.settimeout(patience(name))
            asked = query(name, random.randrange(1 << 16))
            client.sendall(len(asked).to_bytes(2) + asked)
            yield is_answer(whole(stream, int.from_bytes(whole(stream, 2))), asked)


def by_http(client, names):
    with client.makefile("rb") as stream:
        for name in names:
            client.settimeout(patience(name))
            client.sendall(f"GET / HTTP/1.1\r\nHost: {name}\r\n\r\n".encode())
            if not stream.readline().startswith(b"HTTP/1.1 200"):
                raise ConnectionError("no page")
            while stream.readline() != b"\r\n":
                pass
            yield len(whole(stream, CONTENT)) == CONTENT


def plain(names):
    with socket.create_connection((SERVER, 80), PATIENCE) as client:
        yield from by_http(client, names)


def secure(names):
    with socket.create_connection((SERVER, 443), PATIENCE) as client:
        client.settimeout(patience(names[0]))
        with TLS.wrap_socket(client, server_hostname=names[0]) as session:
            yield from by_http(session, names)


def is_blocked(name):
    return name.endswith(".ads.example")


def patience(name):
    return IN_VAIN if is_blocked(name) else PATIENCE


def tell(protocol, name, answered, error):
    with LOCK:
        print(protocol, name, "answered" if answered else "failed", flush=True)
        if error and not is_blocked(name):
            print(protocol, name, repr(error), file=sys.stderr)


def work():
    while True:
        with LOCK:
            if not JOBS:
                return
            protocol, names = JOBS.pop()
        answers = PROTOCOLS[protocol](names)
        for name in names:
            answered, error = False, None
            try:
                answered = next(answers)
            except (OSError, StopIteration) as why:
                error = why
            tell(protocol, name, answered, error)


PROTOCOLS = {"udp": by_udp, "tcp": by_tcp, "http": plain, "tls": secure}
LOCK = threading.Lock()
REQUESTS, THREADS, SEED = map(int, sys.argv[1:])


def jobs(choose):
    """Makes connections of up to three requests. Only the last one of a connection may be blocked; TLS has one name."""
    made = 0
    while made < REQUESTS:
        protocol = choose.choice(list(PROTOCOLS))
        count = 1 if protocol == "tls" else min(choose.randint(1, 3), REQUESTS - made)
        names = [f"n{made + n}.news.example" for n in range(count)]
        if choose.random() < 0.3:
            names[-1] = f"n{made + count - 1}.ads.example"
        made += count
        yield protocol, names


JOBS = list(jobs(random.Random(SEED)))
threads = [threading.Thread(target=work) for _ in range(THREADS)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
