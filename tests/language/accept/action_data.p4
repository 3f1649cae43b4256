match_kind { exact }
action NoAction() {}
enum color_t { red, green }
struct next_t { bit<8> port; bit<16> weight; }
control c(inout bit<8> x) {
    action NoAction() {}
    action paint(color_t color, next_t next) { if (color == color_t.red) { x = next.port; } }
    table fixed {
        key = { x: exact; }
        actions = { paint; }
        const entries = { 1: paint(color_t.red, { 1, 2 }); }
        const default_action = paint(color_t.green, { port = 3, weight = 4 });
    }
    table with_entries {
        key = { x: exact; }
        actions = { paint; NoAction; }
        const entries = { 1: paint(color_t.red, { 1, 2 }); }
        default_action = NoAction();
    }
    table marked {
        key = { x: exact; }
        actions = { @tableonly paint; NoAction; }
        const entries = { 1: paint(color_t.red, { 1, 2 }); }
        default_action = NoAction();
    }
    table by_default {
        key = { x: exact; }
        actions = { @defaultonly paint; NoAction; }
        const default_action = paint(color_t.red, { 5, 6 });
    }
    apply {
        paint(color_t.green, { 7, 8 });
        fixed.apply();
        with_entries.apply();
        marked.apply();
        by_default.apply();
    }
}
