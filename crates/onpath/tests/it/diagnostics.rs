//! Tests that every diagnostic in the sources has a page, and every page a diagnostic.

use std::collections::BTreeSet;
use std::path::Path;

/// Returns the codes in the code of all crates, outside of tests.
fn given() -> BTreeSet<String> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(crates).expect("the crates") {
        let mut open = vec![entry.expect("an entry").path().join("src")];
        while let Some(folder) = open.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten() {
                let path = entry.expect("an entry").path();
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                match path.extension() {
                    _ if name == "tests" || name == "tests.rs" => {}
                    None => open.push(path),
                    Some(_) => {
                        let text = std::fs::read(&path).expect("a file");
                        found.extend(literals(&String::from_utf8_lossy(&text)));
                    }
                }
            }
        }
    }
    found
}

/// Returns the codes that are string literals of a source, before its tests.
fn literals(source: &str) -> BTreeSet<String> {
    let code = source
        .split("#[cfg(test)]\nmod ")
        .next()
        .unwrap_or_default();
    let is_code = |text: &&str| {
        let digits = text.strip_prefix(['E', 'W']).unwrap_or_default();
        digits.len() == 4 && digits.bytes().all(|b| b.is_ascii_digit())
    };
    code.split('"').filter(is_code).map(String::from).collect()
}

/// Returns the differences between the sets, as lines of a report.
fn differences(given: &BTreeSet<String>, pages: &BTreeSet<String>) -> Vec<String> {
    let missing = given.difference(pages);
    let stale = pages.difference(given);
    let missing = missing.map(|code| format!("{code} has no page"));
    missing
        .chain(stale.map(|code| format!("{code} has a page, and nothing gives it")))
        .collect()
}

#[test]
fn every_diagnostic_has_a_page_and_every_page_a_diagnostic() {
    let pages = explain::groups().iter().flat_map(|group| &group.pages);
    let pages: BTreeSet<String> = pages.map(|page| page.code.to_string()).collect();
    let given = given();
    assert!(given.len() > 400, "{}", given.len());
    let wrong = differences(&given, &pages);
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Returns the files of the repository that a page refers to.
fn referred(text: &str) -> Vec<&str> {
    let see = text.split("**See.**").nth(1).unwrap_or_default();
    let see = see.split("\n\n").next().unwrap_or_default();
    see.split(|c: char| c.is_whitespace() || "`,;()\"".contains(c))
        .map(|word| word.trim_end_matches('.'))
        .filter(|word| {
            [".md", ".p4", ".json", ".toml"]
                .iter()
                .any(|end| word.ends_with(end))
        })
        .collect()
}

#[test]
fn what_pages_refer_to_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let pages = explain::groups().iter().flat_map(|group| &group.pages);
    let all: Vec<(&str, &str)> = pages
        .flat_map(|page| {
            referred(page.text)
                .into_iter()
                .map(|file| (page.code, file))
        })
        .collect();
    let missing: Vec<_> = all
        .iter()
        .filter(|(_, file)| !root.join(file).exists())
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert!(all.len() > 50, "{}", all.len());
    let text = "A.\n\n**See.** `messages/README.md` (\"Keys\"), README.md.\n\nb/c.p4";
    assert_eq!(referred(text), ["messages/README.md", "README.md"]);
}

#[test]
fn codes_are_found_where_they_are_given() {
    let source = "error(\"E0207\"), [\"W0201\", \"E1\", \"E02071\"]\n// E0300\n#[cfg(test)]\nmod tests { \"E0999\" }";
    let set = |codes: &[&str]| codes.iter().map(|code| code.to_string()).collect();
    assert_eq!(literals(source), set(&["E0207", "W0201"]));
    let wrong = differences(&set(&["E0207", "W0201"]), &set(&["E0207", "E0208"]));
    assert_eq!(
        wrong,
        [
            "W0201 has no page",
            "E0208 has a page, and nothing gives it"
        ]
    );
}
