# `serve` answers requests on port 80 and tells how each connection ends. `ask HOST...` is a client of it, and asks it by DNS before.
import socket
import struct
import sys

SERVER = "10.0.1.2"


def serve():
    with socket.create_server(("", 80)) as listener:
        while True:
            connection, _ = listener.accept()
            connection.settimeout(10)
            try:
                asked = connection.recv(4096)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                print(f"server: {len(asked)} bytes", flush=True)
            except ConnectionResetError:
                print("server: reset", flush=True)
            except TimeoutError:
                print("server: no request", flush=True)
            connection.close()


def resolve(name):
    labels = b"".join(bytes([len(part)]) + part.encode() for part in name.split("."))
    query = struct.pack("!6H", 7, 0x0100, 1, 0, 0, 0) + labels + struct.pack("!BHH", 0, 1, 1)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(1)
        client.connect((SERVER, 53))
        client.send(query)
        try:
            answer = client.recv(512)
            return f"response {answer[3] & 15} with {len(answer)} of {len(query)} bytes"
        except ConnectionRefusedError:
            return "the server has no resolver"
        except TimeoutError:
            return "no answer"


def fetch(name):
    with socket.create_connection((SERVER, 80), timeout=5) as client:
        client.sendall(f"GET / HTTP/1.1\r\nHost: {name}\r\n\r\n".encode())
        try:
            return client.recv(12).decode()
        except ConnectionResetError:
            return "reset"
        except TimeoutError:
            return "no answer"


if sys.argv[1] == "serve":
    serve()
for name in sys.argv[2:]:
    print(f"{name}: {resolve(name)}; {fetch(name)}")
