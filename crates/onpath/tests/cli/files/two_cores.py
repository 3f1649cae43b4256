"""Sends packets from two processors at once: COUNT each of BYTES at INTERFACE. The kernel takes them where they are sent."""

import os
import socket
import sys


def taken():
    """Packets that each processor has taken from its queue."""
    with open("/proc/net/softnet_stat") as lines:
        return [int(line.split()[0], 16) for line in lines]


interface, count, frame = sys.argv[1], int(sys.argv[2]), bytes.fromhex(sys.argv[3])
processors = sorted(os.sched_getaffinity(0))[:2]
before = taken()
senders = []
for processor in processors:
    sender = os.fork()
    if not sender:
        os.sched_setaffinity(0, {processor})
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as out:
            out.bind((interface, 0))
            for _ in range(count):
                out.send(frame)
        os._exit(0)
    senders.append(sender)
for sender in senders:
    os.waitpid(sender, 0)
busy = [now - then >= count for then, now in zip(before, taken())]
print(f"{sum(busy)} processors took {count} packets each")
