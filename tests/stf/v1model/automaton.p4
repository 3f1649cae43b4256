// SPDX-License-Identifier: Apache-2.0
//
// Bytes are skipped up to one that stays, and a variable remembers what the last one was. How many were passed over, what was
// remembered, and whether the packet was too short are counted.

#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header byte_t {
    bit<8> value;
}

struct headers_t {
    ethernet_t eth;
    byte_t     kind;
    byte_t     mode;
    byte_t     last;
}

struct metadata_t {
    bit<8> passed;
    bit<8> mode;
}

parser prs(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    bit<8> byte;

    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.kind);
        transition select(hdr.kind.value) {
            1: digits;
            2: comment;
            3: any_mode;
            default: accept;
        }
    }

    // Digits and blanks up to what is none, which is extracted.
    state digits {
        transition select(packet.lookahead<bit<8>>()) {
            0x30 .. 0x39: skip;
            0x20: skip;
            default: behind;
        }
    }
    state skip {
        packet.advance(8);
        meta.passed = meta.passed + 1;
        transition digits;
    }
    state behind {
        packet.extract(hdr.last);
        transition accept;
    }

    // Up to the end of a comment; mode is 1 behind a star.
    state comment {
        meta.mode = 0;
        transition inside;
    }
    state any_mode {
        packet.extract(hdr.mode);
        meta.mode = hdr.mode.value;
        transition inside;
    }
    state inside {
        byte = packet.lookahead<bit<8>>();
        packet.advance(8);
        meta.passed = meta.passed + 1;
        transition select(meta.mode, byte) {
            (1, 0x2f): accept;
            (_, 0x2a): star;
            (7, _): inside;
            default: text;
        }
    }
    state star {
        meta.mode = 1;
        transition inside;
    }
    state text {
        meta.mode = 0;
        transition inside;
    }
}

control vrfy(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    counter(256, CounterType.packets) by_passed;
    counter(8, CounterType.packets) by_mode;
    counter(2, CounterType.packets) by_error;
    counter(256, CounterType.packets) by_last;

    apply {
        by_passed.count((bit<32>)meta.passed);
        by_mode.count((bit<32>)meta.mode);
        by_error.count(std.parser_error == error.PacketTooShort ? 32w1 : 32w0);
        if (hdr.last.isValid()) {
            by_last.count((bit<32>)hdr.last.value);
        }
        mark_to_drop(std);
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply { }
}

control compute(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control dprs(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.kind);
        packet.emit(hdr.mode);
        packet.emit(hdr.last);
    }
}

V1Switch(prs(), vrfy(), ingress(), egress(), compute(), dprs()) main;
