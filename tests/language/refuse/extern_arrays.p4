extern persistent<T> { persistent(); T get(); }
control inner(inout bit<8> x) { apply { x = 1; } }
control c(inout bit<8> x) {
    inner() many[2]; //~ E0303 `inner` cannot be the element of an array
    persistent<bit<8>>() many_more[1025]; //~ E0323 1025 elements
    persistent<bit<8>>() two[2];
    apply {
        x = two[2].get(); //~ E0318 index 2 is out of range
        x = two.get(); //~ E0207 no method `get`
    }
}
