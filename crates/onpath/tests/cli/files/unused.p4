#include <core.p4>

control c(out bit<8> result) {
    action never() { }
    bit<8> x;
    apply {
        result = x;
    }
}
