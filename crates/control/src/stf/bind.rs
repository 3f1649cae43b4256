//! A script bound to a schema. Names are resolved and values checked once, before the first packet is sent.

use super::lookup::{
    ArrayKind, counted_entry, direct_counter, find_object, piece, register_value, require_unit,
};
use super::script::{Comparison, Pattern, Script, Statement, StatementKind};
use crate::call::Omitted;
use crate::digest::{DigestPattern, find_digest};
use crate::entry::{self, find_table, parse_keys, parse_member};
use crate::errors::{self, Refusal};
use crate::metric::{Asked, parse_asked};
use crate::{Change, EntryKey, Packet, meter, name_set, profile};
use diag::{Diagnostics, Span};
use schema::{Bits, Object, Schema, Table};

/// A script that runs on every device whose program has the schema.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Bound {
    /// Steps in order, each with the location of its statement.
    pub(super) steps: Vec<(BoundStatement, Span)>,
    /// Warnings about parts of the script that most likely mean something else.
    pub warnings: Diagnostics,
}

/// Action of a statement.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum BoundStatement {
    Send(Packet),
    /// Port and pattern; without a pattern any packet is expected.
    Expect(u32, Option<Pattern>),
    /// Port; without one, all ports.
    NoPacket(Option<u32>),
    Change(Change),
    /// Removes the entries that are not the program's own, from one table or all.
    RemoveAdded(Option<Table>),
    CheckCounter(Check),
    CheckMetric(MetricCheck),
    ReadRegister(Cell, Vec<Bits>),
    WriteRegister(Cell, Vec<Bits>),
    ResetRegister(Object),
    /// Pattern of a digest, and its text in the script.
    ExpectDigest(DigestPattern, String),
    /// Number of the digest; without one, any digest.
    NoDigest(Option<u32>),
    /// Time in nanoseconds.
    Wait(u64),
    Nothing,
}

/// An element of an array.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Cell {
    pub object: Object,
    pub index: u64,
    /// Its text in the script.
    pub shown: String,
}

/// A metric with its expected value.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct MetricCheck {
    pub object: Object,
    pub asked: Asked,
    /// Its text in the script.
    pub shown: String,
    pub op: Comparison,
    pub value: u64,
}

/// A counter with its expected value.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Check {
    pub counter: Counter,
    /// The counter or table as it is in the script.
    pub shown: String,
    /// True for bytes instead of packets.
    pub bytes: bool,
    pub op: Comparison,
    pub value: u64,
}

#[derive(Clone, PartialEq, Debug)]
pub(super) enum Counter {
    Indexed(Object, u64),
    OfEntry(Table, EntryKey),
}

/// Binds a script whose statements were parsed without errors.
///
/// # Errors Every name and value that the schema does not have or accept.
pub fn bind(script: &Script, schema: &Schema) -> Result<Bound, Diagnostics> {
    let mut bound = Bound::default();
    let mut diagnostics = Diagnostics::new();
    for statement in &script.statements {
        let mut warnings = Vec::new();
        let step = step(statement, schema, &mut Omitted::Zero(&mut warnings));
        warnings.into_iter().for_each(|w| bound.warnings.push(w));
        match step {
            Ok(step) => bound.steps.push((step, statement.span)),
            Err(refusal) => diagnostics.push(*refusal),
        }
    }
    if diagnostics.has_errors() {
        Err(diagnostics)
    } else {
        Ok(bound)
    }
}

fn step(
    statement: &Statement,
    schema: &Schema,
    omitted: &mut Omitted<'_>,
) -> Result<BoundStatement, Refusal> {
    let step = unchecked(statement, schema, omitted)?;
    if let BoundStatement::Change(change) = &step {
        let not_done = || errors::not_done(schema, change);
        let checked = change.check();
        checked.map_err(|error| errors::store(statement.span, &not_done(), &error))?;
    }
    Ok(step)
}

