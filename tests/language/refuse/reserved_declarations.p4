bit<8> NoAction() { return 1; } //~ E0257 `NoAction` is a function, not an action
const bit<8> main = 5; //~ E0258 `main` is a constant, not an instance
control d(inout bit<8> x) { action a() {} apply { a(); } }
