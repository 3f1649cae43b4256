control step_t(inout bit<8> x, in bit<8> by);
control inner(inout bit<8> x, in bit<8> by) { apply { x = x + by; } }
control made(inout bit<8> x)(step_t helper) { apply { helper.apply(x, 1); } }
action outside(inout bit<8> x) { x = 0; }
control c(inout bit<8> x, in bool b) {
    inner() i;
    made(inner()) m;
    bit<8> count = 0;
    action set(bit<8> v) { x = v; if (v == 1) { return; } count = count + 1; }
    action add(inout bit<8> y, in bit<8> z, bit<8> data) { y = y + z + data; set(data); if (b) { exit; } }
    apply {
        i.apply(x, 1);
        i.apply(by = 2, x = x);
        inner.apply(x, 3);
        m.apply(x);
        set(5);
        add(x, 1, 2);
        outside(x);
        if (count == 0) return;
        else { exit; }
    }
}
