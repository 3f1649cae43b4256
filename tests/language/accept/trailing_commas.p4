#include <core.p4>
error { Mine, Yours, }
match_kind { fuzzy, }
enum color { red, green, }
enum bit<8> kind { a = 1, b = 2, }
struct s_t { bit<8> a; bit<8> b; }
const list<bit<8>> NUMBERS = { 1, 2, };
const list<s_t> PAIRS = { { 1, 2, }, { b = 3, a = 4, }, };
control c(inout s_t s, in error e, in color k) {
    apply {
        s = { 1, 2, };
        s = { a = 1, b = 2, };
        tuple<bit<8>, bit<8>> t = { 1, 2, };
        if (e == error.Mine && k == color.green) { s.a = t[1] + kind.a; }
    }
}
