"""HTTP requests that are cut within their paths, from two processors at once. The kernel takes them where they are sent.

    two_streams.py own IF ROUNDS    each processor sends streams of its own, one after the other, each of EACH requests
    two_streams.py shared IF COUNT  of each request of one stream, both send a half at the same time
    two_streams.py check MODE COUNT reads what a query by path gave: whether no request was mixed, and all were read, or counted as not followed
"""

import json
import multiprocessing
import os
import socket
import struct
import sys

PATHS = ["/" + letter * 40 for letter in "abcdefgh"]
HALF = 25
# Two streams have fewer than the 1024 messages whose first bytes are kept: none is pushed out while a processor does something else.
EACH = 400


def request(at):
    return f"GET {PATHS[at % 8]} HTTP/1.1\r\nHost: a\r\n\r\n".encode()


def frame(port, sequence, payload):
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 40 + len(payload), 0, 0, 64, 6, 0, bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2]))
    tcp = struct.pack("!HHIIBBHHH", port, 80, sequence, 1, 0x50, 0x10, 1024, 0, 0)
    return bytes.fromhex("0200000000020200000000010800") + ip + tcp + payload


def stream(port):
    """The segments of a stream, each of which ends within a path."""
    firsts = [request(at)[:HALF] for at in range(EACH)] + [b""]
    rests = [b""] + [request(at)[HALF:] for at in range(EACH)]
    sequence = 1
    for rest, first in zip(rests, firsts):
        yield frame(port, sequence, rest + first)
        sequence += len(rest + first)


def halves(count):
    """The two halves of each request of a stream."""
    sequence = 1
    for at in range(count):
        whole = request(at)
        yield frame(50000, sequence, whole[:HALF]), frame(50000, sequence + HALF, whole[HALF:])
        sequence += len(whole)


def taken():
    """Packets that each processor has taken from its queue."""
    with open("/proc/net/softnet_stat") as lines:
        return [int(line.split()[0], 16) for line in lines]


def send(interface, rounds):
    """Sends the frames of each round from two processors. Both begin a round at the same time."""
    processors = sorted(os.sched_getaffinity(0))[:2]
    fork = multiprocessing.get_context("fork")
    meet = fork.Barrier(len(processors))
    before = taken()

    def share(which, processor):
        os.sched_setaffinity(0, {processor})
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as out:
            out.bind((interface, 0))
            for frames in rounds:
                meet.wait(timeout=60)
                for one in frames[which]:
                    out.send(one)

    senders = [fork.Process(target=share, args=each) for each in enumerate(processors)]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()
    sent = [sum(len(frames[which]) for frames in rounds) for which in range(len(senders))]
    busy = sum(now - then >= count for then, now, count in zip(before, taken(), sent))
    print(f"{sum(sender.exitcode == 0 for sender in senders)} processors sent {len(rounds)} rounds, {busy} took them")


def check(mode, count, answer):
    counts = answer["counts"]
    groups = {group["keys"]["http.path"]: group["values"]["count"] for group in answer["groups"]}
    mixed = sorted(set(groups) - set(PATHS))
    read = sum(groups.values())
    others = counts["unfinished"] + counts["unfollowed"] + counts["sent_again"]
    print("paths:", f"mixed, as {mixed[0]}" if mixed else "as they were sent")
    if mode == "own" and read == count and len(set(groups.values())) == 1:
        print(f"requests: all {count}, {groups[PATHS[0]]} of each path")
    elif mode == "shared" and 0 < read <= count and read + others >= count:
        print("requests: read, or counted as not followed")
    else:
        print(f"requests: {read} of {count}, {others} counted as not followed: {counts}")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["own", interface, rounds]:
            send(interface, [(list(stream(40000 + 2 * at)), list(stream(40001 + 2 * at))) for at in range(int(rounds))])
        case ["shared", interface, count]:
            send(interface, [([first], [rest]) for first, rest in halves(int(count))])
        case ["check", mode, count]:
            check(mode, int(count), json.load(sys.stdin))
