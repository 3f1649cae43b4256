# `capture.py FILE` writes a capture of 40 packets, with a microsecond between packets; with --messages behind it, one of
# HTTP, DNS, JSON and XML, and with --exchanges one of requests and responses. `capture.py --send IF` sends the first ones
# into an interface, with either option behind it the others.
import socket
import struct
import sys


def ethernet(kind, payload):
    return bytes.fromhex("020000000002020000000001") + kind.to_bytes(2, "big") + payload


def ipv4(source, destination, protocol, payload):
    head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(payload), 0, 0, 64, protocol, 0)
    return ethernet(0x0800, head + socket.inet_aton(source) + socket.inet_aton(destination) + payload)


def ipv6(source, destination, protocol, payload):
    head = struct.pack(">IHBB", 6 << 28, len(payload), protocol, 63)
    addresses = [socket.inet_pton(socket.AF_INET6, a) for a in (source, destination)]
    return ethernet(0x86DD, head + b"".join(addresses) + payload)


def tcp(source, destination, payload=b"", flags=0x18, first=1):
    return struct.pack(">HHIIBBHHH", source, destination, first, 2, 5 << 4, flags, 512, 0, 0) + payload


def udp(source, destination, payload=b""):
    return struct.pack(">HHHH", source, destination, 8 + len(payload), 0) + payload


def packets():
    for i in range(8):
        yield ipv4(f"10.0.0.{i % 3 + 1}", "192.0.2.80", 6, tcp(40000 + i, 443, flags=2))
        yield ipv4("192.0.2.80", f"10.0.0.{i % 3 + 1}", 6, tcp(443, 40000 + i, b"x" * (i * 150)))
        yield ipv4(f"10.0.0.{i % 2 + 1}", "192.0.2.53", 17, udp(5000 + i, 5353, b"q" * 30))
        yield ipv6("2001:db8::1", f"2001:db8::{i % 4 + 2:x}", 17, udp(1000, 2000 + i, b"y" * 100))
        yield ethernet(0x0806, bytes(46))


def messages():
    # The number of each end's next byte.
    next_byte = {40000: 1, 80: 1}

    def segment(source, destination, ports, text):
        first = next_byte[ports[0]]
        next_byte[ports[0]] += len(text)
        return ipv4(source, destination, 6, tcp(*ports, text, first=first))

    def asked(text):
        return segment("10.0.0.1", "10.0.0.2", (40000, 80), text)

    def answered(text):
        return segment("10.0.0.2", "10.0.0.1", (80, 40000), text)

    get = b"GET /%d HTTP/1.1\r\nHost: %s.example\r\n\r\n"
    ok = b"HTTP/1.1 %d OK\r\nContent-Length: 2\r\n\r\nhi"
    for i in range(3):
        yield asked(get % (i, b"a"))
        yield answered(ok % 200)
    # Two at once.
    yield asked(get % (7, b"a") + get % (8, b"b"))
    yield answered(ok % 200 + ok % 404)
    # One whose head and body are cut.
    post = b"POST /long HTTP/1.1\r\nHost: a.example\r\nContent-Length: 9\r\n\r\nGET /not "
    yield asked(post[:30])
    yield asked(post[30:-4])
    yield asked(post[-4:] + get % (9, b"b"))
    yield asked(b"GET / HTTP/1.1\r\nrubbish\r\n\r\n")
    for i in range(4):
        name = b"\x03www\x04site\x00" if i % 3 else b"\x04mail\x04site\x00"
        head = struct.pack(">HHHHHH", i, 0x0100, 1, 0, 0, 0)
        yield ipv4("10.0.0.1", "10.0.0.53", 17, udp(5000, 53, head + name + b"\0\1\0\1"))
    for text in [
        b'{"user": {"name": "ada", "id": 1}, "tags": ["x", [0], 7]}',
        b'{"tags": ["x", 2, 7], "user": {"id": 1, "name": "bob"}}',
        b'{"user": {"name": "ada"}, "tags": ["y", {}, 7], "user": {"name": "bob"}}',
        b'{"user": {"na',
        b'<?xml version="1.0"?><order id="7"><item sku="red"/><item sku="blue"/></order>',
        b"<order id='8'>\n <item n='2' sku='red'/>\n</order>\n",
        b"<order id='9'><item sku='red'></order>",
    ]:
        yield ipv4("10.0.0.1", "10.0.0.9", 17, udp(5000, 9000, text))


def exchanges():
    def client(port, first, text=b"", flags=0x18):
        return ipv4("10.0.0.1", "10.0.0.2", 6, tcp(port, 80, text, flags, first))

    def server(port, first, text):
        return ipv4("10.0.0.2", "10.0.0.1", 6, tcp(80, port, text, first=first))

    def dns(number, is_response, kind=1):
        ends = ("10.0.0.53", "10.0.0.1", 53, 5000) if is_response else ("10.0.0.1", "10.0.0.53", 5000, 53)
        head = struct.pack(">HHHHHH", number, 0x8183 if is_response else 0x0100, 1, 0, 0, 0)
        return ipv4(ends[0], ends[1], 17, udp(*ends[2:], head + b"\x03www\x04site\x00" + struct.pack(">HH", kind, 1)))

    get = b"GET /%s HTTP/1.1\r\nHost: a.example\r\n\r\n"
    ok = b"HTTP/1.1 %d OK\r\nContent-Length: 2\r\n\r\nhi"
    # A connection with one request after the other, one of which is sent again, and three at once.
    yield client(40000, 999, flags=2)
    for i in range(3):
        yield client(40000, 1000 + 100 * i, get % b"one")
        if i == 1:
            yield client(40000, 1000 + 100 * i, get % b"one")
        yield server(40000, 9000 + 100 * i, ok % 200)
    yield client(40000, 2000, get % b"a" + get % b"b" + get % b"c")
    yield server(40000, 9500, ok % 200 + ok % 404)
    yield server(40000, 9700, b"HTTP/1.1 100 Continue\r\n\r\n" + ok % 500)
    # Another one, in which a request has no response, and then its ports again.
    yield client(40001, 1000, get % b"lost")
    yield client(40001, 4999, flags=2)
    yield client(40001, 5000, get % b"found")
    yield server(40001, 7000, ok % 200)
    yield server(40001, 7100, ok % 200)
    # Answers in another order than the questions.
    yield dns(1, False)
    yield dns(2, False, 28)
    yield dns(2, True, 28)
    yield dns(1, True)
    yield dns(3, False)


chosen = messages if "--messages" in sys.argv else exchanges if "--exchanges" in sys.argv else packets
if sys.argv[1] == "--send":
    sender = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    sender.bind((sys.argv[2], 0))
    for packet in chosen():
        sender.send(packet)
else:
    with open(sys.argv[1], "wb") as file:
        file.write(struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for i, packet in enumerate(chosen()):
            file.write(struct.pack("<IIII", 1, i, len(packet), len(packet)) + packet)
