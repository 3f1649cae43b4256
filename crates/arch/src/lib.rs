//! Architecture models: which blocks, intrinsic metadata and externs a program may use.
