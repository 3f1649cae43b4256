// SPDX-License-Identifier: Apache-2.0
//
// State that packets share: a register's cell in an atomic block, a meter, counters. Nothing that several processors do at once
// is lost.

#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<8>  index;
    bit<32> count;
    bit<64> sum;
    bit<8>  torn;
    bit<8>  color;
}

struct headers_t {
    ethernet_t eth;
    data_t     d;
}

struct metadata_t { }

struct cell_t {
    bit<32> count;
    bit<64> sum;
}

parser prs(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.d);
        transition accept;
    }
}

control vrfy(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    register<cell_t>(4) cells;
    register<bit<32>>(4) singles;
    counter(3, CounterType.packets_and_bytes) colors;
    meter(1, MeterType.packets) limit;
    direct_counter(CounterType.packets) hits;
    direct_meter<bit<2>>(MeterType.packets) entry_limit;
    counter(3, CounterType.packets) entry_colors;

    cell_t cell;
    bit<32> single;
    bit<2> color;

    action read() {
        entry_limit.read(color);
    }

    table entries_ {
        key = { hdr.d.index : exact @name("index"); }
        actions = { read; NoAction; }
        default_action = NoAction();
        counters = hits;
        meters = entry_limit;
        size = 8;
    }

    apply {
        std.egress_spec = 1;
        @atomic {
            cells.read(cell, (bit<32>)hdr.d.index);
            cell.count = cell.count + 1;
            if (hdr.d.index == 3) {
                cell.sum = cell.sum + 1000;
            } else {
                cell.sum = cell.sum + 3;
            }
            cells.write((bit<32>)hdr.d.index, cell);
        }
        hdr.d.count = cell.count;
        hdr.d.sum = cell.sum;
        @atomic {
            singles.read(single, 0);
            singles.write(0, single + 1);
        }
        singles.read(single, 1);
        singles.write(1, 7);
        limit.execute_meter(0, color);
        colors.count((bit<32>)color);
        hdr.d.color = (bit<8>)color;
        color = 0;
        if (entries_.apply().hit) {
            entry_colors.count((bit<32>)color);
        }
        hdr.d.torn = (bit<8>)color;
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
        packet.emit(hdr.d);
    }
}

V1Switch(prs(), vrfy(), ingress(), egress(), compute(), dprs()) main;
