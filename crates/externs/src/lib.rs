//! Extern objects and functions: what each means to the interpreter.
