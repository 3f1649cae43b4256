// SPDX-License-Identifier: Apache-2.0
//
// TCP's maximum segment size, lowered so that full segments leave room for the option.

#ifndef _PDM_CLAMP_P4_
#define _PDM_CLAMP_P4_

#include "chain.p4"

// `mtu` is of the way, 0 if it is not known.
control clamp(inout headers_t hdr, in bit<32> mtu, out bool lowered) {
    apply {
        lowered = false;
        // 40 bytes of IPv6, 20 of TCP.
        bit<32> most = mtu - 60 - (bit<32>)GROWTH;
        if (mtu >= LEAST_MTU && most < (bit<32>)hdr.mss.value) {
            bit<16> old = hdr.mss.value;
            bit<16> new = most[15:0];
            hdr.mss.value = new;
            // At an odd place its halves are in the other halves of the checksum's words.
            if (hdr.found.mss_is_odd == 1) {
                old = old[7:0] ++ old[15:8];
                new = new[7:0] ++ new[15:8];
            }
            hdr.tcp.checksum = l4_csum_replace2(hdr.tcp.checksum, old, new, false);
            lowered = true;
        }
    }
}

#endif
