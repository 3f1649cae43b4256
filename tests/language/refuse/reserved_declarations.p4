bit<8> NoAction() { return 1; } //~ E0257 `NoAction` is a function, not an action
const bit<8> main = 5; //~ E0258 `main` is a constant, not an instance
control d(inout bit<8> x) { action a() {} apply { a(); } }
control e(inout bit<8> x) {
    action NoAction() { x = 1; } //~ E0257 `NoAction` is an action with statements
    apply { NoAction(); }
}
control f(inout bit<8> x) {
    action NoAction(bit<8> y) { x = y; } //~ E0257 `NoAction` is an action with parameters
    apply { NoAction(1); }
}
control g(inout bit<8> x) {
    bit<8> NoAction = 2; //~ E0257 `NoAction` is a variable
    apply { x = NoAction; }
}
