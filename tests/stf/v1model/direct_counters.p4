// SPDX-License-Identifier: Apache-2.0
//
// Direct counters of tables of every structure: of packets, of bytes, of both. A hit counts once, whatever its action does; a
// miss does not count.

#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<8>  small;
    bit<32> address;
    bit<16> flags;
}

struct headers_t {
    ethernet_t eth;
    data_t     d;
}

struct metadata_t { }

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
    direct_counter(CounterType.packets) of_array;
    direct_counter(CounterType.packets_and_bytes) of_hash;
    direct_counter(CounterType.bytes) of_trie;
    direct_counter(CounterType.packets_and_bytes) of_long_trie;
    direct_counter(CounterType.packets_and_bytes) of_bits;
    direct_counter(CounterType.packets) of_tuples;
    direct_counter(CounterType.packets_and_bytes) of_few;
    direct_counter(CounterType.packets) of_many;

    action to(bit<9> port) {
        std.egress_spec = port;
    }

    action note() {
        hdr.d.flags = hdr.d.flags + 1;
    }

    action note_twice() {
        of_trie.count();
        of_trie.count();
    }

    table array {
        key = { hdr.d.small : exact @name("small"); }
        actions = { note; NoAction; }
        default_action = note();
        counters = of_array;
    }

    table hash_map {
        key = { hdr.d.address : exact @name("address"); }
        actions = { to; NoAction; }
        default_action = NoAction();
        counters = of_hash;
        size = 3;
    }

    table trie {
        key = { hdr.d.address : lpm @name("address"); }
        actions = { note_twice; NoAction; }
        default_action = NoAction();
        counters = of_trie;
        size = 8;
    }

    @layout("multibit_trie")
    table long_trie {
        key = { hdr.d.address : lpm @name("address"); }
        actions = { to; NoAction; }
        default_action = NoAction();
        counters = of_long_trie;
        size = 64;
    }

    @layout("bit_vectors")
    table bits {
        key = { hdr.d.flags : ternary @name("flags"); }
        actions = { to; NoAction; }
        default_action = NoAction();
        counters = of_bits;
        size = 16;
    }

    @layout("tuple_space")
    table tuples {
        key = {
            hdr.d.flags : ternary @name("flags");
            hdr.d.small : range @name("small");
        }
        actions = { to; NoAction; }
        default_action = NoAction();
        counters = of_tuples;
        size = 16;
    }

    table few {
        key = { hdr.d.small : exact @name("small"); }
        actions = { NoAction; }
        const default_action = NoAction();
        counters = of_few;
        const entries = {
            1 : NoAction();
            2 : NoAction();
        }
    }

    table many {
        key = { hdr.d.address : exact @name("address"); }
        actions = { NoAction; note; }
        const default_action = NoAction();
        counters = of_many;
        const entries = {
            1 : NoAction();
            2 : NoAction();
            3 : NoAction();
            4 : NoAction();
            5 : NoAction();
            6 : NoAction();
            7 : note();
            8 : NoAction();
            9 : NoAction();
        }
    }

    apply {
        std.egress_spec = 1;
        array.apply();
        if (!hash_map.apply().hit) {
            trie.apply();
        }
        long_trie.apply();
        bits.apply();
        tuples.apply();
        few.apply();
        many.apply();
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
