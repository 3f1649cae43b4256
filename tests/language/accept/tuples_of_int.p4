// Numbers without a width in a tuple have their values at compile time: a variable of such a type keeps its first one.
const tuple<int, int> PAIR = { 1, 2 };
const tuple<int, bit<8>, bool> MIXED = { 1, 2, true };
const tuple<tuple<int, int>, string> NESTED = { PAIR, "x" };
control c(inout bit<8> x, inout bit<16> y) {
    tuple<int, int> own = { 3, 4 };
    apply {
        tuple<int, bit<8>> inside = { 5, 6 };
        tuple<int, int> copy = PAIR;
        x = own[0] + MIXED[1] + inside[1];
        y = own[1] + copy[0];
        x = NESTED[0][1] + inside[0];
    }
}
