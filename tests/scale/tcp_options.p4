// SPDX-License-Identifier: Apache-2.0
//
// A normaliser of TCP options in front of a network: it reads up to ten of them into a stack of header unions,
// corrects in place what a sender got wrong or may not ask for, and tells the senders of connections apart by the
// order of their options, as passive fingerprinting does. Packets stay as long as they are, so that every
// offset stays valid, and the checksum is corrected by the difference.

#include <core.p4>
#include <xdp_model.p4>
#include "headers.p4h"

// The end of the list, or a byte of padding between options.
header single_t {
    bit<8> kind;
}

header mss_t {
    bit<8>  kind;
    bit<8>  length;
    bit<16> value;
}

header window_scale_t {
    bit<8> kind;
    bit<8> length;
    bit<8> shift;
}

header sack_permitted_t {
    bit<8> kind;
    bit<8> length;
}

// One to four blocks of 8 bytes.
header sack_t {
    bit<8>      kind;
    bit<8>      length;
    varbit<256> blocks;
}

header timestamps_t {
    bit<8>  kind;
    bit<8>  length;
    bit<32> value;
    bit<32> echo;
}

header other_t {
    bit<8>      kind;
    bit<8>      length;
    varbit<304> value;
}

header_union option_t {
    single_t         single;
    mss_t            mss;
    window_scale_t   window_scale;
    sack_permitted_t sack_permitted;
    sack_t           sack;
    timestamps_t     timestamps;
    other_t          other;
}

// What follows the end of the list, up to the end of the header.
header padding_t {
    varbit<312> bytes;
}

struct headers_t {
    ethernet_t   eth;
    ipv4_t       ipv4;
    tcp_t        tcp;
    option_t[10] options;
    padding_t    padding;
}

const bit<8> KIND_END = 0;
const bit<8> KIND_NOP = 1;
const bit<8> KIND_MSS = 2;
const bit<8> KIND_WINDOW_SCALE = 3;
const bit<8> KIND_SACK_PERMITTED = 4;
const bit<8> KIND_SACK = 5;
const bit<8> KIND_TIMESTAMPS = 8;

parser prs(packet_in packet, out headers_t hdr) {
    // Bytes of the header that have not been read.
    bit<8> left = 0;
    bit<8> length = 0;

    state start {
        packet.extract(hdr.eth);
        transition select(hdr.eth.type) {
            TYPE_IPV4: ipv4;
            default:   accept;
        }
    }
    // No IP options, and no fragments: only the first one has the TCP header, and nothing says that it has all of it.
    state ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.ihl, hdr.ipv4.flags, hdr.ipv4.frag_offset, hdr.ipv4.protocol) {
            (5, 0 &&& 1, 0, PROTOCOL_TCP): tcp;
            default:                       accept;
        }
    }
    state tcp {
        packet.extract(hdr.tcp);
        verify(hdr.tcp.data_offset >= 5, error.HeaderTooShort);
        left = ((bit<8>)hdr.tcp.data_offset - 5) << 2;
        transition next_option;
    }
    state next_option {
        transition select(left) {
            0:       accept;
            default: kind;
        }
    }
    state kind {
        transition select(packet.lookahead<bit<8>>()) {
            KIND_END: end;
            KIND_NOP: nop;
            default:  sized;
        }
    }
    state end {
        packet.extract(hdr.options.next.single);
        packet.extract(hdr.padding, ((bit<32>)left - 1) << 3);
        transition accept;
    }
    state nop {
        packet.extract(hdr.options.next.single);
        left = left - 1;
        transition next_option;
    }
    // An option with a length, which covers kind and length too. A known kind with a length that it cannot have
    // is one that nobody understands: it is left alone, as RFC 9293 has it.
    state sized {
        bit<16> ahead = packet.lookahead<bit<16>>();
        length = ahead[7:0];
        verify(length >= 2 && length <= left, error.HeaderTooShort);
        left = left - length;
        transition select(ahead) {
            KIND_MSS ++ 8w4:             mss;
            KIND_WINDOW_SCALE ++ 8w3:    window_scale;
            KIND_SACK_PERMITTED ++ 8w2:  sack_permitted;
            KIND_SACK ++ 8w10:           sack;
            KIND_SACK ++ 8w18:           sack;
            KIND_SACK ++ 8w26:           sack;
            KIND_SACK ++ 8w34:           sack;
            KIND_TIMESTAMPS ++ 8w10:     timestamps;
            default:                     other;
        }
    }
    state mss {
        packet.extract(hdr.options.next.mss);
        transition next_option;
    }
    state window_scale {
        packet.extract(hdr.options.next.window_scale);
        transition next_option;
    }
    state sack_permitted {
        packet.extract(hdr.options.next.sack_permitted);
        transition next_option;
    }
    state sack {
        packet.extract(hdr.options.next.sack, ((bit<32>)length - 2) << 3);
        transition next_option;
    }
    state timestamps {
        packet.extract(hdr.options.next.timestamps);
        transition next_option;
    }
    state other {
        packet.extract(hdr.options.next.other, ((bit<32>)length - 2) << 3);
        transition next_option;
    }
}

