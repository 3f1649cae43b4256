typedef bit<8> t;
bit<8> helper(in bit<8> x) { return x; } //~ W0203 no `main`
