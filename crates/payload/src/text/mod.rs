//! Schemas from the text of their files.

mod attribute;
mod contents;
mod errors;
mod exchange;
mod field;
mod layout;
mod lint;

use crate::keys::FORM;
use crate::{
    AttributeKind, Beginning, Contents, Extent, Lengths, Limits, Next, Only, Pattern, PatternError,
    Schema, Signature, Site, Transport,
};
use diag::{Diagnostics, FileId, SourceMap};
use layout::Names;
use settings::{At, Document, Table};

/// Reads a schema, or returns all errors in it.
pub fn load(map: &SourceMap, file: FileId) -> Result<Schema, Diagnostics> {
    Document::parse(map, file).read(&FORM, |table, report| message(report, table))
}

/// Warns about a schema without errors if it probably does not mean what was intended.
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
        recognise: signatures(report, table),
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
    exchange::answers_fit(report, table, next.as_ref(), exchange.as_ref(), &schema);
    Some(Schema {
        next,
        exchange,
        ..schema
    })
}

/// Returns true if messages continue in the next segment. Only messages over TCP may.
fn follows(report: &mut Diagnostics, table: &Table) -> bool {
    let follows = table.flag("follow");
    if let (true, Some(over)) = (follows, table.text("transport"))
        && over.value != "tcp"
    {
        report.push(errors::no_stream(over.span));
    }
    follows
}

/// Reads the rule for the next message; the names in it are those of the schema's attributes.
fn next(report: &mut Diagnostics, table: &Table, schema: &Schema) -> Option<Next> {
    let table = table.table("next")?;
    // In a schema with other errors, the field of an attribute may be missing.
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
            Some(asked) if asked.kind != AttributeKind::Bytes => {
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
    let (body, length, chunked) = (named("body"), named("length"), named("chunked"));
    let none = exchange::side(report, &table, "none", schema);
    let to_end = table.text("to_end");
    if let Some(name) = to_end
        .as_ref()
        .filter(|name| schema.asked(&name.value).is_err())
    {
        report.push(errors::no_attribute(name.span, &name.value));
    }
    let sites = |name: Option<&String>| {
        let asked = name.and_then(|name| schema.asked(name).ok());
        let sites = asked.map_or(Vec::new(), |asked| asked.sites).into_iter();
        let is_field = |site: &Site| !matches!(site.only, Only::Member(_));
        sites.filter(is_field).collect()
    };
    Some(Next {
        lengths: Lengths {
            length: sites(length.as_ref()),
            chunked: sites(chunked.as_ref()),
        },
        answers: exchange::answers(&table),
        to_end: to_end.map(|name| name.value),
        body: body?,
        length: length?,
        chunked,
        none: none.flatten(),
    })
}

fn signatures(report: &mut Diagnostics, table: &Table) -> Vec<Signature> {
    let tables = table.tables("recognise");
    let all = tables.iter().map(|table| signature(report, table));
    all.collect::<Vec<_>>().into_iter().flatten().collect()
}

fn signature(report: &mut Diagnostics, table: &Table) -> Option<Signature> {
    field::exclusive(report, table, &["bytes", "pattern"], "the first bytes");
    let Some(text) = table.text("pattern") else {
        if !table.has("bytes") && !table.has("pattern") {
            report.push(errors::no_signature(table.span));
        }
        return Some(Signature::Bytes {
            at: table.number("at").map_or(0, |at| at.value as usize),
            bytes: table.bytes("bytes")?,
            and: table
                .table("and")
                .and_then(|and| Some((and.number("at")?.value as usize, and.bytes("bytes")?))),
        });
    };
    for key in ["at", "and"] {
        if let Some(span) = table.span_of(key) {
            report.push(errors::only_with(span, key, "`bytes`"));
        }
    }
    let pattern = match Pattern::new(&text.value) {
        Ok(pattern) => pattern,
        Err(PatternError::Syntax(what, at)) => {
            report.push(errors::no_pattern(text.inside(at), &what));
            return None;
        }
        Err(PatternError::NoAutomaton(what)) => {
            report.push(errors::no_pattern(text.span, &what));
            return None;
        }
        Err(PatternError::TooLarge) => {
            report.push(errors::no_pattern(text.span, "its automaton is too large"));
            return None;
        }
    };
    let beginning = Beginning::new(&pattern);
    if beginning.is_none() {
        report.push(errors::not_bound(text.span));
    }
    beginning.map(Signature::Pattern)
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
