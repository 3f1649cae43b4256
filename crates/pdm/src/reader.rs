//! Reader of the running programs' maps, which makes a [`Snapshot`].

use crate::Mode;
use crate::counters;
use crate::histogram::{BUCKETS, Histogram};
use crate::history::{History, Sums};
use crate::snapshot::{Delays, MeasuredFlow, Snapshot};
use crate::state::{self, FieldIndices};
use control::{Store, StoreError};
use schema::{Field, Object, ObjectKind, Schema, Table};
use std::time::{SystemTime, UNIX_EPOCH};

/// Properties of a measurement.
#[derive(Clone, Debug)]
pub struct About {
    /// The interface.
    pub interface: String,
    /// Start of the measurement, in seconds since 1970.
    pub began: u64,
}

/// Reader of the programs' maps.
pub struct Reader {
    about: About,
    mode: &'static str,
    egress: Box<dyn Store>,
    ingress: Box<dyn Store>,
    indices: Indices,
    layout: FieldIndices,
    history: History,
}

/// Objects that are read, by their names in the programs.
#[derive(Debug)]
struct Indices {
    flows: Object,
    sent: Object,
    received: Object,
    delays: Delays<Object>,
}

/// Finds the objects that are read, in programs with these schemas; `None` if they are not those of `programs/pdm`.
fn find(egress: &Schema, ingress: &Schema) -> Option<(Indices, FieldIndices)> {
    let indices = Indices {
        flows: named(ingress, "flows")?,
        sent: named(egress, "egress_packets")?,
        received: named(ingress, "ingress_packets")?,
        delays: Delays {
            round_trip: named(ingress, "round_trip_delay")?,
            server: named(ingress, "server_delay")?,
            network: named(ingress, "network_delay")?,
        },
    };
    offload(egress)?;
    let layout = layout(ingress, indices.flows)?;
    Some((indices, layout))
}

/// Returns true if programs with these schemas are a measurement.
pub fn is_measurement(egress: &Schema, ingress: &Schema) -> bool {
    find(egress, ingress).is_some()
}

impl Reader {
    /// Returns a reader of the programs of `programs/pdm`; `None` if these are other programs.
    pub fn new(about: About, egress: Box<dyn Store>, ingress: Box<dyn Store>) -> Option<Reader> {
        let (indices, layout) = find(egress.schema(), ingress.schema())?;
        Some(Reader {
            layout,
            mode: mode(&*egress)?,
            about,
            egress,
            ingress,
            indices,
            history: History::default(),
        })
    }

    /// Reads the current state.
    pub fn look(&mut self) -> Result<Snapshot, StoreError> {
        let mut flows = self.flows()?;
        state::order(&mut flows);
        let Sums { packets, delays } = self.history.look(&flows);
        let sent = counts(&*self.egress, self.indices.sent, counters::SIZES[0])?;
        let received = counts(&*self.ingress, self.indices.received, counters::SIZES[1])?;
        let histogram = |counter, sum| -> Result<Histogram, StoreError> {
            Ok(Histogram::of(
                &counts(&*self.ingress, counter, BUCKETS)?,
                sum,
            ))
        };
        let indices = &self.indices.delays;
        let time_ns = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |d| d.as_nanos() as u64);
        Ok(Snapshot {
            interface: self.about.interface.clone(),
            mode: self.mode,
            time_ns,
            measured_ns: time_ns.saturating_sub(self.about.began.saturating_mul(1_000_000_000)),
            totals: counters::totals(&sent, &received, packets),
            delays: Delays {
                round_trip: histogram(indices.round_trip, delays.round_trip)?,
                server: histogram(indices.server, delays.server)?,
                network: histogram(indices.network, delays.network)?,
            },
            flows,
        })
    }

    fn flows(&self) -> Result<Vec<MeasuredFlow>, StoreError> {
        let known = self.ingress.flows(self.indices.flows)?;
        let flow = |control::Flow { key, value, .. }| self.layout.flow(&key, &value);
        Ok(known.into_iter().map(flow).collect())
    }
}

