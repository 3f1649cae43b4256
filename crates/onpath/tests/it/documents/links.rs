//! Links of documents, and the headings that they lead to.

use super::read;
use std::path::{Path, PathBuf};
use testkit::files::{below, documents, root, short};

/// The targets of the links in a text: what stands in parentheses behind a text in brackets.
fn targets(text: &str) -> impl Iterator<Item = &str> {
    text.split("](")
        .skip(1)
        .filter_map(|rest| rest.split_once(')').map(|(target, _)| target))
}

/// The anchor of a heading, as sites that show Markdown make it.
fn anchor(heading: &str) -> String {
    let kept = |c: &char| c.is_alphanumeric() || " -_".contains(*c);
    let text: String = heading.to_lowercase().chars().filter(kept).collect();
    text.replace(' ', "-")
}

/// All pages that have links: documents, and the pages beside programs and crates.
fn pages() -> Vec<PathBuf> {
    let mut pages = documents();
    for page in ["CONTRIBUTING.md", "SECURITY.md"] {
        pages.push(root().join(page));
    }
    for folder in [
        "programs",
        "messages",
        "p4include",
        "crates/matrix",
        "crates/explain/pages",
    ] {
        pages.extend(below(folder, "md"));
    }
    pages
}

/// Why a link leads nowhere, if it does.
fn fault(page: &Path, target: &str) -> Option<String> {
    if target.starts_with("http") {
        return None;
    }
    let (file, heading) = target.split_once('#').unwrap_or((target, ""));
    let to = match file {
        "" => page.to_path_buf(),
        _ => page.parent()?.join(file),
    };
    if !to.exists() {
        return Some(format!("{}: no file {target}", short(page)));
    }
    let leads = |line: &str| {
        line.starts_with('#') && anchor(line.trim_start_matches('#').trim()) == heading
    };
    let found = heading.is_empty() || read(&to).lines().any(leads);
    (!found).then(|| format!("{}: no heading {target}", short(page)))
}

#[test]
fn every_link_leads_somewhere() {
    let faults: Vec<String> = pages()
        .iter()
        .flat_map(|page| {
            let text = read(page);
            targets(&text)
                .filter_map(|target| fault(page, target))
                .collect::<Vec<_>>()
        })
        .collect();
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn a_link_that_leads_nowhere_is_found() {
    let page = root().join("README.md");
    assert!(fault(&page, "docs/install.md#install").is_none());
    assert!(fault(&page, "docs/install.md#nothing").is_some());
    assert!(fault(&page, "docs/nothing.md").is_some());
    assert_eq!(anchor("`core.p4`, and more"), "corep4-and-more");
}
