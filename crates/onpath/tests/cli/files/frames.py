# `frames.py IN OUT...` sends a frame into IN and prints at which of the others it comes out.
import select
import socket
import sys

FRAME = bytes.fromhex("0200000000010200000000028999") + bytes(range(46))
ALL = 0x0003


def opened(name):
    found = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ALL))
    found.bind((name, ALL))
    return found


sender, outs = opened(sys.argv[1]), {opened(name): name for name in sys.argv[2:]}
sender.send(FRAME)
seen = set()
while ready := select.select(list(outs), [], [], 0.3)[0]:
    for found in ready:
        if found.recv(2048) == FRAME:
            seen.add(outs[found])
print(f"{sys.argv[1]} -> {' '.join(sorted(seen)) or 'nowhere'}")