/// Returns the extern of this name, in any control.
fn named(schema: &Schema, name: &str) -> Option<Object> {
    let is_it = |known: &str| known.rsplit('.').next() == Some(name);
    let mut all = schema.objects.iter();
    all.find(|(_, data)| is_it(&data.name)).map(|(id, _)| id)
}

/// Finds the fields of a flow, in a state with the names of `programs/pdm`.
fn layout(schema: &Schema, flows: Object) -> Option<FieldIndices> {
    let ObjectKind::FlowState { key, value } = &schema.objects[flows].kind else {
        return None;
    };
    let names = |fields: &[Field]| fields.iter().map(|f| f.name.clone()).collect::<Vec<_>>();
    FieldIndices::of(&names(key), &names(value))
}

/// Returns the table whose default action is the mode of marking.
fn offload(egress: &Schema) -> Option<Table> {
    let is_it = |known: &str| known.rsplit('.').next() == Some("offload");
    let mut tables = egress.tables.iter();
    tables.find(|(_, t)| is_it(&t.name)).map(|(id, _)| id)
}

/// Returns the mode of marking that the programs are configured for.
fn mode(egress: &dyn Store) -> Option<&'static str> {
    let id = offload(egress.schema())?;
    let call = egress.default_action(id).ok()?;
    let action = &egress.schema().called(id, &call).name;
    Some(if action.ends_with("mark_once") {
        Mode::MarkOnce.name()
    } else {
        Mode::Conformant.name()
    })
}

fn counts(store: &dyn Store, counter: Object, size: u64) -> Result<Vec<u64>, StoreError> {
    (0..size)
        .map(|index| store.counter(counter, index).map(|count| count.packets))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::{self, Filter};
    use control::entries;
    use diag::{SourceMap, Span};
    use driver::Input;

    fn schema(name: &str) -> Schema {
        let input = Input::file(format!("<onpath>/pdm/{name}.p4"));
        let elaborated = driver::elaborate(&input);
        let elaborated = elaborated.unwrap_or_else(|_| panic!("{name} is refused"));
        Schema::of(&elaborated.program)
    }

    fn size(schema: &Schema, counter: &str) -> u64 {
        let counter = named(schema, counter).expect("it is there");
        match schema.objects[counter].kind {
            ObjectKind::Counter { size, .. } => size,
            ref other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_programs_keep_what_is_read() {
        let (egress, ingress) = (schema("egress"), schema("ingress"));
        assert_eq!(size(&egress, "egress_packets"), counters::SIZES[0]);
        assert_eq!(size(&ingress, "ingress_packets"), counters::SIZES[1]);
        for delay in ["round_trip_delay", "server_delay", "network_delay"] {
            assert_eq!(size(&ingress, delay), BUCKETS);
        }
        let flows = named(&ingress, "flows").expect("it is there");
        assert!(
            layout(&ingress, flows).is_some(),
            "{:?}",
            ingress.objects[flows]
        );
    }

    #[test]
    fn only_the_programs_in_their_places_are_a_measurement() {
        let (egress, ingress) = (schema("egress"), schema("ingress"));
        assert!(is_measurement(&egress, &ingress));
        assert!(!is_measurement(&ingress, &egress));
        assert!(!is_measurement(&egress, &egress));
        assert!(!is_measurement(&Schema::default(), &Schema::default()));
    }

    #[test]
    fn the_programs_take_what_flags_put_into_their_tables() {
        let filters = ["2001:db8::/32/443", "/80", "::/0", "fd00::1/128"];
        let filters = filters.map(|text| Filter::parse(text).expect("a filter"));
        for (name, table, extra) in [
            ("egress", "egress_filter", "setdefault offload mark_once()"),
            (
                "ingress",
                "ingress_filter",
                "setdefault towards_host leave()",
            ),
        ] {
            let mut lines = filter::entries(table, &filters);
            lines.push(extra.into());
            let mut map = SourceMap::new();
            let file = map.add("entries", lines.join("\n")).expect("small");
            let changes = entries::parse(&schema(name), &map, file);
            let changes = changes.unwrap_or_else(|wrong| panic!("{wrong:?}"));
            assert_eq!(changes.changes.len(), lines.len());
            assert!(changes.spans.iter().all(|span| *span != Span::NONE));
        }
    }
}
