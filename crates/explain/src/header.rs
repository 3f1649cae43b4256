//! Interface headers as documentation: their declarations with the comments before them, which have a strict form.
//!
//! Lines that begin with `//!` describe the header, in Markdown. Lines that begin with `///` describe the declaration
//! below them. After the text come the meaning on targets, `@on xdp, tc: ...`, and the codes of the errors that concern
//! it, `@errors E0730`. Any other comment is for those who change the header.

use crate::page::is_code;
use crate::scan::{Piece, scan};

/// Target or interpreter that runs a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExecutionTarget {
    /// The reference interpreter.
    Interpreter,
    /// The kernel, by XDP.
    Xdp,
    /// The kernel, by traffic control.
    Tc,
}

impl ExecutionTarget {
    /// All of them.
    pub const ALL: [ExecutionTarget; 3] = [
        ExecutionTarget::Interpreter,
        ExecutionTarget::Xdp,
        ExecutionTarget::Tc,
    ];

    /// Returns the name that documentation uses.
    pub fn name(self) -> &'static str {
        match self {
            ExecutionTarget::Interpreter => "interpreter",
            ExecutionTarget::Xdp => "XDP",
            ExecutionTarget::Tc => "tc",
        }
    }

    fn of(word: &str) -> Option<ExecutionTarget> {
        ExecutionTarget::ALL
            .into_iter()
            .find(|target| target.name().eq_ignore_ascii_case(word))
    }
}

/// Comment before a declaration, in its parts.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Doc {
    /// Its description, as Markdown.
    pub text: String,
    /// Meaning on groups of targets, as Markdown.
    pub targets: Vec<(Vec<ExecutionTarget>, String)>,
    /// The codes of the errors that concern it.
    pub errors: Vec<String>,
}

/// Kind of a declaration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DeclarationKind {
    /// Extern object, which programs instantiate.
    Object,
    /// Extern function.
    Function,
    /// Any other declaration, by its keyword.
    Other(&'static str),
}

impl DeclarationKind {
    /// Returns the name that documentation uses.
    pub fn name(self) -> &'static str {
        match self {
            DeclarationKind::Object => "extern",
            DeclarationKind::Function => "extern function",
            DeclarationKind::Other(keyword) => keyword,
        }
    }
}

/// Declaration in a header.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Item {
    /// Kind of the declaration.
    pub kind: DeclarationKind,
    /// Its name.
    pub name: String,
    /// Its comment.
    pub doc: Doc,
    /// Its text. For an extern object, and for a declaration with a body, the text before the brace.
    pub declaration: String,
    /// Constructors and methods of an extern object.
    pub members: Vec<ExternMember>,
}

/// Constructor or method of an extern object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExternMember {
    /// Its name, which is the extern's for a constructor.
    pub name: String,
    /// Its comment. If it says nothing about targets, the extern's comment applies.
    pub doc: Doc,
    /// Its text.
    pub declaration: String,
}

/// An interface header.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Header<'a> {
    /// The file's name.
    pub name: &'a str,
    /// Its description, as Markdown.
    pub text: String,
    /// Its declarations, in order.
    pub items: Vec<Item>,
}

