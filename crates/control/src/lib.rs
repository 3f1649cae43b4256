//! Tables and counters by P4 name: entries, values, p4info, STF, and the store every target implements.
