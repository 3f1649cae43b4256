//! Programs of a measurement: the bundle in `programs/pdm`, compiled now or built earlier.

use crate::args::Pdm;
use crate::output::{Stop, refused};
use diag::Diagnostic;
use driver::built;
use driver::bundle::{At, Bundle, Entries};
use driver::run::Unit;
use pdm::filter::{self, Filter};
use pdm::reader::is_measurement;
use pdm::{Mode, errors, instance};
use std::path::{Path, PathBuf};

/// Returns the programs for one interface, with the entries that the flags give.
pub(super) fn unit(args: &Pdm, name: &str, device: &str, filters: &[Filter]) -> Result<Unit, Stop> {
    let mut unit = Unit::from_text(instance::BUNDLE_FILE, instance::BUNDLE)?;
    unit.name = name.to_string();
    match &args.built {
        Some(folder) => take_built(&mut unit.bundle, folder).map_err(refused)?,
        None => {
            clang::find().map_err(|why| refused(errors::not_compiled(why)))?;
        }
    }
    for member in &mut unit.bundle.programs {
        let (table, extra) = match member.name.value.as_str() {
            instance::EGRESS => (
                "egress_filter",
                (args.mode.mode() == Mode::MarkOnce).then_some("setdefault offload mark_once()"),
            ),
            _ => (
                "ingress_filter",
                args.keep_option
                    .then_some("setdefault towards_host leave()"),
            ),
        };
        let mut lines = filter::entries(table, filters);
        lines.extend(extra.map(String::from));
        member.ports.dev = vec![device.to_string()];
        member.entries = Some(Entries::Lines(lines.into_iter().map(At::nowhere).collect()));
    }
    Ok(unit)
}

/// Replaces the programs' texts by objects. Their shared state and hooks stay the same.
fn take_built(bundle: &mut Bundle, folder: &Path) -> Result<(), Box<Diagnostic>> {
    let object = |program: &str| -> PathBuf { folder.join(program).with_extension("o") };
    let read = |program| built::read(&object(program)).map_err(errors::not_read);
    let (egress, ingress) = (read(instance::EGRESS)?, read(instance::INGRESS)?);
    if !is_measurement(&egress.schema, &ingress.schema) {
        return Err(errors::other_programs(folder));
    }
    for member in &mut bundle.programs {
        member.source = At::nowhere(object(&member.name.value));
    }
    Ok(())
}