impl<'a> Header<'a> {
    /// Reads a header, `source`, into its declarations.
    ///
    /// # Errors
    ///
    /// Reports each declaration that lacks a part of its comment, or has one in the wrong form.
    pub fn read(name: &'a str, source: &str) -> Result<Header<'a>, Vec<String>> {
        let lines: Vec<&str> = source.lines().collect();
        let about = lines.iter().filter_map(|line| line.strip_prefix("//!"));
        let about: Vec<&str> = about.map(unindented).collect();
        let mut wrong = Vec::new();
        let pieces = scan(&lines).unwrap_or_else(|fault| {
            wrong.push(fault);
            Vec::new()
        });
        let items: Vec<Item> = pieces.iter().map(|piece| item(piece, &mut wrong)).collect();
        if about.is_empty() {
            wrong.push("nothing says what it is".to_string());
        }
        for item in &items {
            wrong.extend(lacks(item));
        }
        match wrong.is_empty() {
            true => Ok(Header {
                name,
                text: about.join("\n"),
                items,
            }),
            false => Err(wrong.into_iter().map(|w| format!("{name}: {w}")).collect()),
        }
    }
}

/// Returns a comment's line without the blank that separates it from the slashes.
fn unindented(line: &str) -> &str {
    line.strip_prefix(' ').unwrap_or(line)
}

/// Makes an item of a piece of a header.
fn item(piece: &Piece<'_>, wrong: &mut Vec<String>) -> Item {
    let (kind, name) = kind_and_name(&piece.code);
    let members = piece.members.iter().map(|member| ExternMember {
        name: called(&member.code).to_string(),
        doc: doc(&name, &member.doc, wrong),
        declaration: member.text.clone(),
    });
    let members = members.collect();
    Item {
        kind,
        doc: doc(&name, &piece.doc, wrong),
        declaration: match kind {
            DeclarationKind::Other("parser" | "control" | FUNCTION) => without_body(&piece.text),
            _ => piece.text.clone(),
        },
        members,
        name,
    }
}

/// Returns a declaration with `...` in place of its body.
fn without_body(text: &str) -> String {
    match text.split_once('{') {
        Some((head, _)) => format!("{} {{ ... }}", head.trim_end()),
        None => text.to_owned(),
    }
}

/// Kind of a function with a body, which has no keyword.
const FUNCTION: &str = "function";

/// Returns the kind and the name of a declaration without annotations.
fn kind_and_name(code: &str) -> (DeclarationKind, String) {
    const KEYWORDS: [&str; 10] = [
        "struct", "enum", "header", "typedef", "const", "parser", "control", "package", "action",
        "error",
    ];
    let (first, rest) = code.split_once([' ', '{']).unwrap_or((code, ""));
    let up_to = |ends: &[char]| last_word(rest.split(ends).next().unwrap_or_default());
    let keyword = KEYWORDS.into_iter().find(|keyword| *keyword == first);
    let (kind, name) = match (first, keyword) {
        ("extern", _) if !rest.contains('(') => (DeclarationKind::Object, first_word(rest)),
        ("extern", _) => (DeclarationKind::Function, called(rest)),
        ("match_kind", _) => (DeclarationKind::Other("match_kind"), "match_kind"),
        (_, Some("error")) => (DeclarationKind::Other("error"), "error"),
        (_, Some(keyword @ ("struct" | "header" | "enum"))) => {
            (DeclarationKind::Other(keyword), up_to(&['{']))
        }
        (_, Some(keyword @ ("const" | "typedef"))) => {
            (DeclarationKind::Other(keyword), up_to(&['=', ';']))
        }
        (_, Some(keyword)) => (DeclarationKind::Other(keyword), first_word(rest)),
        (_, None) => (DeclarationKind::Other(FUNCTION), called(code)),
    };
    (kind, name.to_string())
}

fn is_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn first_word(text: &str) -> &str {
    let text = text.trim_start();
    text.split(|c| !is_part(c)).next().unwrap_or_default()
}

fn last_word(text: &str) -> &str {
    let text = text.trim_end();
    text.rsplit(|c| !is_part(c)).next().unwrap_or_default()
}

/// Returns the name of a function or method: it stands before the parameters, and before any type parameters.
fn called(code: &str) -> &str {
    let before = code.split('(').next().unwrap_or_default().trim_end();
    match before.strip_suffix('>') {
        Some(generic) => last_word(&generic[..generic.rfind('<').unwrap_or(0)]),
        None => last_word(before),
    }
}

/// Parses the lines of a comment. Faults go to `wrong`.
fn doc(about: &str, lines: &[&str], wrong: &mut Vec<String>) -> Doc {
    let mut doc = Doc::default();
    let mut text: Vec<&str> = Vec::new();
    let mut tagged = false;
    for line in lines.iter().map(|line| unindented(line)) {
        let mut fault = |what: &str| wrong.push(format!("{about}: {what}: `{line}`"));
        if let Some(note) = line.strip_prefix("@on ") {
            tagged = true;
            let (targets, note) = note.split_once(": ").unwrap_or((note, ""));
            let named: Option<Vec<ExecutionTarget>> =
                targets.split(", ").map(ExecutionTarget::of).collect();
            match named {
                Some(targets) if !note.is_empty() => doc.targets.push((targets, note.to_string())),
                _ => fault("it must be `@on interpreter, xdp, tc: text`"),
            }
        } else if let Some(codes) = line.strip_prefix("@errors ") {
            tagged = true;
            let codes = codes.split(' ').map(String::from);
            doc.errors.extend(codes);
            if !doc.errors.iter().all(|code| is_code(code)) {
                fault("something is no code");
            }
        } else if line.starts_with("@on") || line.starts_with("@errors") || tagged {
            fault("behind the text are `@on` and `@errors`, each on a line");
        } else {
            text.push(line);
        }
    }
    doc.text = text.join("\n");
    doc
}

/// Reports the parts that a declaration's comments lack.
fn lacks(item: &Item) -> Vec<String> {
    let mut wrong = Vec::new();
    let docs = item
        .members
        .iter()
        .map(|member| (&member.name, &member.doc));
    let docs: Vec<(&String, &Doc)> = std::iter::once((&item.name, &item.doc))
        .chain(docs)
        .collect();
    for (name, doc) in &docs {
        if doc.text.is_empty() {
            wrong.push(format!("{}: nothing says what `{name}` is", item.name));
        }
    }
    let is_extern = matches!(
        item.kind,
        DeclarationKind::Object | DeclarationKind::Function
    );
    for target in ExecutionTarget::ALL.into_iter().filter(|_| is_extern) {
        let notes = item
            .doc
            .targets
            .iter()
            .filter(|(on, _)| on.contains(&target));
        if notes.count() != 1 {
            wrong.push(format!(
                "{}: it must be said once what it means on {}",
                item.name,
                target.name()
            ));
        }
    }
    let listed: Vec<&String> = docs.iter().flat_map(|(_, doc)| &doc.errors).collect();
    for (_, doc) in &docs {
        let notes = doc.targets.iter().map(|(_, note)| note);
        for text in std::iter::once(&doc.text).chain(notes) {
            let words = text.split(|c: char| !c.is_ascii_alphanumeric());
            for code in words.filter(|word| is_code(word)) {
                if !listed.iter().any(|listed| *listed == code) {
                    wrong.push(format!("{}: `@errors` lacks {code}", item.name));
                }
            }
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    const RIGHT: &str = "// licence\n//! A switch.\n//!\n//! With ports.\n\n#ifndef _S_\n#define _S_\n\n\
        /// Cells.\n/// Many.\n/// @on interpreter: One at a time.\n/// @on xdp, tc: With locks (E0740).\n/// @errors E0730 E0740\n\
        extern cells<T\n#if N\n, I\n#endif\n>\n{\n    /// So many.\n    cells(bit<32> size);\n    /// Reads one.\n    @pure\n#if N\n    \
        void read<X>(out T to, in I at);\n#else\n    void read<X>(out T to);\n#endif\n}\n\n\
        // for us\n/// Random.\n/// @on interpreter, xdp, tc: Yes.\n@old(\"x; y(z) w\")\nextern bit<32> random<T>(in T a,\n                       in T b);\n\n\
        /// What is known.\nstruct known {\n    bit<8> port;   // it came in by\n}\n/// It.\nenum bit<8> status { A = 0 }\n/// A number.\nconst bit<32> NONE = 0xff;\n\
        /// Errors.\nerror {\n    None\n}\n/// A block.\ncontrol block<H>(in H h);\n#endif\n";

    #[test]
    fn a_header_is_its_declarations_with_their_comments() {
        let header = Header::read("s.p4", RIGHT).unwrap();
        assert_eq!(header.text, "A switch.\n\nWith ports.");
        let names: Vec<(&str, &str)> = header
            .items
            .iter()
            .map(|item| (item.kind.name(), item.name.as_str()))
            .collect();
        let wanted = [
            ("extern", "cells"),
            ("extern function", "random"),
            ("struct", "known"),
            ("enum", "status"),
            ("const", "NONE"),
            ("error", "error"),
            ("control", "block"),
        ];
        assert_eq!(names, wanted);
        let cells = &header.items[0];
        assert_eq!(cells.declaration, "extern cells<T\n#if N\n, I\n#endif\n>");
        assert_eq!(cells.doc.text, "Cells.\nMany.");
        let on = [
            (
                vec![ExecutionTarget::Interpreter],
                "One at a time.".to_string(),
            ),
            (
                vec![ExecutionTarget::Xdp, ExecutionTarget::Tc],
                "With locks (E0740).".to_string(),
            ),
        ];
        assert_eq!(cells.doc.targets, on);
        assert_eq!(cells.doc.errors, ["E0730", "E0740"]);
        assert_eq!(cells.members[0].name, "cells");
        assert_eq!(cells.members[0].declaration, "cells(bit<32> size);");
        assert_eq!(cells.members[1].name, "read");
        assert_eq!(
            cells.members[1].declaration,
            "@pure\n#if N\nvoid read<X>(out T to, in I at);\n#else\nvoid read<X>(out T to);\n#endif"
        );
        assert!(header.items[2].declaration.contains("// it came in by\n}"));
    }

    /// Returns the errors for the header above with one of its parts replaced.
    fn fault(part: &str, instead: &str) -> String {
        assert!(RIGHT.contains(part), "{part}");
        let read = Header::read("s.p4", &RIGHT.replacen(part, instead, 1));
        read.unwrap_err().join("; ")
    }

    #[test]
    fn what_lacks_a_part_is_refused() {
        assert_eq!(
            fault("/// What is known.\n", ""),
            "s.p4: known: nothing says what `known` is"
        );
        assert!(fault("    /// Reads one.\n", "").contains("nothing says what `read` is"));
        assert!(
            fault("/// @on interpreter: One at a time.\n", "").contains("means on interpreter")
        );
        assert!(fault("xdp, tc: With", "xdp, interpreter: With").contains("means on tc"));
        assert!(fault("xdp, tc: With", "xdp, nic: With").contains("it must be `@on"));
        assert!(fault(" E0740\n", "\n").contains("`@errors` lacks E0740"));
        assert!(fault(" E0740\n", " E740\n").contains("something is no code"));
        assert!(fault("/// @errors", "/// more").contains("behind the text are"));
        assert!(fault("/// Random.\n", "/// Random.\n\n").contains("documentation of nothing"));
        assert!(
            fault("//! A switch.\n//!\n//! With ports.", "").contains("nothing says what it is")
        );
        assert!(fault("    None\n}", "    None\n").contains("does not end"));
    }
}
