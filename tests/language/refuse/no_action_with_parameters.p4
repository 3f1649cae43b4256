action NoAction(in bit<8> x) {} //~ E0257 `NoAction` is an action with parameters
control main(inout bit<8> x) { apply {} } //~ E0258 `main` is a control
