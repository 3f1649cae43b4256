// SPDX-License-Identifier: Apache-2.0
//
// In-band telemetry, INT-MD 2.1, over UDP: at an interface's egress a source puts a shim, a header and its own metadata
// behind the UDP header of watched flows; each hop puts its metadata in front of that of the hops before; a sink takes
// all of it off again. Lengths and checksums follow, also of packets that the device finishes.

#include <core.p4>
#include <tc_model.p4>
#include "headers.p4h"

// The first packet's DSCP is kept in the shim, and this one says that a shim follows UDP.
const bit<6> TELEMETRY_DSCP = 0x17;

header shim_t {
    bit<4>  type;          // 1: metadata in the packet
    bit<2>  next_protocol; // 0: what followed UDP is as it was
    bit<2>  reserved;
    bit<8>  length;        // of all behind the shim, in words
    bit<10> unused;
    bit<6>  dscp;          // what the packet had
}

header telemetry_t {
    bit<4>  version;
    bit<1>  discard;
    bit<1>  hops_exceeded;
    bit<1>  mtu_exceeded;
    bit<12> reserved;
    bit<5>  words_per_hop;
    bit<8>  hops_left;
    bit<16> instructions;
    bit<16> domain;
    bit<16> domain_instructions;
    bit<16> domain_flags;
}

// One word for each bit of the instructions that these hops know, in the order of the bits.
header node_t {
    bit<32> id;
}

header ports_t {
    bit<16> ingress;
    bit<16> egress;
}

header queue_t {
    bit<8>  number;
    bit<24> occupancy;
}

header times_t {
    bit<64> egress;
}

// What hops before put there: up to 4 of 5 words.
header word_t {
    bit<32> value;
}

struct headers_t {
    ethernet_t  eth;
    vlan_t      vlan;
    ipv4_t      ipv4;
    udp_t       udp;
    shim_t      shim;
    telemetry_t telemetry;
    node_t      node;
    ports_t     ports;
    queue_t     queue;
    times_t     times;
    word_t[20]  earlier;
}

parser prs(packet_in packet, out headers_t hdr) {
    bit<8> left = 0;

    state start {
        packet.extract(hdr.eth);
        transition select(hdr.eth.type) {
            TYPE_VLAN: vlan;
            TYPE_IPV4: ipv4;
            default:   accept;
        }
    }
    state vlan {
        packet.extract(hdr.vlan);
        transition select(hdr.vlan.type) {
            TYPE_IPV4: ipv4;
            default:   accept;
        }
    }
    state ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.ihl, hdr.ipv4.flags, hdr.ipv4.frag_offset, hdr.ipv4.protocol) {
            (5, 0 &&& 1, 0, PROTOCOL_UDP): udp;
            default:                       accept;
        }
    }
    state udp {
        packet.extract(hdr.udp);
        transition select(hdr.ipv4.dscp) {
            TELEMETRY_DSCP: shim;
            default:        accept;
        }
    }
    state shim {
        packet.extract(hdr.shim);
        // The header has three words, and the rest are metadata of whole hops.
        verify(hdr.shim.type == 1 && hdr.shim.length >= 3, error.HeaderTooShort);
        packet.extract(hdr.telemetry);
        verify(hdr.telemetry.version == 2, error.ParserInvalidArgument);
        left = hdr.shim.length - 3;
        transition next_word;
    }
    state next_word {
        transition select(left) {
            0:       accept;
            default: word;
        }
    }
    state word {
        packet.extract(hdr.earlier.next);
        left = left - 1;
        transition next_word;
    }
}

