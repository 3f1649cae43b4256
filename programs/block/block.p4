// SPDX-License-Identifier: Apache-2.0
#include <ebpf_model.p4>
#include <packet_headers.p4>

control block(inout packet_headers hdr, out bool pass) {
    action drop() { pass = false; }
    table ports {
        key = { hdr.tcp.dst_port: exact @name("port"); }
        actions = { drop; NoAction; }
    }
    apply { pass = true; if (hdr.tcp.isValid()) ports.apply(); }
}
ebpfFilter(packet_parser(), block()) main;
