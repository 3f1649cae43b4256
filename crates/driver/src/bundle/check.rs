//! Checks of a bundle whose programs are valid one by one: their hooks, their entries and their shared state.

use super::devices::check_groups;
use super::share::shared_maps;
use super::{Bundle, check_room, entries};
use bpf::abi::{Abi, Hook};
use diag::{Diagnostics, SourceMap};
use ir::Program;
use kernel::bundle::SharedMap;
use schema::Schema;

/// A program of a bundle.
#[derive(Clone, Copy)]
pub struct CheckedProgram<'a> {
    /// The hook at which it runs.
    pub hook: Hook,
    /// The layout of its maps; `None` if it does not fit its hook.
    pub abi: Option<&'a Abi>,
    /// Its objects for the control plane.
    pub schema: &'a Schema,
    /// Its elaborated program, on which the interpreter tries the entries; `None` leaves that to the kernel.
    pub program: Option<&'a Program>,
}

/// Checks programs with their entries, and together. `map` has the bundle's text; the files of entries are added to
/// it.
///
/// # Errors
///
/// A file of entries cannot be read; the text says why.
pub fn check(
    bundle: &Bundle,
    parts: &[CheckedProgram<'_>],
    map: &mut SourceMap,
) -> Result<Diagnostics, String> {
    let mut wrong = Diagnostics::new();
    for (member, part) in bundle.programs.iter().zip(parts) {
        let file = entries::open(map, member.entries.as_ref())?;
        let file = file.map(|file| control::import::entries(part.schema, map, file));
        let checked = file
            .transpose()
            .and_then(|file| entries::check(map, member, file, *part));
        wrong.append(checked.unwrap_or_else(|wrong| wrong));
    }
    wrong.append(together(bundle, parts).err().unwrap_or_default());
    Ok(wrong)
}

/// Checks programs together. Returns the maps that they share; shares are checked only if every program fits its
/// hook.
pub fn together(
    bundle: &Bundle,
    parts: &[CheckedProgram<'_>],
) -> Result<Vec<SharedMap>, Diagnostics> {
    let hooks: Vec<Hook> = parts.iter().map(|part| part.hook).collect();
    let mut wrong = check_room(bundle, &hooks).err().unwrap_or_default();
    let fitting = parts.iter().map(|part| Some((part.abi?, part.schema)));
    let mut shared = Vec::new();
    if let Some(fitting) = fitting.collect::<Option<Vec<_>>>() {
        match shared_maps(bundle, &fitting) {
            Ok(maps) => shared = maps,
            Err(clashes) => wrong.append(clashes),
        }
        wrong.append(check_groups(bundle, &fitting).err().unwrap_or_default());
    }
    match wrong.has_errors() {
        true => Err(wrong),
        false => Ok(shared),
    }
}