fn unchecked(
    statement: &Statement,
    schema: &Schema,
    omitted: &mut Omitted<'_>,
) -> Result<BoundStatement, Refusal> {
    let cell = |cell: &super::script::Cell, object| Cell {
        object,
        index: cell.index,
        shown: format!("{}[{}]", cell.name.text, cell.index),
    };
    Ok(match &statement.kind {
        StatementKind::Packet { port, bytes } => BoundStatement::Send(Packet {
            port: *port,
            bytes: bytes.clone(),
        }),
        StatementKind::Expect { port, pattern } => BoundStatement::Expect(*port, pattern.clone()),
        StatementKind::NoPacket { port } => BoundStatement::NoPacket(*port),
        StatementKind::Wait(time) => BoundStatement::Wait(*time),
        StatementKind::Nothing => BoundStatement::Nothing,
        StatementKind::MulticastGroup { group, replicas } => {
            BoundStatement::Change(Change::Group(*group, replicas.clone()))
        }
        StatementKind::CloneSession { session, to } => {
            BoundStatement::Change(Change::Session(*session, to.clone()))
        }
        StatementKind::ActionMember(text) => {
            let (profile, member, to) = profile::parse_member(schema, piece(text))?;
            BoundStatement::Change(Change::Member(profile, member, to))
        }
        StatementKind::ActionGroup(text) => {
            let (selector, group, members) = profile::parse_member_group(schema, piece(text))?;
            BoundStatement::Change(Change::MemberGroup(selector, group, members))
        }
        StatementKind::MeterSet(text) => {
            let (meter, rates) = meter::parse_set(schema, piece(text))?;
            BoundStatement::Change(Change::Meter(meter, Some(rates)))
        }
        StatementKind::MeterReset(text) => {
            let meter = meter::parse_reset(schema, piece(text))?;
            BoundStatement::Change(Change::Meter(meter, None))
        }
        StatementKind::Add(text) => {
            let (table, entry) = entry::entry(schema, piece(text), omitted)?;
            BoundStatement::Change(Change::Insert(table, entry))
        }
        StatementKind::Remove(text) => {
            let (table, key) = parse_keys(schema, piece(text))?;
            BoundStatement::Change(Change::Remove(table, key))
        }
        StatementKind::RemoveAll(None) => BoundStatement::RemoveAdded(None),
        StatementKind::RemoveAll(Some(table)) => {
            BoundStatement::RemoveAdded(Some(find_table(schema, piece(table))?))
        }
        StatementKind::SetDefault(text) => {
            let (table, call) = entry::default(schema, piece(text), omitted)?;
            BoundStatement::Change(Change::SetDefault(table, call))
        }
        StatementKind::CheckCounter {
            name,
            index,
            keys,
            bytes,
            op,
            value,
        } => {
            let counter = match index {
                Some(index) => {
                    let counter = find_object(schema, name, ArrayKind::Counter)?;
                    require_unit(schema, name, counter, *bytes)?;
                    Counter::Indexed(counter, *index)
                }
                None => {
                    let (table, key) = counted_entry(schema, name, keys)?;
                    if let Some(counter) = direct_counter(schema, table) {
                        require_unit(schema, name, counter, *bytes)?;
                    }
                    Counter::OfEntry(table, key)
                }
            };
            let element = index.map_or(String::new(), |i| format!("[{i}]"));
            BoundStatement::CheckCounter(Check {
                counter,
                shown: format!("{}{element}", name.text),
                bytes: *bytes,
                op: *op,
                value: *value,
            })
        }
        StatementKind::CheckMetric { asked, op, value } => {
            let shown = asked.text.clone();
            let (object, asked) = parse_asked(schema, piece(asked))?;
            BoundStatement::CheckMetric(MetricCheck {
                object,
                asked,
                shown,
                op: *op,
                value: *value,
            })
        }
        StatementKind::RegisterRead(at, value) => {
            let (register, value) = register_value(schema, at, value)?;
            BoundStatement::ReadRegister(cell(at, register), value)
        }
        StatementKind::RegisterWrite(at, value) => {
            let (register, value) = register_value(schema, at, value)?;
            BoundStatement::WriteRegister(cell(at, register), value)
        }
        StatementKind::RegisterReset(name) => {
            BoundStatement::ResetRegister(find_object(schema, name, ArrayKind::Register)?)
        }
        StatementKind::ExpectDigest(text) => {
            let pattern = DigestPattern::parse(schema, piece(text))?;
            BoundStatement::ExpectDigest(pattern, text.text.clone())
        }
        StatementKind::NoDigest(name) => {
            let name = name.as_ref().map(|name| find_digest(schema, piece(name)));
            BoundStatement::NoDigest(name.transpose()?)
        }
        StatementKind::ValueSetAdd(text) => {
            let (set, member) = parse_member(schema, piece(text))?;
            BoundStatement::Change(Change::InsertMember(set, member))
        }
        StatementKind::NameSet(line) => {
            let line = piece(line);
            let change = name_set::parse(schema, line);
            let Some(change) = change.transpose()? else {
                return Err(errors::unknown_statement(line.span(), line.text, &[]));
            };
            BoundStatement::Change(change)
        }
        StatementKind::ValueSetRemove(text) => {
            let (set, member) = parse_member(schema, piece(text))?;
            BoundStatement::Change(Change::RemoveMember(set, member))
        }
    })
}
