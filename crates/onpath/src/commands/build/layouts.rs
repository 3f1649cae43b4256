//! Part of the report: the search structures of tables that could have another one.

use bpf::abi::Abi;
use kernel::memory::{self, MapNeed};
use layout::Structure;
use serde_json::{Value, json};

/// Describes each table and value set with a choice of structures: its `kind`, `name`, `layout`, maximum number of
/// `entries`, and the `memory` of its maps. The memory is in bytes, when the program is `loaded` and when the maps
/// are `full`.
pub(super) fn describe(abi: &Abi, needs: &[MapNeed]) -> Value {
    let tables = abi.contents.tables.iter();
    let tables = tables.map(|table| ("table", &table.name, table.capacity, &table.lookup));
    let sets = abi.contents.value_sets.iter();
    let sets = sets.map(|set| ("value_set", &set.name, set.capacity, &set.lookup));
    let described = tables
        .chain(sets)
        .filter_map(|(kind, name, capacity, lookup)| {
            let layout = lookup.structure()?;
            let own = needs
                .iter()
                .filter(|map| map.role == kind && map.name == *name);
            let (loaded, full) = own.fold((0u64, 0u64), |(loaded, full), map| {
                let need = map.need;
                (
                    loaded.saturating_add(need.loaded),
                    full.saturating_add(need.full),
                )
            });
            Some(json!({
                "kind": kind,
                "name": name,
                "layout": layout.name(),
                "entries": capacity,
                "memory": { "loaded": loaded, "full": full },
            }))
        });
    described.collect()
}

/// Returns the description as text.
pub(super) fn show(described: &Value) -> String {
    let all = described.as_array().map_or(&[][..], Vec::as_slice);
    let line = |layout: &Value| {
        let text = |key: &str| layout[key].as_str().unwrap_or_default().to_owned();
        let layouts = Structure::ALL.into_iter();
        let what = layouts.filter(|l| l.name() == text("layout"));
        let what: String = what.map(bpf::table::title).collect();
        let full = layout["memory"]["full"].as_u64().unwrap_or_default();
        format!(
            "{} {}: {what}, {} entries, {}\n",
            text("kind").replace('_', " "),
            text("name"),
            layout["entries"],
            memory::readable(full)
        )
    };
    all.iter().map(line).collect()
}
