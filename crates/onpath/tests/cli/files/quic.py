# Sends the start of a connection of QUIC to www.slow.example at 10.0.0.2, and a packet of another one, from the namespace `host`, and prints which ones
# arrive.
import socket
import subprocess
import sys

# An Initial of version 1 (RFC 9001) with a ClientHello.
START = bytes.fromhex(
    "c100000001088394c8f03e5157080000405d8946b451929b7ca363c0a54f94c48b73c6241718f7a15b1b16bf79af7f88"
    "3514a11a62fc775e106b44620827fb13e5e574e90271d731e3af76b7ddd09b461e631dd93c348fd766f6dc0331e119f3"
    "459c471802a1aa1f72528516526f43"
)
if sys.argv[1:]:
    for packet in (START, bytes([0x43]) + bytes(1199)):
        out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        out.sendto(packet, ("10.0.0.2", 443))
    sys.exit()
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("10.0.0.2", 443))
server.settimeout(5)
subprocess.run(["ip", "netns", "exec", "host", "python3", sys.argv[0], "send"], check=True)
print("the start arrives" if server.recv(2000) == START else "the start does not arrive")
