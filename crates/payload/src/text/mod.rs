//! A schema from the text of its file.

mod attribute;
mod contents;
mod errors;
mod exchange;
mod field;
mod layout;
mod lint;

use crate::keys::FORM;
use crate::{Contents, Extent, Kind, Limits, Next, Schema, Signature, Site, Transport};
use diag::{Diagnostics, FileId, SourceMap};
use layout::Names;
use settings::{At, Document, Table};

/// Reads a schema. All errors in it are reported at once.
pub fn load(map: &SourceMap, file: FileId) -> Result<Schema, Diagnostics> {
    Document::parse(map, file).read(&FORM, |table, report| message(report, table))
}

/// Warnings about a schema without errors: what it may not mean as it is written.
pub fn lint(map: &SourceMap, file: FileId) -> Diagnostics {
    let warned = Document::parse(map, file).read(&FORM, |table, report| {
        Some(lint::warnings(&message(report, table)?, table))
    });
    warned.unwrap_or_default()
}

fn message(report: &mut Diagnostics, table: &Table) -> Option<Schema> {
    let parts = layout::parts(table);
    let names = Names::collect(report, &parts);
    let layouts = layout::all(report, &parts, &names);
    let root = table
        .text("root")
        .and_then(|root| names.layout(report, &root));
    let attributes = attribute::all(report, table, &names, &layouts);
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
        recognise: signatures(table),
        next: None,
        follow: follows(report, table),
        exchange: None,
        limits: limits(table),
        root: root?,
        layouts: layouts
            .into_iter()
            .zip(&names.layouts)
            .map(|(layout, named)| layout.whole(named))
            .collect(),
        attributes,
    };
    let next = next(report, table, &schema);
    let exchange = exchange::read(report, table, &schema);
    Some(Schema {
        next,
        exchange,
        ..schema
    })
}

/// Whether messages go on in the next segment, which only those over TCP do.
fn follows(report: &mut Diagnostics, table: &Table) -> bool {
    let follows = table.flag("follow");
    if let (true, Some(over)) = (follows, table.text("transport"))
        && over.value != "tcp"
    {
        report.push(errors::no_stream(over.span));
    }
    follows
}

/// What the table of the next message says, of attributes that the schema has.
fn next(report: &mut Diagnostics, table: &Table, schema: &Schema) -> Option<Next> {
    let table = table.table("next")?;
    // Of a schema in which something else is wrong, a field that an attribute refers to may be missing.
    if report.has_errors() {
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
        report.push(wrong);
        None
    };
    let (body, length, unless) = (named("body"), named("length"), named("unless"));
    let none = exchange::side(report, &table, "none", schema);
    Some(Next {
        body: body?,
        length: length?,
        unless,
        none: none.flatten(),
    })
}

fn signatures(table: &Table) -> Vec<Signature> {
    let tables = table.tables("recognise");
    let signature = |table: &Table| {
        Some(Signature {
            at: table.number("at").map_or(0, |at| at.value as usize),
            bytes: table.bytes("bytes")?,
            and: table
                .table("and")
                .and_then(|and| Some((and.number("at")?.value as usize, and.bytes("bytes")?))),
        })
    };
    tables.iter().filter_map(signature).collect()
}

fn limits(table: &Table) -> Limits {
    let limits = table.table("limits");
    let number = |key| limits.as_ref().and_then(|limits| limits.number(key));
    Limits {
        depth: number("depth").map_or(16, |at| at.value as usize),
        bytes: number("bytes").map_or(1_400, |at| at.value as u32),
        attributes: number("attributes").map_or(16, |at| at.value as u32),
    }
}

#[cfg(test)]
mod tests;
