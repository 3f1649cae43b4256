# `serve` answers on port 80 with as many bytes as a path has in its name. `ask HOST BYTES [SOURCE]` is a client of it at
# 10.0.0.2, and `cut HOST BYTES` one that sends its request in segments of seven bytes.
import http.client
import http.server
import socket
import sys


class Cut(socket.socket):
    def sendall(self, data):
        self.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for at in range(0, len(data), 7):
            self.send(data[at : at + 7])


class Bytes(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"x" * int(self.path[1:]))


if sys.argv[1] == "serve":
    http.server.ThreadingHTTPServer(("", 80), Bytes).serve_forever()
host, count, *source = sys.argv[2:]
try:
    source = (source[0], 0) if source else None
    client = http.client.HTTPConnection("10.0.0.2", timeout=2, source_address=source)
    if sys.argv[1] == "cut":
        client.sock = Cut()
        client.sock.settimeout(2)
        client.sock.connect(("10.0.0.2", 80))
    client.request("GET", "/" + count, headers={"Host": host})
    print(f"{host}: {len(client.getresponse().read())} bytes")
except TimeoutError:
    print(f"{host}: no answer")
