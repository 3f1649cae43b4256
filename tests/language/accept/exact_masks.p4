// A mask of all ones lets one value through: an entry may have it where keys are exact.
#include <core.p4>
match_kind { optional }
type bit<8> id_t;
enum bit<4> kind_t { a = 1, b = 2 }
const bit<16> ALL = 0xffff;
control c(inout bit<8> x, inout bit<16> y, inout id_t i, inout kind_t k) {
    table t {
        key = { x: exact; y: exact; i: exact; k: exact; y: optional @name("again"); }
        actions = { NoAction; }
        const entries = {
            (1 &&& 0xff, 5 &&& ALL, 3 &&& 255, 1 &&& 4w15, 7 &&& 0xffff): NoAction();
            (2, 6 &&& (ALL | 1), 3, kind_t.b, _): NoAction();
        }
    }
    apply { t.apply(); }
}
