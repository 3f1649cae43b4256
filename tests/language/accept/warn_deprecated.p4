@deprecated("use new_one") extern void old_one(in bit<8> x);
extern void twice(in bit<8> x);
@deprecated("use one argument") extern void twice(in bit<8> x, in bit<8> y);
@noWarn("deprecated") control quiet() { apply { old_one(1); } }
control c() {
    apply {
        old_one(1); //~ W0202 `old_one` is deprecated
        twice(1);
        twice(1, 2); //~ W0202 `twice` is deprecated
    }
}
