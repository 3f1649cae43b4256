//! The rates of meters, and meters by name: `NAME[INDEX]`, or the table and keys of an entry for a direct meter.

use crate::entry::{find, find_table, parse_keys, show_keys};
use crate::errors::{self, Refusal};
use crate::numbers::{bracketed, number};
use crate::{EntryKey, Piece, StoreError};
use schema::{Object, ObjectKind, Schema, Table, Unit};
use serde_json::{Value, json};
use std::fmt;

/// Parameters of a two-rate three-colour meter (RFC 2698). Tokens are packets or bytes, as the meter was declared.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Rates {
    /// Committed rate: tokens a second that are green.
    pub committed: u64,
    /// Committed burst: most tokens that are green at once.
    pub committed_burst: u64,
    /// Peak rate: tokens a second that are green or yellow.
    pub peak: u64,
    /// Peak burst: most tokens that are green or yellow at once.
    pub peak_burst: u64,
}

impl Rates {
    /// Checks the rates, by rules that hold on every target.
    ///
    /// # Errors [`StoreError::Invalid`] if the peak rate is below the committed rate (RFC 2698, section 2).
    pub fn check(&self) -> Result<(), StoreError> {
        if self.peak >= self.committed {
            return Ok(());
        }
        let what = format!(
            "the peak rate is at least the committed rate, and {} is less than {}",
            self.peak, self.committed
        );
        Err(StoreError::Invalid { what })
    }
}

/// Formats `RATE BURST RATE BURST`, as in statements.
impl fmt::Display for Rates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Rates {
            committed,
            committed_burst,
            peak,
            peak_burst,
        } = self;
        write!(f, "{committed} {committed_burst} {peak} {peak_burst}")
    }
}

/// A meter that the control plane can set.
#[derive(Clone, PartialEq, Debug)]
pub enum MeterRef {
    /// An element of an indexed meter.
    Indexed(Object, u64),
    /// The meter that belongs to an entry.
    OfEntry(Table, EntryKey),
}

/// Syntax of setting a meter.
pub const SET: &str = "meter_set NAME[INDEX] RATE BURST RATE BURST: the committed rate a second and its burst, then the \
    peak rate and its burst; or meter_set TABLE [PRIORITY] KEY:MATCH ... RATE BURST RATE BURST";
/// Syntax of removing a meter's rates.
pub const RESET: &str = "meter_reset NAME[INDEX], or meter_reset TABLE [PRIORITY] KEY:MATCH ...";

/// Parses `NAME[INDEX] RATES` or `TABLE KEYS RATES`.
pub fn parse_set(schema: &Schema, text: Piece) -> Result<(MeterRef, Rates), Refusal> {
    let words = text.words();
    let split = words.len().saturating_sub(4);
    let (meter, rates) = words.split_at(split);
    let rates: Option<Vec<u64>> = rates.iter().map(|word| number(word.text)).collect();
    let (Some(&[committed, committed_burst, peak, peak_burst]), [first, .., last] | [first @ last]) =
        (rates.as_deref(), meter)
    else {
        let what = "a meter has two rates, each with a burst";
        return Err(errors::malformed(text.span(), what, SET));
    };
    let rates = Rates {
        committed,
        committed_burst,
        peak,
        peak_burst,
    };
    let meter = meter_ref(schema, between(text, *first, *last), SET)?;
    Ok((meter, rates))
}

/// Parses `NAME[INDEX]` or `TABLE KEYS`.
pub fn parse_reset(schema: &Schema, text: Piece) -> Result<MeterRef, Refusal> {
    meter_ref(schema, text.trim(), RESET)
}

/// Returns the text from the beginning of one word to the end of another.
fn between<'a>(text: Piece<'a>, first: Piece<'a>, last: Piece<'a>) -> Piece<'a> {
    let start = text.span().lo;
    text.part(
        (first.span().lo - start) as usize,
        (last.span().hi - start) as usize,
    )
}

fn meter_ref(schema: &Schema, text: Piece, form: &str) -> Result<MeterRef, Refusal> {
    let (name, rest) = text.first_word();
    if let Some((name, index)) = bracketed(name) {
        let meter = find(indexed(schema), name, "meter")?;
        let Some(index) = number(index.text) else {
            return Err(errors::malformed(
                index.span(),
                "this is not an index",
                form,
            ));
        };
        if !rest.text.is_empty() {
            return Err(errors::malformed(
                rest.span(),
                "this has no meaning here",
                form,
            ));
        }
        return Ok(MeterRef::Indexed(meter, index));
    }
    if let Ok(meter) = find(indexed(schema), name, "meter") {
        // BMv2's form `NAME INDEX`.
        return match number(rest.text) {
            Some(index) => Ok(MeterRef::Indexed(meter, index)),
            None => Err(errors::malformed(text.span(), "the index is missing", form)),
        };
    }
    if direct(schema).next().is_none() {
        find(indexed(schema), name, "meter")?;
    }
    let table = find_table(schema, name)?;
    if direct_meter(schema, table).is_none() {
        return Err(errors::no_meter(name.span(), &schema.tables[table].name));
    }
    let (table, key) = parse_keys(schema, text)?;
    Ok(MeterRef::OfEntry(table, key))
}

/// Returns the meters with an index, with their names.
pub fn indexed(schema: &Schema) -> impl Iterator<Item = (Object, &str)> {
    let all = schema.objects.iter();
    all.filter(|(_, object)| matches!(object.kind, ObjectKind::Meter { .. }))
        .map(|(id, object)| (id, object.name.as_str()))
}

/// Returns the tables whose entries have meters.
pub fn direct(schema: &Schema) -> impl Iterator<Item = Table> {
    let tables = schema.tables.keys();
    tables.filter(|&table| direct_meter(schema, table).is_some())
}

/// Returns the meter that belongs to a table's entries, if there is one.
fn direct_meter(schema: &Schema, table: Table) -> Option<Object> {
    let mut objects = schema.tables[table]
        .objects
        .iter()
        .map(|&(_, object)| object);
    objects.find(|&object| matches!(schema.objects[object].kind, ObjectKind::DirectMeter { .. }))
}

impl MeterRef {
    /// Formats the meter as [`parse_reset`] reads it.
    pub fn show(&self, schema: &Schema) -> String {
        match self {
            MeterRef::Indexed(meter, index) => format!("{}[{index}]", schema.objects[*meter].name),
            MeterRef::OfEntry(table, key) => {
                let keys = show_keys(schema, *table, key);
                format!("{} {keys}", schema.tables[*table].name)
            }
        }
    }

    /// Returns the unit of its tokens.
    pub fn unit(&self, schema: &Schema) -> Unit {
        let meter = match self {
            MeterRef::Indexed(meter, _) => Some(*meter),
            MeterRef::OfEntry(table, _) => direct_meter(schema, *table),
        };
        match meter.map(|meter| &schema.objects[meter].kind) {
            Some(ObjectKind::Meter { unit, .. } | ObjectKind::DirectMeter { unit }) => *unit,
            _ => Unit::Packets,
        }
    }

    /// Returns JSON: `meter` (as [`MeterRef::show`] formats it), `unit`, and the rates and bursts.
    pub fn json(&self, schema: &Schema, rates: &Rates) -> Value {
        json!({
            "meter": self.show(schema),
            "unit": self.unit(schema),
            "committed": { "rate": rates.committed, "burst": rates.committed_burst },
            "peak": { "rate": rates.peak, "burst": rates.peak_burst },
        })
    }
}
