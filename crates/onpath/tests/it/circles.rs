//! Bounds on cycles of files that import each other. To change one file of a cycle, one has to know all of them.

use crate::architecture::{crates, files, own_code, read, root};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of files of a cycle, in crates without a bound of their own.
const MOST: usize = 10;

/// Crates with larger cycles, which must not grow.
const LARGER: [(&str, usize); 7] = [
    ("emit", 25),
    ("interp", 13),
    ("ir", 18),
    ("kernel", 20),
    ("messages", 11),
    ("sema", 20),
    ("writers", 30),
];

/// Returns the imports of each module from its own crate, by the modules' paths. An import is a path that begins with
/// `crate` or `super`, or a submodule that its parent uses.
fn imports(name: &str) -> BTreeMap<String, BTreeSet<String>> {
    let folder = format!("crates/{name}/src");
    let mut codes = BTreeMap::new();
    for file in files(&folder) {
        let text = read(&root().join(&file));
        let path = file[folder.len() + 1..].trim_end_matches(".rs");
        let module = path.trim_end_matches("/mod").replace('/', "::");
        if let Some(code) = own_code(&file, &text).filter(|_| !["lib", "main"].contains(&path)) {
            let lines = code.lines().map(str::trim);
            let lines = lines.filter(|line| !line.starts_with("//"));
            codes.insert(module, lines.collect::<Vec<_>>().join("\n"));
        }
    }
    // Names that the crate's root exports from its modules.
    let root_of = |file: &String| file.ends_with("/lib.rs");
    let lib = files(&folder).into_iter().find(root_of);
    let lib = lib.map(|file| read(&root().join(file))).unwrap_or_default();
    let mut exported = Vec::new();
    for (start, _) in words(&lib, &["use "]) {
        tree(&lib[start + 4..], "", &mut exported);
    }
    let known = |path: &String| {
        let name = path.split("::").next();
        let of_root = exported
            .iter()
            .find(|export| name.is_some_and(|name| export.ends_with(&format!("::{name}"))));
        let path = of_root.filter(|_| !path.contains("::")).unwrap_or(path);
        let ends = path.match_indices("::").map(|(end, _)| end);
        let prefixes = ends.chain([path.len()]).map(|end| &path[..end]);
        let known = prefixes.filter(|prefix| codes.contains_key(*prefix));
        known.last().map(String::from)
    };
    let of = |(module, code): (&String, &String)| {
        let mut paths = Vec::new();
        for (start, path) in words(code, &["crate::", "super::"]) {
            let mut rest = &code[start + path.len()..];
            let mut base = if path == "crate::" { "" } else { above(module) };
            while let Some(higher) = rest.strip_prefix("super::") {
                (rest, base) = (higher, above(base));
            }
            let base = if base.is_empty() {
                String::new()
            } else {
                format!("{base}::")
            };
            tree(rest, &base, &mut paths);
        }
        for line in code.lines() {
            let Some(child) = line
                .rsplit_once("mod ")
                .and_then(|(_, child)| child.strip_suffix(';'))
            else {
                continue;
            };
            if !words(code, &[&format!("{child}::")]).is_empty() {
                paths.push(format!("{module}::{child}"));
            }
        }
        let mut imported: BTreeSet<String> = paths.iter().filter_map(known).collect();
        imported.remove(module);
        (module.clone(), imported)
    };
    codes.iter().map(of).collect()
}

/// Returns the parent of a module.
fn above(module: &str) -> &str {
    module.rsplit_once("::").map_or("", |(above, _)| above)
}

/// Returns the positions in a text at which one of these paths begins.
fn words<'w>(text: &str, wanted: &[&'w str]) -> Vec<(usize, &'w str)> {
    let is_first =
        |at: usize| !text[..at].ends_with(|c: char| c.is_alphanumeric() || "_:".contains(c));
    let of = |word: &&'w str| {
        let all = text.match_indices(*word).map(|(at, _)| (at, *word));
        all.filter(|(at, _)| is_first(*at)).collect::<Vec<_>>()
    };
    wanted.iter().flat_map(of).collect()
}

/// Adds the paths that a text begins with, perhaps several in braces, each prefixed by `before`. Returns the rest of
/// the text.
fn tree<'t>(text: &'t str, before: &str, paths: &mut Vec<String>) -> &'t str {
    if text.starts_with('}') {
        return text;
    }
    let end = text.find(|c: char| !c.is_alphanumeric() && !"_:".contains(c));
    let (path, mut rest) = text.split_at(end.unwrap_or(text.len()));
    let path = format!("{before}{path}");
    if !(path.is_empty() || path.ends_with("::")) || !rest.starts_with('{') {
        paths.push(path);
        return rest;
    }
    while !rest.starts_with('}') {
        rest = tree(rest[1..].trim_start(), &path, paths);
        // It may be renamed by `as`.
        rest = rest.find([',', '}']).map_or("}", |at| &rest[at..]);
    }
    &rest[1..]
}

/// Returns the modules that a module imports, directly or indirectly.
fn reached<'i>(
    imports: &'i BTreeMap<String, BTreeSet<String>>,
    from: &'i str,
) -> BTreeSet<&'i String> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from];
    while let Some(next) = open.pop() {
        let further = imports[next].iter().filter(|to| reached.insert(*to));
        open.extend(further.map(String::as_str));
    }
    reached
}

/// Returns the largest set of modules that all import each other, directly or indirectly.
fn circle(imports: &BTreeMap<String, BTreeSet<String>>) -> Vec<&String> {
    let all: BTreeMap<&String, BTreeSet<&String>> =
        imports.keys().map(|m| (m, reached(imports, m))).collect();
    let with = |module: &String| {
        let mutual = all[module]
            .iter()
            .filter(|other| all[**other].contains(module));
        mutual.copied().collect::<Vec<_>>()
    };
    imports
        .keys()
        .map(with)
        .max_by_key(Vec::len)
        .unwrap_or_default()
}

#[test]
fn circles_of_files_stay_small() {
    let mut grown = Vec::new();
    for name in crates() {
        let imports = imports(&name);
        let circle = circle(&imports);
        let bound = LARGER.iter().find(|(larger, _)| *larger == name);
        let bound = bound.map_or(MOST, |(_, bound)| *bound);
        if circle.len() > bound {
            grown.push(format!(
                "{name}: {} files import each other: {circle:?}",
                circle.len()
            ));
        }
    }
    assert!(grown.is_empty(), "{grown:#?}");
}

#[test]
fn imports_are_found_in_braces_and_by_other_names() {
    let mut paths = Vec::new();
    let rest = tree("{a::{b, c::D as E,}, f};", "x::", &mut paths);
    assert_eq!(
        (rest, paths.join(" ").as_str()),
        (";", "x::a::b x::a::c::D x::f")
    );
    paths.clear();
    tree("{externs, fate::Fate};", "", &mut paths);
    assert_eq!(paths, ["externs", "fate::Fate"]);
}
