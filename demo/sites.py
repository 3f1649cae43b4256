# SPDX-License-Identifier: Apache-2.0
"""Sites for demos: a server in a namespace of its own that answers for all of them, by HTTP, HTTPS and DNS."""

import http.server
import pathlib
import socket
import ssl
import tempfile
import threading

from common import HttpServer, call, inside


def namespaces(stack, *names):
    """Makes namespaces, without those of an earlier demo that was killed, and removes them at the end."""
    def remove():
        for name in names:
            call("ip", "netns", "del", name, check=False)

    remove()
    stack.callback(remove)
    for name in names:
        call("ip", "netns", "add", name)
        call("ip", "-n", name, "link", "set", "lo", "up")


def wire(one, other):
    """Connects two namespaces. Each end is a namespace, a device and its address."""
    call("ip", "link", "add", one[1], "netns", one[0], "type", "veth", "peer", "name", other[1], "netns", other[0])
    for namespace, device, address in (one, other):
        call("ip", "-n", namespace, "addr", "add", f"{address}/24", "dev", device)
        call("ip", "-n", namespace, "link", "set", device, "up")


class Page(http.server.BaseHTTPRequestHandler):
    """A small page, on connections that stay."""

    protocol_version = "HTTP/1.1"
    # The body follows the headers at once, and not when these are acknowledged.
    disable_nagle_algorithm = True

    def do_GET(self):
        body = b"a page\n"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def serve(address, certificate):
    """Serves HTTP, HTTPS, and DNS that knows no name, until it is ended."""
    names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    names.bind((address, 53))

    def answer():
        while True:
            query, client = names.recvfrom(512)
            names.sendto(query[:2] + b"\x81\x83" + query[4:], client)

    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate)
    secure = HttpServer((address, 443), Page)
    # A client that is not let through must not keep the others waiting: each handshake is in a thread of its own.
    secure.socket = tls.wrap_socket(secure.socket, server_side=True, do_handshake_on_connect=False)
    for work in (answer, secure.serve_forever):
        threading.Thread(target=work, daemon=True).start()
    HttpServer((address, 80), Page).serve_forever()


def certificate(stack):
    """A file with a key and a certificate of its own, for the server."""
    folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="onpath-demo-")))
    key, own, both = folder / "key.pem", folder / "own.pem", folder / "both.pem"
    call("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1",
         "-subj", "/CN=example", "-keyout", str(key), "-out", str(own))
    both.write_text(key.read_text() + own.read_text())
    return both


def visit(namespace, url, address, patience=30):
    """Asks for a site, at this address. Returns true if it answers in time."""
    scheme, site = url.split("://")
    port = 80 if scheme == "http" else 443
    done = call(*inside(namespace), "curl", "--silent", "--fail", "--insecure", "--max-time", str(patience), "--resolve",
                f"{site}:{port}:{address}", f"{url}/", check=False)
    return done.returncode == 0
