"""HTTP requests that are cut within their paths, from two processors at once. The kernel takes them where they are sent.

    two_streams.py own IF COUNT     each processor sends a stream of its own
    two_streams.py shared IF COUNT  both send the segments of one stream, every other one each
    two_streams.py check COUNT      reads what a query by path gave, and says what is wrong with it: no request is lost, none is mixed
"""

import json
import os
import socket
import struct
import sys

PATHS = ["/" + letter * 40 for letter in "abcdefgh"]
HALF = 25


def segments(port, count):
    """The segments of a stream of so many requests: each ends within the path of one."""
    requests = [f"GET {PATHS[at % 8]} HTTP/1.1\r\nHost: a\r\n\r\n".encode() for at in range(count)]
    firsts = [request[:HALF] for request in requests] + [b""]
    rests = [b""] + [request[HALF:] for request in requests]
    sequence = 1
    for rest, first in zip(rests, firsts):
        payload = rest + first
        ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 40 + len(payload), 0, 0, 64, 6, 0, bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2]))
        tcp = struct.pack("!HHIIBBHHH", port, 80, sequence, 1, 0x50, 0x10, 1024, 0, 0)
        yield bytes.fromhex("0200000000020200000000010800") + ip + tcp + payload
        sequence += len(payload)


def send(interface, shares):
    """Sends each share of frames from a processor of its own."""
    senders = []
    ready, go = os.pipe()
    for processor, share in zip(sorted(os.sched_getaffinity(0))[:2], shares):
        sender = os.fork()
        if not sender:
            os.close(go)
            os.sched_setaffinity(0, {processor})
            with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as out:
                out.bind((interface, 0))
                os.read(ready, 1)
                for frame in share:
                    out.send(frame)
            os._exit(0)
        senders.append(sender)
    os.close(go)
    failed = [sender for sender in senders if os.waitpid(sender, 0)[1]]
    print(f"{len(senders) - len(failed)} processors sent {' and '.join(str(len(share)) for share in shares)} segments")


def check(count, answer):
    counts = answer["counts"]
    groups = {group["keys"]["http.path"]: group["values"]["count"] for group in answer["groups"]}
    mixed = sorted(set(groups) - set(PATHS))
    read = sum(groups.values())
    # A segment that another processor's state has as passed counts as sent again.
    others = counts["unfinished"] + counts["unfollowed"] + counts["sent_again"]
    print("paths:", f"mixed, as {mixed[0]}" if mixed else "as they were sent")
    print("requests:", "all read" if read == count else f"{count - read} lost" if read + others < count else "read twice" if read > count else "read, or counted as not followed")
    print("each path:", "as often" if len(set(groups.values())) == 1 else "not as often")
    print("not followed:", others if read == count else "some")


match sys.argv[1:]:
    case ["own", interface, count]:
        send(interface, [list(segments(port, int(count))) for port in (40001, 40002)])
    case ["shared", interface, count]:
        frames = list(segments(40003, int(count)))
        send(interface, [frames[0::2], frames[1::2]])
    case ["check", count]:
        check(int(count), json.load(sys.stdin))