control telemetry(inout headers_t hdr, in tc_input input, inout tc_output output) {
    const bit<16> NODE = 0x8000;
    const bit<16> PORTS = 0x4000;
    const bit<16> QUEUE = 0x1000;
    const bit<16> EGRESS_TIME = 0x0400;
    const bit<8>  LARGEST_LENGTH = 23;
    const bit<16> SOURCE_BYTES = 16;   // shim and header

    // The indices of `packets`.
    const bit<32> BEGUN = 0;
    const bit<32> CONTINUED = 1;
    const bit<32> ENDED = 2;
    const bit<32> FULL = 3;
    const bit<32> TOO_LONG = 4;

    CounterArray(5, false) packets;

    bit<32> node = 0;
    bool    is_sink = false;

    action be(bit<32> id, bool sink) {
        node = id;
        is_sink = sink;
    }

    // This hop. Without a name it leaves everything as it is.
    table identity {
        actions = { be; }
        default_action = be(0, false);
    }

    action watch(bit<16> instructions, bit<8> hops, bit<16> domain) {
        // Until the packet is seen to have the space for it.
        hdr.telemetry = { 2, 0, 0, 0, 0, 0, hops, instructions, domain, 0, 0 };
    }

    table watched {
        key = {
            hdr.ipv4.src     : ternary @name("src");
            hdr.ipv4.dst     : ternary @name("dst");
            hdr.udp.dst_port : ternary @name("dst_port");
        }
        actions = { watch; NoAction; }
        default_action = NoAction();
        size = 256;
    }

    // A word that was not there before belongs to the segment now.
    action cover(bit<32> word) {
        if (hdr.udp.checksum != 0) {
            hdr.udp.checksum = l4_csum_replace4(hdr.udp.checksum, 0, word, false);
        }
    }

    action uncover(bit<32> word) {
        if (hdr.udp.checksum != 0) {
            hdr.udp.checksum = l4_csum_replace4(hdr.udp.checksum, word, 0, false);
        }
    }

    // The length is in the segment and in the pseudo header.
    action lengthen(bit<16> bytes) {
        bit<16> length = hdr.udp.length + bytes;
        if (hdr.udp.checksum != 0) {
            hdr.udp.checksum = l4_csum_replace2(hdr.udp.checksum, hdr.udp.length, length, false);
            hdr.udp.checksum = l4_csum_replace2(hdr.udp.checksum, hdr.udp.length, length, true);
        }
        hdr.udp.length = length;
        bit<16> total = hdr.ipv4.total_len + bytes;
        hdr.ipv4.checksum = csum_replace2(hdr.ipv4.checksum, hdr.ipv4.total_len, total);
        hdr.ipv4.total_len = total;
    }

    action set_dscp(bit<6> dscp) {
        bit<16> old = hdr.ipv4.version ++ hdr.ipv4.ihl ++ hdr.ipv4.dscp ++ hdr.ipv4.ecn;
        bit<16> new = hdr.ipv4.version ++ hdr.ipv4.ihl ++ dscp ++ hdr.ipv4.ecn;
        hdr.ipv4.checksum = csum_replace2(hdr.ipv4.checksum, old, new);
        hdr.ipv4.dscp = dscp;
    }

    // How many words the instructions ask this hop for.
    bit<8> words = 0;

    action add_metadata() {
        if (hdr.telemetry.instructions & NODE != 0) {
            hdr.node = { node };
            cover(node);
        }
        if (hdr.telemetry.instructions & PORTS != 0) {
            hdr.ports = { 0, input.input_port[15:0] };
            cover(hdr.ports.ingress ++ hdr.ports.egress);
        }
        if (hdr.telemetry.instructions & QUEUE != 0) {
            // The queue is chosen later, and its length is the device's: all ones is "not known".
            hdr.queue = { output.queue[7:0], 0xffffff };
            cover(hdr.queue.number ++ hdr.queue.occupancy);
        }
        if (hdr.telemetry.instructions & EGRESS_TIME != 0) {
            hdr.times = { input.timestamp };
            cover(input.timestamp[63:32]);
            cover(input.timestamp[31:0]);
        }
    }

    action count_words() {
        words = 0;
        if (hdr.telemetry.instructions & NODE != 0) {
            words = words + 1;
        }
        if (hdr.telemetry.instructions & PORTS != 0) {
            words = words + 1;
        }
        if (hdr.telemetry.instructions & QUEUE != 0) {
            words = words + 1;
        }
        if (hdr.telemetry.instructions & EGRESS_TIME != 0) {
            words = words + 2;
        }
    }

    // The words of shim and header, as they are on the wire.
    bit<32> shim_word = 0;
    bit<32> first_word = 0;
    bit<32> second_word = 0;
    bit<32> third_word = 0;

    action read_words() {
        shim_word = hdr.shim.type ++ hdr.shim.next_protocol ++ hdr.shim.reserved ++ hdr.shim.length ++ hdr.shim.unused
            ++ hdr.shim.dscp;
        first_word = hdr.telemetry.version ++ hdr.telemetry.discard ++ hdr.telemetry.hops_exceeded
            ++ hdr.telemetry.mtu_exceeded ++ hdr.telemetry.reserved ++ hdr.telemetry.words_per_hop
            ++ hdr.telemetry.hops_left;
        second_word = hdr.telemetry.instructions ++ hdr.telemetry.domain;
        third_word = hdr.telemetry.domain_instructions ++ hdr.telemetry.domain_flags;
    }

    action replace(bit<32> old, bit<32> new) {
        if (hdr.udp.checksum != 0) {
            hdr.udp.checksum = l4_csum_replace4(hdr.udp.checksum, old, new, false);
        }
    }

    apply {
        identity.apply();
        if (!hdr.udp.isValid() || node == 0) {
            return;
        }
        bit<32> capacity = input.mtu == 0 ? 32w0xffff : input.mtu + 14;

        if (!hdr.shim.isValid()) {
            // A source. One packet that becomes several would carry one hop's times in all of them: not watched.
            if (is_sink || input.gso_size != 0 || !watched.apply().hit) {
                return;
            }
            count_words();
            bit<16> bytes = SOURCE_BYTES + ((bit<16>)words << 2);
            if (input.length + (bit<32>)bytes > capacity || hdr.telemetry.hops_left == 0) {
                hdr.telemetry.setInvalid();
                packets.increment(TOO_LONG);
                return;
            }
            hdr.telemetry.hops_left = hdr.telemetry.hops_left - 1;
            hdr.telemetry.words_per_hop = words[4:0];
            hdr.shim = { 1, 0, 0, words + 3, 0, hdr.ipv4.dscp };
            lengthen(bytes);
            read_words();
            cover(shim_word);
            cover(first_word);
            cover(second_word);
            cover(third_word);
            add_metadata();
            set_dscp(TELEMETRY_DSCP);
            packets.increment(BEGUN);
        } else if (is_sink) {
            bit<16> bytes = ((bit<16>)hdr.shim.length + 1) << 2;
            if (hdr.udp.length < bytes + 8) {
                output.verdict = tc_verdict.TC_DROP;
                return;
            }
            lengthen(-bytes);
            read_words();
            uncover(shim_word);
            uncover(first_word);
            uncover(second_word);
            uncover(third_word);
            for (bit<8> i in 0 .. 19) {
                if (hdr.earlier[i].isValid()) {
                    uncover(hdr.earlier[i].value);
                }
            }
            set_dscp(hdr.shim.dscp);
            hdr.shim.setInvalid();
            hdr.telemetry.setInvalid();
            hdr.earlier.pop_front(20);
            packets.increment(ENDED);
        } else {
            // A transit hop.
            count_words();
            if (hdr.telemetry.discard == 1) {
                return;
            }
            read_words();
            bit<32> old_shim = shim_word;
            bit<32> old_first = first_word;
            if (hdr.telemetry.hops_left == 0) {
                hdr.telemetry.hops_exceeded = 1;
                packets.increment(FULL);
            } else if (words[4:0] != hdr.telemetry.words_per_hop || hdr.shim.length + words > LARGEST_LENGTH
                || input.length + ((bit<32>)words << 2) > capacity) {
                hdr.telemetry.mtu_exceeded = 1;
                packets.increment(TOO_LONG);
            } else {
                hdr.telemetry.hops_left = hdr.telemetry.hops_left - 1;
                hdr.shim.length = hdr.shim.length + words;
                lengthen((bit<16>)words << 2);
                add_metadata();
                packets.increment(CONTINUED);
            }
            read_words();
            replace(old_shim, shim_word);
            replace(old_first, first_word);
        }
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.vlan);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.udp);
        packet.emit(hdr.shim);
        packet.emit(hdr.telemetry);
        packet.emit(hdr.node);
        packet.emit(hdr.ports);
        packet.emit(hdr.queue);
        packet.emit(hdr.times);
        packet.emit(hdr.earlier);
    }
}

tc(prs(), telemetry(), dprs()) main;
