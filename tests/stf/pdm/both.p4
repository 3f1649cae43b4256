// SPDX-License-Identifier: Apache-2.0
//
// Both directions of one host in one program: what goes into port 0 goes out to the wire, what goes into port 1 came
// in from there.

#define PDM_READS_SYN
#include "../../../programs/pdm/mark.p4h"
#include "../../../programs/pdm/read.p4h"

control both(inout headers_t hdr, in tc_input input, inout tc_output output) {
    egress()  mark;
    ingress() read;

    apply {
        if (input.input_port == 0) {
            mark.apply(hdr, input, output);
        } else {
            read.apply(hdr, input, output);
        }
    }
}

tc(chain(), both(), emit_all()) main;
