// SPDX-License-Identifier: Apache-2.0
//
// A tap counts what it sees and why parsers reject; every packet goes on as it came, those that are cut short too.

#include <core.p4>
#include <tap_model.p4>

error { WrongKind }

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<8>  kind;
    bit<24> number;
}

struct headers_t {
    ethernet_t eth;
    data_t     data;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        transition select(hdr.eth.type) {
            0x1234: data;
        }
    }
    state data {
        packet.extract(hdr.data);
        verify(hdr.data.kind != 9, error.WrongKind);
        transition accept;
    }
}

control watch(in headers_t hdr, in tap_input input) {
    tally<bit<16>> (64) by_type;
    tally<bit<8>>(16) by_kind;
    tally<bit<8>>(16) errors;

    apply {
        by_type.add(hdr.eth.type, (bit<64>)input.length);
        if (hdr.data.isValid()) {
            by_kind.add(hdr.data.kind, (bit<64>)hdr.data.number);
        }
        if (input.parser_error == error.PacketTooShort) {
            errors.add(1, 1);
        } else if (input.parser_error == error.WrongKind) {
            errors.add(2, 1);
        } else if (input.parser_error == error.NoMatch) {
            errors.add(3, 1);
        } else if (input.parser_error != error.NoError) {
            errors.add(4, 1);
        }
    }
}

tap(prs(), watch()) main;
