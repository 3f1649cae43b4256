// SPDX-License-Identifier: Apache-2.0
//
// DeeP4R: blocks packets by the names in their payload, by an automaton in a table, as S. Gupta and others published it
// ("DeeP4R: Deep Packet Inspection in P4 using Packet Recirculation", INFOCOM 2023). A packet with a payload gets a label
// and is cloned. The clone loses a slice of its payload in each pass. The table `dfa` has the next state for the state in
// the label and that slice. The original is recirculated until the clone has decided.
//
// README.md describes the settings. `onpath firewall --emit v1model` writes them, and the entries of `dfa`.

#include <core.p4>
#include <v1model.p4>

// Bytes of a slice: 1, 2 or 4. Of slices of several bytes, an entry may leave some open.
#ifndef SLICE_BYTES
#define SLICE_BYTES 1
#endif
// Slices that a clone may lose in one pass.
#ifndef LOOK_UPS
#define LOOK_UPS 1
#endif
// Sizes of the tables `dfa` and `links`. Without LINKS, a slice that does not continue a match resets the state to the
// start, and is lost.
#ifndef ENTRIES
#define ENTRIES 1024
#endif
// Number of ids: a power of two.
#ifndef IDS
#define IDS 1024
#endif
// The start of the automaton for names in DNS messages, where each label follows its length.
#ifndef DNS_START
#define DNS_START 0x80000000
#endif
// A look-up takes the slice at this index of `slices`.
#ifdef LINKS
#define AT at
#else
#define AT look_up
#endif
// With FREE_IDS a packet gets an id that no other packet has; without it, the next number.

const bit<16> TYPE_IPV4 = 0x0800;
const bit<8> PROTOCOL_TCP = 6;
const bit<8> PROTOCOL_UDP = 17;
const bit<16> PORT_DNS = 53;

// Kinds of packets, as v1model numbers them.
const bit<32> CLONE_OF_INGRESS = 1;
const bit<32> RECIRCULATED = 4;

// The clone session of all clones. Its port does not matter: each clone is recirculated.
const bit<32> SESSION = 1;

// Passes after which a packet with a free id is given up, so that its id returns. The kernel recirculates 32 times, and
// cloning counts as one. A clone ends before its original, which then clears the decision for both.
const bit<8> MOST_PASSES_OF_CLONE = 31;
const bit<8> MOST_PASSES = 32;

// Ids that are tried for a packet, one after the other, until one is free.
const bit<8> PROBES = 8;

// Values of the register `decision`.
const bit<8> NONE = 0;
const bit<8> DROP = 1;
const bit<8> PASS = 0xff;

enum bit<8> Kind {
    ORIGINAL = 1,
    CLONE = 2
}

// Indices of `packets`.
const bit<32> ADMITTED = 0;          // got a label
const bit<32> PASSES_OF_ORIGINALS = 1;
const bit<32> PASSES_OF_CLONES = 2;
const bit<32> RELEASED = 3;          // had no match
const bit<32> BLOCKED = 4;
const bit<32> PASSED_BY = 5;         // not searched: no payload of TCP or DNS was found
const bit<32> NO_ID = 6;             // dropped, as no id that was tried was free
const bit<32> GIVEN_UP = 7;          // dropped after too many passes

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header ipv4_t {
    bit<4>  version;
    bit<4>  ihl;
    bit<8>  dscp_ecn;
    bit<16> total_len;
    bit<16> id;
    bit<3>  flags;
    bit<13> frag_offset;
    bit<8>  ttl;
    bit<8>  protocol;
    bit<16> checksum;
    bit<32> src;
    bit<32> dst;
}

header tcp_t {
    bit<16> src;
    bit<16> dst;
    bit<32> seq;
    bit<32> ack;
    bit<4>  data_offset;
    bit<4>  reserved;
    bit<8>  flags;
    bit<16> window;
    bit<16> checksum;
    bit<16> urgent;
}

header tcp_options_t {
    varbit<320> bytes;
}

header udp_t {
    bit<16> src;
    bit<16> dst;
    bit<16> length;
    bit<16> checksum;
}

// Follows TCP or UDP while a packet is recirculated. It never leaves.
header label_t {
    Kind    kind;
    bit<8>  passes;
    bit<16> left;     // bytes of the payload that are left
    bit<32> state;    // of the automaton
    bit<32> id;       // index of `decision`
}

header slice_t {
    bit<(8 * SLICE_BYTES)> value;
}