// The checksum after a word that begins at an odd offset changed is that of the word with its bytes swapped.
bit<16> after_change(in bit<16> checksum, in bool odd, in bit<16> old, in bit<16> new) {
    if (odd) {
        return csum_replace2(checksum, old[7:0] ++ old[15:8], new[7:0] ++ new[15:8]);
    }
    return csum_replace2(checksum, old, new);
}

control normalise(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    // The largest shift that RFC 7323 allows.
    const bit<8> LARGEST_SHIFT = 14;

    // The indices of `changed`.
    const bit<32> MSS = 0;
    const bit<32> SHIFT = 1;
    const bit<32> ECHO = 2;

    CounterArray(3, false) changed;
    CounterArray(16, false) senders;

    bit<16> largest_mss = 0;
    // One digit an option, the first one in front; and what distinguishes systems besides.
    bit<40> order = 0;
    bit<8>  shift = 0;
    bool    odd = false;

    action limit(bit<16> mss) {
        largest_mss = mss;
    }

    // A tunnel behind this machine makes the path's segments shorter.
    table path {
        actions = { limit; }
        default_action = limit(0xffff);
    }

    action classify(bit<4> class) {
        senders.increment((bit<32>)class);
    }

    action refuse() {
        xout.output_action = xdp_action.XDP_DROP;
    }

    table systems {
        key = {
            order : exact @name("order");
            shift : exact @name("shift");
        }
        actions = { classify; refuse; }
        default_action = classify(0);
        size = 1024;
    }

    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_PASS;
        if (!hdr.tcp.isValid()) {
            return;
        }
        path.apply();
        bool opens = hdr.tcp.flags & (TCP_SYN | TCP_ACK) == TCP_SYN;

        for (bit<8> i in 0 .. 9) {
            if (hdr.options[i].single.isValid()) {
                order = order << 4 | (bit<40>)hdr.options[i].single.kind[3:0];
                odd = !odd;
            } else if (hdr.options[i].mss.isValid()) {
                order = order << 4 | 2;
                bit<16> mss = hdr.options[i].mss.value;
                if (mss > largest_mss) {
                    hdr.tcp.checksum = after_change(hdr.tcp.checksum, odd, mss, largest_mss);
                    hdr.options[i].mss.value = largest_mss;
                    changed.increment(MSS);
                }
            } else if (hdr.options[i].window_scale.isValid()) {
                order = order << 4 | 3;
                shift = hdr.options[i].window_scale.shift;
                if (shift > LARGEST_SHIFT) {
                    hdr.tcp.checksum = after_change(hdr.tcp.checksum, odd, shift ++ 8w0, LARGEST_SHIFT ++ 8w0);
                    hdr.options[i].window_scale.shift = LARGEST_SHIFT;
                    changed.increment(SHIFT);
                }
                odd = !odd;
            } else if (hdr.options[i].sack_permitted.isValid()) {
                order = order << 4 | 4;
            } else if (hdr.options[i].sack.isValid()) {
                order = order << 4 | 5;
            } else if (hdr.options[i].timestamps.isValid()) {
                order = order << 4 | 8;
                // The echo is zero where nothing has come to be echoed; some senders leak memory there.
                bit<32> echo = hdr.options[i].timestamps.echo;
                if (opens && echo != 0) {
                    hdr.tcp.checksum = after_change(hdr.tcp.checksum, odd, echo[31:16], 0);
                    hdr.tcp.checksum = after_change(hdr.tcp.checksum, odd, echo[15:0], 0);
                    hdr.options[i].timestamps.echo = 0;
                    changed.increment(ECHO);
                }
            } else if (hdr.options[i].other.isValid()) {
                order = order << 4 | 15;
                odd = odd != (hdr.options[i].other.length[0:0] == 1);
            }
        }
        if (opens) {
            systems.apply();
        }
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.tcp);
        packet.emit(hdr.options);
        packet.emit(hdr.padding);
    }
}

xdp(prs(), normalise(), dprs()) main;
