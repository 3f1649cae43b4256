// An extern that mentions itself, whatever its type arguments.
extern grows<T> {
    grows();
    grows(grows<T> other); //~ E0255 the extern `grows` mentions itself
    void f(in T x);
    void g(grows<grows<T>> x); //~ E0255 the extern `grows` mentions itself
    grows<tuple<T>> h(); //~ E0255 mentions itself
    void i(bit<8> x, grows<bit<8>> y); //~ E0255 mentions itself
}
extern plain {
    plain();
    plain next(); //~ E0255 the extern `plain` mentions itself
    void takes(grows<plain> x); //~ E0255 mentions itself
}
void joins(plain a, plain b) {}
control around(inout bit<8> x)(around inner) { apply {} } //~ E0208 `around` uses itself
extern numbers { numbers(); int count(); } //~ E0249 a function cannot return `int`
