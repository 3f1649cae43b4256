# `copies.py IN OUT...` sends a frame into IN and prints what comes out of the others: type and length.
import select
import socket
import sys

DST = bytes.fromhex("020000000001")
ALL = 0x0003
OUTGOING = 4


def opened(name):
    found = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ALL))
    found.bind((name, ALL))
    return found


sender, outs = opened(sys.argv[1]), {opened(name): name for name in sys.argv[2:]}
sender.send(DST + bytes.fromhex("0200000000028999") + bytes(range(46)))
seen = []
while ready := select.select(list(outs), [], [], 0.3)[0]:
    for found in ready:
        frame, about = found.recvfrom(2048)
        if about[2] != OUTGOING and frame.startswith(DST):
            seen.append(f"{outs[found]}: {frame[12:14].hex()}, {len(frame)} bytes")
print("\n".join(sorted(seen)) or "nothing")
