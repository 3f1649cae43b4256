//! `ebpf_model`, `xdp_model`: a table's size, as the value of its `implementation` property.
//!
//! ```p4
//! extern array_table { array_table(bit<32> size); }
//! extern hash_table { hash_table(bit<32> size); }
//! ```

use crate::{Extern, Meaning, stateless};

/// `array_table`: the single exact key is below the size.
pub(crate) const ARRAY_TABLE: Extern = Extern {
    name: "array_table",
    meaning: Meaning::Object {
        create: stateless,
        methods: &[],
    },
};

/// `hash_table`
pub(crate) const HASH_TABLE: Extern = Extern {
    name: "hash_table",
    meaning: Meaning::Object {
        create: stateless,
        methods: &[],
    },
};
