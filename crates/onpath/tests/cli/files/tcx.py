# The tcx links at the interfaces named on the command line, as the kernel lists them: Debian's bpftool does not.
import ctypes
import platform
import socket
import struct
import sys

BPF = {"x86_64": 321, "aarch64": 280}[platform.machine()]
PROG_QUERY = 16
SIDES = {46: "tcx ingress", 47: "tcx egress"}
libc = ctypes.CDLL(None, use_errno=True)

for name in sys.argv[1:]:
    for side, words in SIDES.items():
        ids = (ctypes.c_uint32 * 64)()
        query = ctypes.create_string_buffer(
            struct.pack("=IIIIQI", socket.if_nametoindex(name), side, 0, 0, ctypes.addressof(ids), 64), 128)
        if libc.syscall(BPF, PROG_QUERY, query, 128) == 0:
            for _ in range(struct.unpack_from("=I", query, 24)[0]):
                print(f"on {name}: {words}")
