enum color { red, green, blue }
enum bit<16> ether_t { ipv4 = 0x0800, vlan = 16w0x8100, ipv6 = 0x86dd }
enum bit<8> own_name { own_name = 1, next = own_name + 1 }
enum int<8> level_t { low = -1, high = 1 }
control c(in color k, in bit<16> t, out bit<16> r, out bool b) {
    apply {
        r = ether_t.ipv4;
        ether_t e = (ether_t) t;
        b = k == color.red && e != ether_t.vlan && t == ether_t.ipv6;
        if (ether_t.ipv4 + 1 == 0x0801 && (bit<16>) e == t) { r = (bit<16>) ether_t.vlan; }
        level_t l = level_t.low;
        if (l == level_t.high) { r = r + 1; }
        color d = ...;
        if (d == color.red) { r = e; }
    }
}
