# `server.py CONTENT CERTIFICATE SEEN` answers for all names by HTTP, HTTPS and DNS, over IPv4 and IPv6, and adds each name that it is
# asked for to the file SEEN. `/whole` is the content, and so is a TXT record over TCP as far as one has room for it.
import http.server
import os
import socket
import socketserver
import ssl
import struct
import sys
import threading

ADDRESSES = {1: "10.9.2.2", 28: "fd00:9:2::2"}
TXT = 16
# Strings of a TXT record, and the bytes of each.
STRINGS, STRING = 200, 250

with open(sys.argv[1], "rb") as file:
    CONTENT = file.read()
SEEN = os.open(sys.argv[3], os.O_WRONLY | os.O_APPEND | os.O_CREAT)


def saw(kind, name):
    os.write(SEEN, f"{kind} {name}\n".encode())


class Page(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # The body follows the headers at once, and not when these are acknowledged.
    disable_nagle_algorithm = True
    timeout = 120

    def do_GET(self):
        saw("http", self.headers["Host"])
        body = CONTENT if self.path == "/whole" else CONTENT[:1000]
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def question(query):
    """Returns the name and type that a query asks for, and its question."""
    labels, at = [], 12
    while query[at]:
        labels.append(query[at + 1:at + 1 + query[at]].decode())
        at += 1 + query[at]
    return ".".join(labels), struct.unpack_from("!H", query, at + 1)[0], query[12:at + 5]


def respond(query, by_tcp):
    name, kind, asked = question(query)
    saw("dns", name)
    if kind in ADDRESSES:
        data = socket.inet_pton(socket.AF_INET if kind == 1 else socket.AF_INET6, ADDRESSES[kind])
    elif kind == TXT and by_tcp:
        strings = (CONTENT[n * STRING:(n + 1) * STRING] for n in range(STRINGS))
        data = b"".join(bytes([len(string)]) + string for string in strings)
    else:
        return query[:2] + struct.pack("!5H", 0x8180, 1, 0, 0, 0) + asked
    head = query[:2] + struct.pack("!5H", 0x8180, 1, 1, 0, 0)
    return head + asked + struct.pack("!3HIH", 0xc00c, kind, 1, 60, len(data)) + data


class Queries(socketserver.StreamRequestHandler):
    timeout = 120

    def handle(self):
        while length := self.rfile.read(2):
            answer = respond(self.rfile.read(int.from_bytes(length)), True)
            self.wfile.write(len(answer).to_bytes(2) + answer)


class Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    address_family = socket.AF_INET6
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 1024

    def handle_error(self, request, client_address):
        # A client that is not let through goes away in the middle of a request.
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


def datagrams(server):
    while True:
        query, client = server.recvfrom(4096)
        server.sendto(respond(query, False), client)


def secure():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2])
    context.sni_callback = lambda _socket, name, _context: saw("tls", name)
    server = Server(("::", 443), Page)
    # A client that is not let through must not keep the others waiting: each handshake is in a thread of its own.
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    return server


by_udp = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
by_udp.bind(("::", 53))
threading.Thread(target=datagrams, args=[by_udp], daemon=True).start()
for listener in (Server(("::", 80), Page), Server(("::", 53), Queries), secure()):
    threading.Thread(target=listener.serve_forever, daemon=True).start()
print("ready", flush=True)
threading.Event().wait()