// The end of a payload that is no whole slice.
header tail1_t {
    bit<8> value;
}
header tail2_t {
    bit<16> value;
}
header tail3_t {
    bit<24> value;
}

struct headers_t {
    ethernet_t        eth;
    ipv4_t            ipv4;
    tcp_t             tcp;
    tcp_options_t     tcp_options;
    udp_t             udp;
    label_t           label;
    slice_t[LOOK_UPS] slices;
#if SLICE_BYTES > 1
    tail1_t           tail1;
#endif
#if SLICE_BYTES > 2
    tail2_t           tail2;
    tail3_t           tail3;
#endif
}

struct metadata_t {
    // Fields that a clone copies from its original.
    @field_list(1)
    bit<32> id;
    @field_list(1)
    bit<32> start;
    @field_list(1)
    bit<16> left;
}

parser prs(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    bit<16> left = 0;
    bit<8> room = LOOK_UPS;

    state start {
        packet.extract(hdr.eth);
        transition select(hdr.eth.type) {
            TYPE_IPV4: ipv4;
            default:   accept;
        }
    }
    state ipv4 {
        packet.extract(hdr.ipv4);
        // A fragment is not searched, the first one of a packet neither.
        transition select(hdr.ipv4.ihl, hdr.ipv4.flags[0:0], hdr.ipv4.frag_offset, hdr.ipv4.protocol) {
            (5, 0, 0, PROTOCOL_TCP): tcp;
            (5, 0, 0, PROTOCOL_UDP): udp;
            default:                 accept;
        }
    }
    state tcp {
        packet.extract(hdr.tcp);
        transition select(hdr.tcp.data_offset) {
            0 .. 4:  accept;
            5:       labelled;
            default: tcp_options;
        }
    }
    state tcp_options {
        packet.extract(hdr.tcp_options, ((bit<32>)hdr.tcp.data_offset - 5) << 5);
        transition labelled;
    }
    state udp {
        packet.extract(hdr.udp);
        transition labelled;
    }
    state labelled {
        transition select(std.instance_type) {
            RECIRCULATED: label;
            default:      accept;
        }
    }
    state label {
        packet.extract(hdr.label);
        left = hdr.label.left;
        transition select(hdr.label.kind) {
            Kind.CLONE: more;
            default:    accept;
        }
    }
    state more {
        transition select(room, left) {
            (0, _):  accept;
            (_, 0):  accept;
#if SLICE_BYTES > 1
            (_, 1):  tail1;
#endif
#if SLICE_BYTES > 2
            (_, 2):  tail2;
            (_, 3):  tail3;
#endif
            default: slice;
        }
    }
    state slice {
        packet.extract(hdr.slices.next);
        left = left - SLICE_BYTES;
        room = room - 1;
        transition more;
    }
#if SLICE_BYTES > 1
    state tail1 {
        packet.extract(hdr.tail1);
        transition accept;
    }
#endif
#if SLICE_BYTES > 2
    state tail2 {
        packet.extract(hdr.tail2);
        transition accept;
    }
    state tail3 {
        packet.extract(hdr.tail3);
        transition accept;
    }
#endif
}

