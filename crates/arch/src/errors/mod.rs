//! Errors about a program's choice of architecture.

pub mod payload;

use diag::{Diagnostic, Span};

/// A program without an instance named `main`: there is nothing to run. A library of declarations is
/// fine for `check` and for nothing else.
pub fn no_main(at: Span) -> Diagnostic {
    Diagnostic::error("E0601", at, "the program has no `main`").help(format!(
        "instantiate a package under the name `main`, for example `{};`; a library of declarations can \
         only be checked",
        example(crate::xdp::ARCHITECTURE.package)
    ))
}

/// `main` is an instance of a package that no architecture model has.
pub fn unknown_package(name: &str, at: Span, declared: Span) -> Diagnostic {
    let known: Vec<String> = crate::all()
        .map(|a| format!("`{}` of {}", a.package, a.include))
        .collect();
    Diagnostic::error(
        "E0602",
        at,
        format!(
            "the program is written for the package `{name}`, which no supported architecture has"
        ),
    )
    .also(declared, "the package is declared here")
    .help(format!("port it to one of: {}", known.join(", ")))
}

/// A package has the name of an architecture's but not its blocks: a foreign include file.
pub fn package_mismatch(
    arch: &crate::Architecture,
    what: &str,
    at: Span,
    declared: Span,
) -> Diagnostic {
    Diagnostic::error(
        "E0603",
        at,
        format!(
            "the package `{}` is not that of {}: {what}",
            arch.package, arch.include
        ),
    )
    .also(declared, "the package is declared here")
    .help(format!(
        "include the built-in <{}> instead of a declaration of your own",
        arch.include
    ))
}

/// A program that names an edition of an interface that never existed.
pub fn unknown_edition(at: Span, constant: &str, number: &str, known: &[u32]) -> Diagnostic {
    let known: Vec<String> = known.iter().map(u32::to_string).collect();
    Diagnostic::error(
        "E0610",
        at,
        format!("`{constant}` is {number}, and there is no such edition"),
    )
    .label("no edition has this number")
    .help(format!(
        "there are {}; the include file of the architecture declares the constant itself",
        known.join(" and ")
    ))
}

fn example(package: &str) -> String {
    match crate::by_package(package) {
        Some(arch) => {
            let blocks: Vec<String> = arch
                .blocks()
                .map(|b| format!("My{}()", camel_case(b.name)))
                .collect();
            format!("{package}({}) main", blocks.join(", "))
        }
        None => format!("{package}() main"),
    }
}

/// Turns `verify checksum` into `VerifyChecksum`.
fn camel_case(name: &str) -> String {
    name.split(' ')
        .filter_map(|word| Some((word.get(..1)?.to_uppercase(), word.get(1..)?)))
        .flat_map(|(first, rest)| [first, rest.to_owned()])
        .collect()
}

/// All codes of this crate.
pub const CODES: &[&str] = &["E0601", "E0602", "E0603", "E0610"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_shows_what_main_looks_like() {
        let help = no_main(Span::NONE).help.unwrap();
        assert!(
            help.contains("`xdp(MyParser(), MySwitch(), MyDeparser()) main;`"),
            "{help}"
        );
    }

    #[test]
    fn every_block_gets_a_name_of_the_language() {
        assert_eq!(camel_case("verify checksum"), "VerifyChecksum");
        for arch in crate::all() {
            let example = example(arch.package);
            let parts = example.matches("My").count();
            assert_eq!(parts, arch.blocks().count(), "{example}");
        }
    }

    #[test]
    fn an_unknown_package_lists_the_known_ones() {
        let error = unknown_package("PSA_Switch", Span::NONE, Span::NONE);
        assert!(error.message.contains("PSA_Switch"));
        assert!(error.help.unwrap().contains("`V1Switch` of v1model.p4"));
    }
}
