//! A typed C tree, its printer, and IR expressions as C.
