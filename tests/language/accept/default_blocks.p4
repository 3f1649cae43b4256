// A default argument of a package may choose what the package is generic in; a block may do without what is optional.
control block_t<T>(inout T x);
control reads_t<T, U>(in T x, in U y);
control with_more(inout bit<8> x, @optional in bit<16> y, @optional inout bit<16> z);
control one(inout bit<8> x) { apply { x = 1; } }
control two(inout bit<16> x) { apply { x = 1; } }
control any<T>(inout T x) { apply { } }
control reads<T>(in T x, in bit<4> y) { apply { } }
control few(inout bit<8> x) { apply { x = 2; } }
control some(inout bit<8> x, in bit<16> y) { apply { x = (bit<8>) y; } }
package whole<T, U, V>(block_t<T> a, block_t<U> b = two(), reads_t<T, V> c = reads(), block_t<T> d = any(), with_more e = few(), with_more f = some(), V g = 4w3);
package numbers<T>(T x = 8w5, bit<8> y = 3);
package top<T, U, V>(whole<T, U, V> w, numbers<_> n = numbers());
top(whole(one())) main;
