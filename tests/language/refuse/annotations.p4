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
@own[{ 1, 2 }] const bit<8> N = 1; //~ E0262 cannot be a list
@own[sizes = { 1, 2 }, unit = "bytes"] const bit<8> O = 1; //~ E0262 cannot be a list
const tuple<bit<8>, bit<8>> PAIR = { 1, 2 };
@own[PAIR, 3] const bit<8> P = 1; //~ E0262 cannot be a list
@own[LATER] const bit<8> Q = 1; //~ E0203 `LATER` is used before its declaration
const bit<8> LATER = 1;
@pkginfo const bit<8> R = 1; //~ E0251 malformed annotation `@pkginfo`
@pkginfo("router") const bit<8> S = 1; //~ E0251 malformed annotation `@pkginfo`
@pkginfo(name, version="1") const bit<8> T = 1; //~ E0251 malformed annotation `@pkginfo`
@pkginfo["router"] const bit<8> U = 1; //~ E0251 malformed annotation `@pkginfo`
@p4runtime_translation("a/flag", bool) type bit<1> flag_t; //~ E0251 malformed annotation `@p4runtime_translation`
@p4runtime_translation("a/offset", int<32>) type bit<32> offset_t; //~ E0251 malformed
@p4runtime_translation(32) type bit<32> port_t; //~ E0251 malformed
@p4runtime_translation("a/port") type bit<32> other_port_t; //~ E0251 malformed
@p4runtime_translation type bit<32> third_port_t; //~ E0251 malformed
@field_list() const bit<8> M = 1; //~ E0251 malformed annotation `@field_list`
