//! Tests of the documentation from interface headers: it has all declarations, and the documents agree with the
//! headers and pages.

mod targets;
mod wrong_uses;

use diag::{SourceMap, render_plain};
use driver::{FileLoader, HEADERS};
use explain::{DeclarationKind, Header, groups, index, page, reference};
use std::collections::BTreeSet;
use syntax::ast::{Decl, DeclKind};
use testkit::files::root;

fn headers() -> Vec<Header<'static>> {
    let read = |(name, text): &(&'static str, &'static str)| {
        Header::read(name, text).unwrap_or_else(|wrong| panic!("{wrong:#?}"))
    };
    HEADERS.iter().map(read).collect()
}

/// Compares a generated document with the one in the repository, or writes it.
pub(crate) fn check_document(path: &str, made: &str) {
    let path = root().join(path);
    if std::env::var_os("ONPATH_BLESS").is_some() {
        return std::fs::write(&path, made).expect("written");
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        there == made,
        "{} is not what the headers and pages say; ONPATH_BLESS=1 writes it",
        path.display()
    );
}

#[test]
fn the_document_on_the_headers_is_made_of_them() {
    check_document("p4include/README.md", &reference(&headers()));
}

#[test]
fn the_list_of_pages_is_made_of_them() {
    check_document("crates/explain/pages/README.md", &index());
}

#[test]
fn every_extern_of_every_architecture_is_documented() {
    let headers = headers();
    let items = || headers.iter().flat_map(|header| &header.items);
    let documented: BTreeSet<&str> = items()
        .filter(|item| {
            matches!(
                item.kind,
                DeclarationKind::Object | DeclarationKind::Function
            )
        })
        .map(|item| item.name.as_str())
        .collect();
    for arch in arch::OWN {
        let missing: Vec<&str> = arch
            .externs()
            .filter(|name| !documented.contains(name))
            .collect();
        assert!(missing.is_empty(), "{}: {missing:?}", arch.name);
    }
}

#[test]
fn every_error_of_a_declaration_has_a_page() {
    for header in headers() {
        for item in &header.items {
            let members = item.members.iter().flat_map(|member| &member.doc.errors);
            for code in item.doc.errors.iter().chain(members) {
                assert!(page(code).is_ok(), "{}: {}: {code}", header.name, item.name);
            }
        }
    }
    assert!(groups().len() > 10);
}

/// Parses a header by the compiler's parser. Returns the number of its declarations, and its externs with their
/// constructors and methods.
fn parsed(name: &str, edition: &str) -> (usize, Vec<String>) {
    let path = root().join("p4include").join(name).display().to_string();
    let loader = FileLoader {
        include: Vec::new(),
        given: None,
    };
    let defines = [("V1MODEL_VERSION".to_string(), Some(edition.to_string()))];
    let mut map = SourceMap::new();
    let parsed = syntax::parse(&mut map, &loader, &path, &defines);
    assert!(
        parsed.diagnostics.is_empty(),
        "{}",
        render_plain(&parsed.diagnostics, &map)
    );
    let is_own = |decl: &&Decl| {
        let file = map.locate(decl.span).map(|(file, _)| map.file(file));
        file.is_some_and(|file| *file.name == *path)
    };
    let own: Vec<&Decl> = parsed.program.decls.iter().filter(is_own).collect();
    let mut externs: Vec<String> = Vec::new();
    for decl in &own {
        match &decl.kind {
            DeclKind::Extern { name, methods, .. } => {
                let methods = methods
                    .iter()
                    .map(|method| format!("{}.{}", name.name, method.proto.name.name));
                externs.extend(methods.chain([name.name.to_string()]));
            }
            DeclKind::ExternFunction(proto) => externs.push(proto.name.name.to_string()),
            _ => {}
        }
    }
    externs.sort();
    (own.len(), externs)
}

#[test]
fn nothing_that_a_header_declares_is_left_out() {
    for header in headers() {
        let mut documented: Vec<String> = Vec::new();
        for item in &header.items {
            if matches!(
                item.kind,
                DeclarationKind::Object | DeclarationKind::Function
            ) {
                let members = item
                    .members
                    .iter()
                    .map(|member| format!("{}.{}", item.name, member.name));
                documented.extend(members.chain([item.name.clone()]));
            }
        }
        documented.sort();
        let (older, externs) = parsed(header.name, "20180101");
        assert_eq!(documented, externs, "{}", header.name);
        let (newer, externs) = parsed(header.name, "20200408");
        assert_eq!(documented, externs, "{}", header.name);
        // Only the newer edition of v1model has a type for ports.
        assert_eq!(header.items.len(), newer.max(older), "{}", header.name);
    }
}
