#include <core.p4>
header h_t { bit<8> x; }
struct pair_t { bit<8> x; bit<8> y; }
struct sig_t { bit<16> a; bit<8> b; }
extern bit<8> of(in bit<8> x);
bit<8> next(in bit<8> x) { return x + 1; }
parser p(packet_in b, in bit<8> run_time, inout h_t h) {
    value_set<bit<16>>(4) words;
    value_set<h_t>(4) headers; //~ E0341 a value set cannot match on `h_t`
    value_set<bit<8>>(0) none; //~ E0250 the size of a value set is 0
    value_set<bit<8>>(run_time) many; //~ E0505 the size of a value set
    state start {
        transition select(b.lookahead<bit<8>>(), run_time) {
            (1, 2, 3): accept; //~ E0440 3 elements for 2 keys
            4: accept; //~ E0440 1 element for 2 keys
            (1, true): accept; //~ E0301 expected `bit<8>`, found `bool`
            (words, 1): accept; //~ E0301 expected `bit<8>`, found `bit<16>`
            (1 &&& true, _): accept; //~ E0301
            _: reject;
        }
    }
    state calls {
        transition select(run_time, h.x) {
            (next(1), _): accept; //~ E0360 cannot call anything
            (_, 0 .. of(next(2))): accept; //~ E0360 cannot call anything
            (b.lookahead<bit<8>>() &&& 1, _): accept; //~ E0360 cannot call anything
            (h.x, 1 .. run_time): reject;
        }
    }
    state two {
        transition select(5) { _: accept; } //~ E0441 without a width
    }
    state three {
        transition select(h) { _: accept; } //~ E0341 `select` cannot match on `h_t`
    }
    state four {
        transition select(h.isValid()) { true .. false: accept; } //~ E0343 not defined on `bool`
    }
    state five {
        transition select(words) { _: accept; } //~ E0205 `words` is a value set
    }
    state six {
        pair_t pair = { 1, run_time };
        transition select(pair) { { 1, 2 }: accept; _: reject; } //~ E0341 `select` cannot match on `pair_t`
    }
    state seven {
        pair_t pair = { 1, run_time };
        transition select({ pair, run_time }) { _: reject; } //~ E0341 `select` cannot match on `tuple<pair_t, bit<8>>`
    }
    state eight {
        error e = error.NoError;
        transition select(e) { error.NoError: accept; _: reject; } //~ E0341 `select` cannot match on `error`
    }
    state nine {
        transition select({ run_time, 5 }) { _: reject; } //~ E0341 `select` cannot match on
    }
}
