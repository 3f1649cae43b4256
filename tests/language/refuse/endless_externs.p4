extern grows<T> {
    grows();
    void f(in T x);
    void g(grows<grows<T>> x); //~ E0255 the type of this method of `grows` never ends
    grows<tuple<T>> h(); //~ E0255 the type of this method
    void i(grows<T> x, grows<bit<8>> y);
}
extern numbers { numbers(); int count(); } //~ E0249 a function cannot return `int`
