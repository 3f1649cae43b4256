# `probe.py FROM TO NAME...` sends a DNS query for each name into the device FROM of a pair, and prints the names that come out of TO.
# The last one has to be a name that passes: when it comes, so have the others.
import socket
import struct
import sys
import time

PATIENCE = 20


def frame(name):
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    query = struct.pack("!6H", 1, 0x100, 1, 0, 0, 0) + labels + struct.pack("!BHH", 0, 1, 1)
    udp = struct.pack("!4H", 40000, 53, 8 + len(query), 0) + query
    head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0, bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2]))
    return bytes([2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0]) + head + udp


sent = {frame(name): name for name in sys.argv[3:]}
sender, receiver = (socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)) for _ in range(2))
sender.bind((sys.argv[1], 0))
receiver.bind((sys.argv[2], 3))
for packet in sent:
    sender.send(packet)
end = time.monotonic() + PATIENCE
came = []
while sys.argv[-1] not in came:
    receiver.settimeout(max(end - time.monotonic(), 0.01))
    name = sent.get(receiver.recv(4096))
    came += [name] if name else []
print(*came)
