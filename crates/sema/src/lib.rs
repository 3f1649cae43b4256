//! Names, types, inference and constant evaluation: syntax tree to HIR.
