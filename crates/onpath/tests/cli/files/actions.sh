#!/bin/bash
# Writes actions.p4: a table with as many actions as $1 says, each with two parameters, which tell which one ran.
{
    cat <<'P4'
#include <core.p4>
#include <xdp_model.p4>

header word_t {
    bit<32> key;
    bit<16> number;
    bit<16> which;
    bit<64> rest;
}

struct headers_t {
    word_t word;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.word);
        transition accept;
    }
}

control sw(inout headers_t hdr, in xdp_input input, out xdp_output output) {
P4
    for i in $(seq 0 $(($1 - 1))); do
        echo "    action a$i(bit<32> add$i, bit<16> number$i) {"
        echo "        hdr.word.key = hdr.word.key + add$i; hdr.word.number = number$i; hdr.word.which = $i;"
        echo "    }"
    done
    cat <<P4
    table t {
        key = { hdr.word.key : exact; }
        actions = { $(seq -f 'a%g;' -s ' ' 0 $(($1 - 1))) NoAction; }
        default_action = NoAction();
        size = 16;
    }
    apply {
        t.apply();
        output.output_action = xdp_action.XDP_PASS;
        output.output_port = 0;
    }
}

control dep(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.word);
    }
}

xdp(prs(), sw(), dep()) main;
P4
} > actions.p4
