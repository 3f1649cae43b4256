//! A second target, natively compiled, against the interpreter; and that the emitter knows no target.

#[path = "../../../onpath/tests/common/mod.rs"]
mod common;
#[allow(dead_code)]
#[path = "../../../onpath/tests/differential/entries.rs"]
mod entries;
#[allow(dead_code, unused_imports)]
#[path = "../../../onpath/tests/differential/generate/mod.rs"]
mod generate;
#[allow(dead_code)]
#[path = "../../../onpath/tests/differential/inputs.rs"]
mod inputs;
#[path = "../../../onpath/tests/differential/packets.rs"]
mod packets;

mod compare;
mod neutral;
mod run;
mod target;
