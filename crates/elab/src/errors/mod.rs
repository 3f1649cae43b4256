//! Errors that only instantiation can find. Each function makes one kind of diagnostic.
//!
//! The codes begin at E0550. The codes below, for compile-time evaluation, belong to the checker; two of them are
//! also reported here.

mod entries;
mod field_lists;
mod ids;
mod instances;
mod types;
mod values;

pub(crate) use entries::*;
pub(crate) use field_lists::*;
pub(crate) use ids::*;
pub(crate) use instances::*;
pub(crate) use types::*;
pub(crate) use values::*;

/// All codes that this crate reports, besides those of `arch`.
pub const CODES: &[&str] = &[
    "E0501", "E0503", "E0550", "E0551", "E0552", "E0554", "E0555", "E0556", "E0557", "E0558",
    "E0559", "E0560", "E0561", "E0562", "E0563", "E0564", "E0565", "E0566", "E0567", "E0568",
    "E0571", "E0572", "E0574", "E0575", "E0576", "E0577", "E0578", "E0579", "E0580", "E0581",
    "E0582", "E0583", "E0584", "E0585", "E0586", "E0587", "E0589", "E0590", "E0591", "E0592",
    "E0593", "E0595", "E0596", "E0597", "E0599", "W0550", "W0551", "W0553", "W0554",
];
