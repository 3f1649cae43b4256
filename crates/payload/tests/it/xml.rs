//! XML attributes, against `quick-xml`.

use crate::common::{changed, random, reading, texts};
use payload::Reason;
use proptest::prelude::*;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

#[test]
fn attributes_have_paths() {
    let text = br#"<?xml version="1.0"?><!-- a="1" --><order id='7'>
        <item sku="a&amp;b" n = "2"/>text <![CDATA[<x y="z">]]></order>"#;
    let found = reading("xml", text).unwrap();
    let names: Vec<&str> = found.iter().map(|found| found.name.as_str()).collect();
    assert_eq!(names, ["order/@id", "order/item/@sku", "order/item/@n"]);
    assert_eq!(texts(&found, "order/item/@sku"), ["a&amp;b"]);
}

#[test]
fn malformed_documents_have_a_reason() {
    let reason = |text: &[u8]| reading("xml", text).unwrap_err().reason;
    assert_eq!(reason(b"<a><b></a></b>"), Reason::Unexpected);
    assert_eq!(reason(b"<a><b></b>"), Reason::Truncated);
    assert_eq!(reason(b"<a x=\"1\" x=\"2\"/>"), Reason::Unexpected);
    assert_eq!(reason(b"<!DOCTYPE a><a/>"), Reason::Unexpected);
    assert_eq!(reason(b"<a/><b/>"), Reason::Unexpected);
    assert_eq!(reason("<a>".repeat(65).as_bytes()), Reason::TooDeep);
}

/// Returns the attributes by path, as the library reads them; `None` if it refuses the document.
fn expected(text: &[u8]) -> Option<Vec<(String, String)>> {
    let mut reader = Reader::from_str(std::str::from_utf8(text).ok()?);
    let (mut open, mut found) = (Vec::new(), Vec::new());
    let mut note = |open: &[String], start: &BytesStart| -> Option<()> {
        for attribute in start.attributes() {
            let attribute = attribute.ok()?;
            let name = attribute.key.as_ref().to_string();
            let value = attribute.value.to_string();
            found.push((format!("{}/@{name}", open.join("/")), value));
        }
        Some(())
    };
    let name = |start: &BytesStart| start.name().as_ref().to_string();
    loop {
        match reader.read_event().ok()? {
            Event::Start(start) => {
                open.push(name(&start));
                note(&open, &start)?;
            }
            Event::Empty(start) => {
                open.push(name(&start));
                note(&open, &start)?;
                open.pop();
            }
            Event::End(_) => drop(open.pop()),
            Event::Eof => break,
            _ => {}
        }
    }
    open.is_empty().then_some(found)
}

fn elements() -> impl Strategy<Value = String> {
    let attributes = prop::collection::hash_map("[a-z]{1,3}", "[ -!#-%'-;=-~]{0,8}", 0..3);
    let leaf = ("[a-z]{1,4}", attributes.clone()).prop_map(|(name, list)| element(&name, list, ""));
    leaf.prop_recursive(3, 12, 3, move |inner| {
        let within = prop::collection::vec(inner, 0..3);
        ("[a-z]{1,4}", attributes.clone(), within)
            .prop_map(|(name, list, within)| element(&name, list, &within.concat()))
    })
}

fn element(name: &str, list: std::collections::HashMap<String, String>, within: &str) -> String {
    let list: String = list.iter().map(|(k, v)| format!(" {k}=\"{v}\"")).collect();
    match within {
        "" => format!("<{name}{list}/>"),
        _ => format!("<{name}{list}> {within}</{name}>"),
    }
}

random! {
    400 fn attributes_are_read_alike(document in elements()) {
        let found = reading("xml", document.as_bytes()).map_err(|m| TestCaseError::fail(m.to_string()))?;
        let read: Vec<(String, String)> = found.iter().map(|f| (f.name.clone(), texts(&found, &f.name)[0].clone())).collect();
        let expected = expected(document.as_bytes()).expect("a document");
        // Elements of one name share their paths: the first value stands for all on both sides.
        let first = |(name, _): &(String, String)| {
            let value = &expected.iter().find(|(other, _)| other == name).unwrap().1;
            (name.clone(), value.clone())
        };
        prop_assert_eq!(read, expected.iter().map(first).collect::<Vec<_>>());
    }

    400 fn what_is_read_the_library_reads_too(
        document in elements(),
        changes in prop::collection::vec((any::<usize>(), prop::option::of(prop::sample::select(&b"<>/=\"' ax"[..]))), 1..3),
    ) {
        let bytes = changed(document.into_bytes(), &changes);
        // The library accepts more (names of any bytes, text after the root). It accepts everything that the reader
        // accepts.
        if let Ok(found) = reading("xml", &bytes) {
            let expected = expected(&bytes);
            prop_assert_eq!(Some(found.len()), expected.map(|list| list.len()), "{}", String::from_utf8_lossy(&bytes));
        }
    }
}
