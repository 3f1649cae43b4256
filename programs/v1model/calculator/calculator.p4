// SPDX-License-Identifier: Apache-2.0
//
// A calculator: answers each question with the result of an operation, back where it came from.

#include <core.p4>
#include <v1model.p4>

// The first EtherType for local experiments.
const bit<16> TYPE_CALCULATOR = 0x88b5;
const bit<16> MAGIC = 0x4f43;
const bit<8>  VERSION = 1;

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header calculator_t {
    bit<16> magic;
    bit<8>  version;
    bit<8>  operator;
    bit<32> left;
    bit<32> right;
    bit<32> result;
}

struct headers_t {
    ethernet_t   eth;
    calculator_t calc;
}

struct metadata_t { }

parser prs(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.eth);
        transition select(hdr.eth.type) {
            TYPE_CALCULATOR: question;
            default:         accept;
        }
    }
    // A question is known by how it begins.
    state question {
        transition select(packet.lookahead<bit<24>>()) {
            MAGIC ++ VERSION: calculator;
            default:          accept;
        }
    }
    state calculator {
        packet.extract(hdr.calc);
        transition accept;
    }
}

control vrfy(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    action answer(bit<32> result) {
        hdr.calc.result = result;
        bit<48> asked = hdr.eth.dst;
        hdr.eth.dst = hdr.eth.src;
        hdr.eth.src = asked;
        std.egress_spec = std.ingress_port;
    }

    action add() { answer(hdr.calc.left + hdr.calc.right); }
    action add_saturating() { answer(hdr.calc.left |+| hdr.calc.right); }
    action subtract() { answer(hdr.calc.left - hdr.calc.right); }
    action multiply() { answer(hdr.calc.left * hdr.calc.right); }
    action bit_and() { answer(hdr.calc.left & hdr.calc.right); }
    action bit_or() { answer(hdr.calc.left | hdr.calc.right); }
    action bit_xor() { answer(hdr.calc.left ^ hdr.calc.right); }
    action shift_left() { answer(hdr.calc.left << hdr.calc.right); }
    action drop() { mark_to_drop(std); }

    // The operators are characters.
    table operators {
        key = { hdr.calc.operator : exact @name("operator"); }
        actions = { add; add_saturating; subtract; multiply; bit_and; bit_or; bit_xor; shift_left; drop; }
        const default_action = drop();
        const entries = {
            0x2b: add();
            0x53: add_saturating();
            0x2d: subtract();
            0x2a: multiply();
            0x26: bit_and();
            0x7c: bit_or();
            0x5e: bit_xor();
            0x3c: shift_left();
        }
    }

    apply {
        if (hdr.calc.isValid()) {
            operators.apply();
        } else {
            drop();
        }
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
        packet.emit(hdr.calc);
    }
}

V1Switch(prs(), vrfy(), ingress(), egress(), compute(), dprs()) main;
