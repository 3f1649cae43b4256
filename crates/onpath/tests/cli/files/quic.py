# Sends the start of a connection of QUIC to 10.0.0.2, and another packet, from the namespace `host`, and prints which ones arrive.
import socket
import subprocess
import sys

if sys.argv[1:]:
    out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    for start in (0xC3, 0x43):
        out.sendto(bytes([start, 0, 0, 0, 1]) + bytes(1195), ("10.0.0.2", 443))
    sys.exit()
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("10.0.0.2", 443))
server.settimeout(5)
subprocess.run(["ip", "netns", "exec", "host", "python3", sys.argv[0], "send"], check=True)
first = server.recv(2000)[0]
print("the start arrives" if first == 0xC3 else "the start does not arrive")
