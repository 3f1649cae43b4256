@name("a") @name("b") const bit<8> A = 1; //~ W0204 a second `@name`
@name(5) const bit<8> B = 1; //~ E0251 malformed annotation `@name`
@name const bit<8> C = 1; //~ E0251 malformed annotation `@name`
@name("a" "b") const bit<8> C2 = 1; //~ E0251 malformed
@hidden("x") const bit<8> D = 1; //~ E0251 malformed annotation `@hidden`
@noWarn const bit<8> E = 1; //~ E0251 malformed annotation `@noWarn`
@deprecated const bit<8> F = 1; //~ E0251 malformed annotation `@deprecated`
@priority("x") const bit<8> G = 1; //~ E0251 malformed annotation `@priority`
@layout const bit<8> I = 1; //~ E0251 malformed annotation `@layout`
@own[a = 1, a = 2] const bit<8> H = 1; //~ E0253 duplicate key `a`
@field_list(256) const bit<8> L = 1; //~ E0251 malformed annotation `@field_list`
@field_list() const bit<8> M = 1; //~ E0251 malformed annotation `@field_list`
