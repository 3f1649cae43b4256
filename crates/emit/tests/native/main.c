/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Reads packets on standard input, each after its port and its length (`u32`), and answers each with verdict,
 * port, length and bytes; then all counters, `u64` each. */
#include "program.c"
#include <stdio.h>

static struct packet packet;

static void put(u32 word)
{
    fwrite(&word, sizeof(word), 1, stdout);
}

int main(void)
{
    u32 head[2];

    while (fread(head, sizeof(head), 1, stdin) == 1) {
        u32 verdict, len;

        if (head[1] > LONGEST)
            return 1;
        packet.data = packet.bytes + HEADROOM;
        packet.data_end = packet.data + head[1];
        packet.in_port = head[0];
        packet.out_port = 0;
        turns = 0;
        if (fread(packet.data, 1, head[1], stdin) != head[1])
            return 1;
        verdict = stage_0(&packet);
        len = packet.data_end - packet.data;
        put(verdict);
        put(packet.out_port);
        put(len);
        fwrite(packet.data, 1, len, stdout);
    }
    fwrite(&counters, sizeof(counters), 1, stdout);
    return 0;
}
