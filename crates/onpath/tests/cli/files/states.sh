# `states NUMBER [AHEAD]` prints a program whose parser has a chain of so many states, each with an edge to `accept`
# and, where it is said how far ahead, one to a later state.
states() {
    printf '%s\n' '#include <ebpf_model.p4>' 'header b_t { bit<8> v; }' 'struct h_t { b_t b; }' \
        'parser prs(packet_in p, out h_t h) {' '    state start { transition s1; }'
    awk -v n="$1" -v ahead="${2:-0}" 'BEGIN {
        for (i = 1; i <= n; i++) {
            later = ahead && i + ahead <= n ? sprintf(" 2: s%d;", i + ahead) : ""
            next_state = i < n ? "s" (i + 1) : "accept"
            printf "    state s%d { p.extract(h.b); transition select(h.b.v) { 1: %s;%s default: accept; } }\n", i, next_state, later
        }
    }'
    printf '%s\n' '}' 'control flt(inout h_t h, out bool accept) { apply { accept = h.b.isValid(); } }' \
        'ebpfFilter(prs(), flt()) main;'
}
