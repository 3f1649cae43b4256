# `serve` reads requests on port 80 and ClientHellos on port 443, and appends their names to the file `seen`. `hide ADDRESS` sends each of some requests to
# 10.0.1.2, in ways that hide a name from who does not follow the connection, and prints which arrived. It makes its packets itself, from an ADDRESS that no
# host has.
import os
import re
import socket
import struct
import sys
import threading
import time

NAME = re.compile(rb"(?:blocked|allowed)\.example")


def serve():
    def read(peer):
        data = b""
        peer.settimeout(3)
        try:
            # A server acts on whole messages.
            message = b""
            while not message.endswith((b"\r\n\r\n", b"\0END\0")):
                more = peer.recv(4096)
                if not more:
                    return
                data += more
                # Without the heads of records.
                message = re.sub(rb"\x16\x03\x01\x00.", b"", data, flags=re.S)
            with open("seen", "a") as seen:
                seen.write(NAME.search(message).group().decode() + "\n")
        except OSError:
            pass

    def accept(port):
        server = socket.create_server(("", port), backlog=64)
        while True:
            threading.Thread(target=read, args=[server.accept()[0]], daemon=True).start()

    threading.Thread(target=accept, args=[80], daemon=True).start()
    accept(443)


def checksum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def request(name):
    return b"GET / HTTP/1.1\r\nAccept: */*\r\nHost: " + name + b"\r\nX: y\r\n\r\n"


def hello(name, record):
    entry = struct.pack("!HBH", len(name) + 3, 0, len(name)) + name
    extensions = struct.pack("!HH", 0, len(entry)) + entry + struct.pack("!HH", 0xFFA5, 5) + b"\0END\0"
    body = b"\3\3" + bytes(32) + b"\0\0\2\x13\1\1\0" + struct.pack("!H", len(extensions)) + extensions
    message = b"\1\0" + struct.pack("!H", len(body)) + body
    parts = [message[at : at + record] for at in range(0, len(message), record)]
    return b"".join(b"\x16\3\1" + struct.pack("!H", len(part)) + part for part in parts)


class Client:
    """A connection whose packets are made here."""

    def __init__(self, address, port, count):
        self.source, self.port, self.own = socket.inet_aton(address), port, 20000 + count
        self.first, self.acknowledged, self.peer = 1000 * count + 0xFFFFF000 & 0xFFFFFFFF, None, 0
        self.raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
        self.raw.bind(("eth0", 0))
        self.raw.settimeout(0.02)
        self.link = bytes.fromhex(open("router").read().strip().replace(":", "")) + self.raw.getsockname()[4] + b"\x08\0"

    def send(self, sequence, flags, data=b"", ttl=64, wrong=False):
        target = socket.inet_aton("10.0.1.2")
        tcp = struct.pack("!HHIIBBHHH", self.own, self.port, sequence & 0xFFFFFFFF, self.peer, 0x50, flags, 64000, 0, 0) + data
        total = checksum(self.source + target + struct.pack("!BBH", 0, 6, len(tcp)) + tcp) ^ (0x5555 if wrong else 0)
        tcp = tcp[:16] + struct.pack("!H", total) + tcp[18:]
        ip = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(tcp), 1, 0x4000, ttl, 6, 0) + self.source + target
        self.raw.send(self.link + ip[:10] + struct.pack("!H", checksum(ip)) + ip[12:] + tcp)

    def take(self):
        until = time.monotonic() + 0.03
        while time.monotonic() < until:
            try:
                packet = self.raw.recv(2048)
            except TimeoutError:
                continue
            if len(packet) < 54 or packet[30:34] != self.source or packet[36:38] != struct.pack("!H", self.own) or packet[23] != 6:
                continue
            sequence, acknowledged = struct.unpack("!II", packet[38:46])
            if packet[47] & 2:
                self.peer = sequence + 1 & 0xFFFFFFFF
            if packet[47] & 16:
                self.acknowledged = acknowledged
                return

    def open(self):
        for _ in range(20):
            self.send(self.first - 1, 2)
            self.take()
            if self.peer:
                return self.send(self.first, 16)

    def play(self, segments, data):
        for at, part, options in segments:
            self.send(self.first + at, 24, part, **options)
        # What is not acknowledged comes again, as TCP does it.
        for _ in range(3):
            self.take()
            read = (self.acknowledged - self.first) & 0xFFFFFFFF
            if read >= len(data):
                break
            self.send(self.first + read, 24, data[read:])
        self.take()


def cut(data, *places):
    places = [0, *places, len(data)]
    return [(a, data[a:b], {}) for a, b in zip(places, places[1:])]


def hide(address):
    count = 0
    for port, of in [(80, request), (443, lambda name: hello(name, 500)), (443, lambda name: hello(name, 7))]:
        other = of(b"another.example")
        schedules = {
            "whole": lambda data: cut(data),
            "cut at each byte": lambda data: cut(data, *range(1, len(data))),
            "swapped": lambda data: cut(data, 50)[::-1],
            "cut in three, the last ones swapped": lambda data: [cut(data, 20, 60)[n] for n in (0, 2, 1)],
            "sent twice": lambda data: [part for part in cut(data, 30, 60) for _ in "ab"],
            "another name first, with a small TTL": lambda data: [(0, other, {"ttl": 1})] + cut(data),
            "another name first, with a wrong checksum": lambda data: [(0, other, {"wrong": True})] + cut(data),
            "another name in an overlapping segment": lambda data: [(0, data[:50], {}), (70, data[70:], {}), (40, other[40:], {"ttl": 1}), (40, data[40:], {})],
            "another SYN, and a name there": lambda data: [(0, data[:50], {})] + cut(data, 50)[1:],
        }
        for what, schedule in schedules.items():
            for name in [b"blocked.example", b"allowed.example"]:
                count += 1
                before = open("seen").read() if os.path.exists("seen") else ""
                client = Client(address, port, count)
                client.open()
                data = of(name)
                if "another SYN" in what:
                    client.send(client.first + 50000, 2)
                    client.send(client.first + 50001, 24, other)
                client.play(schedule(data), data)
                time.sleep(0.03)
                seen = open("seen").read()[len(before) :] if os.path.exists("seen") else ""
                arrived = name.decode() in seen
                if arrived != (name == b"allowed.example"):
                    print(f"port {port}, {len(data)} bytes, {what}: {name.decode()} {'arrives' if arrived else 'does not arrive'}")
    print(f"{count} requests")


serve() if sys.argv[1] == "serve" else hide(sys.argv[2])
