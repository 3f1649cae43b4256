#include <core.p4>
header h_t {
    bit<8> f
    bit<8> g;
}
const bit<8> X = 8w0x;
control c() {
    apply {
        x = ;
        y = 1;
    }
}
