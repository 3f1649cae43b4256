enum color { red, green, blue }
enum bit<8> kind_t { a = 1, b = 2 }
const bit<16> FIVE = 5;
control c(in bit<16> x, in color k, in kind_t t, in bool b, out bit<8> r) {
    apply {
        r = 0;
        switch (x) {
            1:
            2: { r = 1; }
            FIVE: { r = 2; }
            2 + 4: { r = 3; }
            default: { r = 4; }
        }
        switch (k) { color.red: { r = 5; } color.green: color.blue: { r = 6; } }
        switch (t) { kind_t.a: { r = 7; } default: {} }
        switch (b) { true: { r = 8; } false: { r = 9; } }
        switch (x + 1) { 16w0xff: {} default: { r = 10; } }
    }
}