control verify_sums(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    register<bit<8>>(IDS) decision;
    counter(8, CounterType.packets) packets;

#ifdef FREE_IDS
    // 1 for each id that a packet has.
    register<bit<8>>(IDS) taken;
#endif
    register<bit<32>>(1) next_id;

    bit<8> decided = NONE;
    bit<32> own_id = 0;
    bit<16> payload = 0;
#ifdef LINKS
    bit<32> at = 0;
#endif
    bit<1> walks = 0;
    bit<1> gets_id = 0;
    bit<1> returns_id = 0;
    bit<(8 * SLICE_BYTES)> slice = 0;

    // The supervisor's actions.

    action pass_by() {
        packets.count(PASSED_BY);
    }
    // Gives a packet its label, and makes the clone that will search its payload from this state on.
    action admit(bit<32> start) {
        gets_id = 1;
        meta.start = start;
        meta.left = payload;
    }
    action walk(bit<32> start) {
        packets.count(PASSES_OF_CLONES);
        walks = 1;
        meta.start = start;
    }
    // The payload ended without a match.
    action conclude() {
        decision.write(own_id, PASS);
        mark_to_drop(std);
    }
    action end_clone() {
        mark_to_drop(std);
    }
    action wait_for_clone() {
        packets.count(PASSES_OF_ORIGINALS);
    }
    action release() {
        packets.count(RELEASED);
        decision.write(own_id, NONE);
        returns_id = 1;
        hdr.label.setInvalid();
    }
    action block() {
        packets.count(BLOCKED);
        decision.write(own_id, NONE);
        returns_id = 1;
        mark_to_drop(std);
    }
    action give_up() {
        packets.count(GIVEN_UP);
        decision.write(own_id, NONE);
        returns_id = 1;
        mark_to_drop(std);
    }

    // The main function: what becomes of a packet in this pass.
    table supervisor {
        key = {
            hdr.label.isValid()    : exact   @name("labelled");
            hdr.label.kind         : ternary @name("kind");
            decided                : ternary @name("decision");
            hdr.label.left         : ternary @name("left");
            payload                : ternary @name("payload");
            hdr.tcp.isValid()      : ternary @name("tcp");
            hdr.tcp.dst            : ternary @name("tcp_port");
            hdr.udp.isValid()      : ternary @name("udp");
            hdr.udp.dst            : ternary @name("udp_port");
#ifdef FREE_IDS
            hdr.label.passes       : ternary @name("passes");
#endif
        }
        actions = { pass_by; admit; walk; conclude; end_clone; wait_for_clone; release; block; give_up; }
        default_action = pass_by();
        // Without FREE_IDS, passes are not compared: the traffic manager drops a packet after too many.
#ifdef FREE_IDS
#define ROW(labelled, kind, decision, left, payload, tcp, tcp_port, udp, udp_port, passes, does) \
    (labelled, kind, decision, left, payload, tcp, tcp_port, udp, udp_port, passes): does;
#else
#define ROW(labelled, kind, decision, left, payload, tcp, tcp_port, udp, udp_port, passes, does) \
    (labelled, kind, decision, left, payload, tcp, tcp_port, udp, udp_port): does;
#endif
        const entries = {
            ROW(false, _, _, _, 0, _, _, _, _, _, pass_by())
            ROW(false, _, _, _, _, true, PORT_DNS, _, _, _, admit(DNS_START))
            ROW(false, _, _, _, _, true, _, _, _, _, admit(0))
            ROW(false, _, _, _, _, _, _, true, PORT_DNS, _, admit(DNS_START))
            ROW(true, Kind.CLONE, NONE, 0, _, _, _, _, _, _, conclude())
#ifdef FREE_IDS
            ROW(true, Kind.CLONE, _, _, _, _, _, _, _, MOST_PASSES_OF_CLONE, end_clone())
#endif
            ROW(true, Kind.CLONE, NONE, _, _, true, PORT_DNS, _, _, _, walk(DNS_START))
            ROW(true, Kind.CLONE, NONE, _, _, true, _, _, _, _, walk(0))
            ROW(true, Kind.CLONE, NONE, _, _, _, _, true, _, _, walk(DNS_START))
            ROW(true, Kind.CLONE, _, _, _, _, _, _, _, _, end_clone())
            ROW(true, Kind.ORIGINAL, DROP, _, _, _, _, _, _, _, block())
            ROW(true, Kind.ORIGINAL, PASS, _, _, _, _, _, _, _, release())
#ifdef FREE_IDS
            ROW(true, Kind.ORIGINAL, NONE, _, _, _, _, _, _, MOST_PASSES, give_up())
#endif
            ROW(true, Kind.ORIGINAL, NONE, _, _, _, _, _, _, _, wait_for_clone())
        }
    }

    // The automaton's actions.

    // A clone that decides has nothing more to find.
    action update_state(bit<32> next, bit<8> decide) {
        hdr.label.state = next;
        if (decide == DROP) {
            decision.write(own_id, DROP);
            decided = DROP;
            walks = 0;
            mark_to_drop(std);
        }
    }
    action reset_state() {
        hdr.label.state = meta.start;
    }

    table dfa {
        key = {
#if SLICE_BYTES == 1
            hdr.label.state : exact @name("state");
            slice           : exact @name("slice");
#else
            hdr.label.state : ternary @name("state");
            slice           : ternary @name("slice");
#endif
        }
#ifdef LINKS
        // The table `links` has the next state.
        actions = { update_state; NoAction; }
        default_action = NoAction();
#else
        actions = { update_state; reset_state; }
        default_action = reset_state();
#endif
        size = ENTRIES;
    }

#ifdef LINKS
    // Where a match fails, part of it may begin another one. The slice stays for another look-up.
    action fall_back(bit<32> next) {
        hdr.label.state = next;
    }
    table links {
        key = {
            hdr.label.state : exact @name("state");
        }
        actions = { fall_back; reset_state; }
        default_action = reset_state();
        size = LINKS;
    }
#endif

    apply {
        // Packets go from port 0 to port 1, and back.
        std.egress_spec = std.ingress_port ^ 1;
        if (hdr.label.isValid()) {
            own_id = hdr.label.id;
            decision.read(decided, own_id);
            hdr.label.passes = hdr.label.passes + 1;
        } else if (std.parser_error != error.NoError) {
            payload = 0;
        } else if (hdr.tcp.isValid() && hdr.tcp.data_offset >= 5) {
            payload = hdr.ipv4.total_len |-| (20 + ((bit<16>)hdr.tcp.data_offset << 2));
        } else if (hdr.udp.isValid()) {
            payload = hdr.udp.length |-| 8;
        }
        supervisor.apply();

        if (gets_id == 1) {
            bit<32> id = 0;
            @atomic {
                next_id.read(id, 0);
                next_id.write(0, id + 1);
            }
            id = id & (IDS - 1);
#ifdef FREE_IDS
            bit<1> is_free = 0;
            for (bit<8> probe in 0 .. (PROBES - 1)) {
                if (is_free == 0) {
                    id = (id + 1) & (IDS - 1);
                    bit<8> is_taken;
                    @atomic {
                        taken.read(is_taken, id);
                        taken.write(id, 1);
                    }
                    is_free = (bit<1>)(is_taken == 0);
                }
            }
            if (is_free == 0) {
                packets.count(NO_ID);
                mark_to_drop(std);
                return;
            }
#endif
            packets.count(ADMITTED);
            meta.id = id;
            hdr.label = { Kind.ORIGINAL, 0, payload, meta.start, id };
            clone_preserving_field_list(CloneType.I2E, SESSION, 1);
        }
#ifdef FREE_IDS
        if (returns_id == 1) {
            taken.write(own_id, 0);
        }
#endif

        if (walks == 0) {
            return;
        }
        bit<1> found_any = 0;
        for (bit<32> look_up in 0 .. (bit<32>)(LOOK_UPS - 1)) {
            // Bytes that the clone loses by this look-up.
            bit<16> bytes = 0;
            if (walks == 1 && AT < LOOK_UPS && hdr.slices[AT].isValid()) {
                slice = hdr.slices[AT].value;
                bytes = SLICE_BYTES;
            }
#if SLICE_BYTES == 2
            else if (walks == 1 && hdr.tail1.isValid()) {
                slice = hdr.tail1.value ++ 8w0;
                bytes = 1;
            }
#elif SLICE_BYTES == 4
            else if (walks == 1 && hdr.tail1.isValid()) {
                slice = hdr.tail1.value ++ 24w0;
                bytes = 1;
            } else if (walks == 1 && hdr.tail2.isValid()) {
                slice = hdr.tail2.value ++ 16w0;
                bytes = 2;
            } else if (walks == 1 && hdr.tail3.isValid()) {
                slice = hdr.tail3.value ++ 8w0;
                bytes = 3;
            }
#endif
            if (bytes != 0) {
                found_any = 1;
#ifdef LINKS
                bool was_at_start = hdr.label.state == meta.start;
                if (dfa.apply().miss && !was_at_start) {
                    links.apply();
                    bytes = 0;
                }
#else
                dfa.apply();
#endif
            }
            if (bytes == SLICE_BYTES) {
                hdr.slices[AT].setInvalid();
#ifdef LINKS
                at = at + 1;
#endif
            }
#if SLICE_BYTES > 1
            else if (bytes == 1) {
                hdr.tail1.setInvalid();
            }
#endif
#if SLICE_BYTES > 2
            else if (bytes == 2) {
                hdr.tail2.setInvalid();
            } else if (bytes == 3) {
                hdr.tail3.setInvalid();
            }
#endif
            hdr.label.left = hdr.label.left - bytes;
        }
        if (found_any == 0) {
            // The packet is shorter than its headers say.
            hdr.label.left = 0;
        }
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        if (std.instance_type == CLONE_OF_INGRESS) {
            hdr.label = { Kind.CLONE, 0, meta.left, meta.start, meta.id };
        }
        if (hdr.label.isValid()) {
            recirculate_preserving_field_list(0);
        }
    }
}

control compute_sums(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control emit_all(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(prs(), verify_sums(), ingress(), egress(), compute_sums(), emit_all()) main;
