//! A schema from the text of its file.

mod attribute;
mod contents;
mod errors;
mod exchange;
mod field;
mod layout;
mod similar;
mod table;

use crate::keys::MESSAGE;
use crate::{Contents, Extent, Kind, Limits, Next, Schema, Signature, Site, Transport};
use diag::{Diagnostics, FileId, SourceMap, Span};
use layout::Names;
use table::{Source, Table};
use toml::de::DeTable;

pub use similar::similar;

/// A value and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct At<T> {
    pub(crate) value: T,
    pub(crate) span: Span,
}

/// Reads a schema. All errors in it are reported at once.
pub fn load(map: &SourceMap, file: FileId) -> Result<Schema, Diagnostics> {
    let mut source = Source {
        map,
        file,
        errors: Diagnostics::new(),
    };
    let text = map.file(file).text.clone();
    let (root, wrong) = DeTable::parse_recoverable(&text);
    // What follows the first error mostly follows from it.
    let first = wrong
        .iter()
        .min_by_key(|error| error.span().map(|at| at.start));
    if let Some(error) = first {
        let range = error.span().unwrap_or(0..0);
        let marked = text.get(range.clone()).unwrap_or_default();
        let refused = errors::syntax(source.span(range), error.message(), marked);
        source.errors.push(refused);
        return Err(source.errors);
    }
    let start = source.span(0..0);
    let table = source.check(root.get_ref(), start, &MESSAGE);
    let schema = message(&mut source, &table);
    match schema {
        Some(schema) if !source.errors.has_errors() => Ok(schema),
        _ => Err(source.errors),
    }
}

fn message(source: &mut Source, table: &Table) -> Option<Schema> {
    let parts = layout::parts(source, table);
    let names = Names::collect(source, &parts);
    let layouts = layout::all(source, &parts, &names);
    let root = table
        .text("root")
        .and_then(|root| names.layout(source, &root));
    let attributes = attribute::all(source, table, &names, &layouts);
    let schema = Schema {
        name: table.text("name")?.value,
        title: table.text("title")?.value,
        reference: table.text("reference")?.value,
        transport: match table.text("transport")?.value.as_str() {
            "tcp" => Transport::Tcp,
            _ => Transport::Udp,
        },
        ports: table
            .numbers("ports")
            .into_iter()
            .map(|port| port as u16)
            .collect(),
        recognise: signatures(source, table),
        next: None,
        follow: follows(source, table),
        exchange: None,
        limits: limits(source, table),
        root: root?,
        layouts: layouts
            .into_iter()
            .zip(&names.layouts)
            .map(|(layout, named)| layout.whole(named))
            .collect(),
        attributes,
    };
    let next = next(source, table, &schema);
    let exchange = exchange::read(source, table, &schema);
    Some(Schema {
        next,
        exchange,
        ..schema
    })
}

/// Whether messages go on in the next segment, which only those over TCP do.
fn follows(source: &mut Source, table: &Table) -> bool {
    let follows = table.flag("follow");
    if let (true, Some(over)) = (follows, table.text("transport"))
        && over.value != "tcp"
    {
        source.errors.push(errors::no_stream(over.span));
    }
    follows
}

/// What the table of the next message says, of attributes that the schema has.
fn next(source: &mut Source, table: &Table, schema: &Schema) -> Option<Next> {
    let table = table.table(source, "next", &crate::keys::NEXT)?;
    // Of a schema in which something else is wrong, a field that an attribute refers to may be missing.
    if source.errors.has_errors() {
        return None;
    }
    let mut named = |key| {
        let name: At<String> = table.text(key)?;
        let asked = schema.asked(&name.value).ok();
        let is_rest = |site: &Site| {
            let field = &schema.layouts[site.layout].fields[site.field];
            site.layout == schema.root && field.extent == Extent::Rest
        };
        let is_decimal = |site: &Site| {
            schema.layouts[site.layout].fields[site.field].contents == Contents::Decimal
        };
        let wrong = match asked {
            None => errors::no_bytes(name.span, &name.value),
            Some(asked) if asked.kind != Kind::Bytes => {
                let is_decimal = asked.sites.iter().all(is_decimal);
                errors::not_bytes(name.span, &name.value, is_decimal)
            }
            Some(asked) if key == "body" && !asked.sites.iter().all(is_rest) => {
                errors::not_the_rest(name.span, &name.value)
            }
            Some(_) => return Some(name.value),
        };
        source.errors.push(wrong);
        None
    };
    let (body, length, unless) = (named("body"), named("length"), named("unless"));
    let none = exchange::side(source, &table, ("none", &crate::keys::NO_BODY), schema);
    Some(Next {
        body: body?,
        length: length?,
        unless,
        none: none.flatten(),
    })
}

fn signatures(source: &mut Source, table: &Table) -> Vec<Signature> {
    let tables = table.tables(source, "recognise", &crate::keys::SIGNATURE);
    let signature = |table: &Table| {
        Some(Signature {
            at: table.number("at").map_or(0, |at| at.value as usize),
            bytes: table.bytes("bytes")?,
            and: table
                .table(source, "and", &crate::keys::FURTHER)
                .and_then(|and| Some((and.number("at")?.value as usize, and.bytes("bytes")?))),
        })
    };
    tables.iter().filter_map(signature).collect()
}

fn limits(source: &mut Source, table: &Table) -> Limits {
    let limits = table.table(source, "limits", &crate::keys::LIMITS);
    let number = |key| limits.as_ref().and_then(|limits| limits.number(key));
    Limits {
        depth: number("depth").map_or(16, |at| at.value as usize),
        bytes: number("bytes").map_or(1_400, |at| at.value as u32),
        attributes: number("attributes").map_or(16, |at| at.value as u32),
    }
}

#[cfg(test)]
mod tests;
