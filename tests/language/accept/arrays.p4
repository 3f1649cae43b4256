#include <core.p4>
header h_t { bit<8> x; }
struct s_t { bit<8> a; bool b; bit<16>[3] c; h_t h; }
struct m_t { bit<8> c_style[4]; s_t[2] structs; bit<4>[3][2] nested; h_t empty[0]; error[2] errors; }
control c(inout m_t m, inout bit<8> i, inout h_t[2] hs) {
    bit<8> two[4][2];
    apply {
        m.c_style[i] = m.c_style[2] + two[3][1];
        two[i][i] = (bit<8>) m.nested[i][1];
        m.structs[i].c[i] = 5;
        m.structs[1] = {1, true, {1, 2, 3}, {7}};
        m.structs[0].h.setValid();
        m.c_style = {1, 2, 3, 4};
        i = i + (bit<8>) m.empty.size + (bit<8>) m.c_style.size;
        for (bit<8> x in m.c_style) { i = i + x; }
        hs = {{1}, {2}};
        hs = {{1}, ...};
    }
}
