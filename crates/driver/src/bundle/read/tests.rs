use super::*;
use control::Replica;

/// Reads a bundle, or returns the errors in it: line, column, code, message and help of each.
fn try_read(text: &str) -> Result<Bundle, Vec<String>> {
    let mut map = SourceMap::new();
    let file = map.add("dir/my flows.toml", text).unwrap();
    read(&map, file).map_err(|list| {
        list.iter()
            .map(|d| {
                let at = map.line_col(d.primary.span).unwrap().1;
                let help = d.help.as_deref().unwrap();
                format!(
                    "{}:{} {} {}; {help}",
                    at.line, at.column, d.code.0, d.message
                )
            })
            .collect()
    })
}

fn wrong(text: &str) -> Vec<String> {
    try_read(text).unwrap_err()
}

/// Returns the only error in a program's lines.
fn wrong_program(lines: &str) -> String {
    let text = format!("[[program]]\nsource = \"a.p4\"\n{lines}\n");
    match wrong(&text).as_slice() {
        [one] => one.clone(),
        several => panic!("{several:#?}"),
    }
}

#[test]
fn all_that_a_bundle_may_say() {
    let bundle = try_read(
        r#"
name = "flows"
[[program]]
name = "egress"
source = "egress.p4"
include = "lib"
define = ["SMALL", "SIZE=8"]
extern = ["/c/sum.c"]
target = "tc-egress"
dev = ["eth0", "eth1"]
ports = { 7 = "eth7" }
reach = { 9 = "mirror" }
groups = { 1 = [0, 0x7, "9:0x3"] }
entries = "e.txt"
[[program]]
source = "in.p4"
dev = "eth0"
entries = ["add t 1 drop()", "setdefault t pass()"]
[share]
flows = ["egress.flows", "in.c.flows"]
"#,
    )
    .unwrap();
    assert_eq!(bundle.name.unwrap().value, "flows");
    let [egress, ingress] = bundle.programs.as_slice() else {
        panic!()
    };
    assert_eq!(egress.name.value, "egress");
    assert_eq!(egress.source.value, Path::new("dir/egress.p4"));
    assert_eq!(egress.include, [Path::new("dir/lib")]);
    assert_eq!(egress.externs, [Path::new("/c/sum.c")]);
    let defines = [
        ("SMALL".to_string(), None),
        ("SIZE".to_string(), Some("8".to_string())),
    ];
    assert_eq!(egress.define, defines);
    assert_eq!(egress.hook.as_ref().unwrap().value, Hook::TcEgress);
    let attached: Vec<_> = egress
        .ports
        .attached()
        .map(|p| (p.port, p.interface))
        .collect();
    let wanted = [(0, "eth0"), (1, "eth1"), (7, "eth7")].map(|(p, i)| (p, i.to_string()));
    assert_eq!(attached, wanted);
    assert_eq!(egress.ports.reach[0].port, 9);
    let mut copies = Replica::to_ports([0, 7, 9]);
    copies[2].rid = 3;
    assert_eq!(egress.ports.groups, [(1, copies)]);
    assert!(matches!(&egress.entries, Some(Entries::File(f)) if f.value == Path::new("dir/e.txt")));
    assert_eq!((ingress.name.value.as_str(), &ingress.hook), ("in", &None));
    let Some(Entries::Lines(lines)) = &ingress.entries else {
        panic!()
    };
    assert_eq!(lines[1].value, "setdefault t pass()");
    let of: Vec<_> = bundle.shares[0]
        .of
        .iter()
        .map(|s| (s.program, s.state.as_str()))
        .collect();
    assert_eq!(of, [(0, "flows"), (1, "c.flows")]);
}

#[test]
fn what_is_no_toml_is_reported_with_its_location() {
    let found = wrong("name = \"a\n[[program]]\nsource = b\n");
    assert_eq!(found.len(), 1);
    let begin = "1:10 E0901 this is not TOML: invalid basic string, expected `\"`; a bundle has lines such as";
    assert!(found[0].starts_with(begin), "{found:#?}");
    // The TOML parser reports an error at a later line.
    let found =
        wrong("[[program]]\nsource = \"a.p4\"\ndev = [\"eth0\"\ntarget = \"xdp\"\n[share]\n");
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("4:1 E0901 "), "{found:#?}");
    let found = wrong("[[program]]\nsource = \"a.p4\"\nsource = \"b.p4\"\n");
    assert_eq!(
        found,
        ["3:1 E0901 `source` is given twice; remove one of them"]
    );
}

#[test]
fn the_schema_of_a_message_is_no_bundle() {
    let schema = "name = \"sensor\"\nroot = \"message\"\n[[layout]]\nname = \"message\"\n";
    let told = |text: &str| {
        let mut map = SourceMap::new();
        let file = map.add("a.toml", text).unwrap();
        is_message(&map, file)
    };
    assert!(told(schema));
    assert_eq!(
        wrong(schema),
        [
            "2:1 E0921 `dir/my flows.toml` is the schema of a message, and no bundle of programs; `onpath check dir/my flows.toml` \
             checks it, and `onpath plan dir/my flows.toml --attribute NAME` plans how an attribute is found"
        ]
    );
    let bundle = "root = 1\n[[program]]\nsource = \"a.p4\"\n";
    assert!(!told(bundle));
    assert!(wrong(bundle)[0].starts_with("1:1 E0902 unknown key `root` in a bundle"));
}

#[test]
fn unknown_keys_are_refused_with_what_there_is() {
    assert_eq!(
        wrong("[[program]]\nsource = \"a.p4\"\ntargt = \"xdp\"\nx = 1\n[extra]\n"),
        [
            "3:1 E0902 unknown key `targt` in a program; did you mean `target`?",
            "4:1 E0902 unknown key `x` in a program; it may have `name`, `source`, `include`, `define`, `extern`, `target`, \
             `dev`, `ports`, `reach`, `groups`, `entries`",
            "5:2 E0902 unknown key `extra` in a bundle; it may have `name`, `program`, `share`",
        ]
    );
}

#[test]
fn values_of_another_type_are_refused_with_an_example() {
    let cases = [
        (
            "name = 5",
            "3:8 E0903 `name` is a string, not an integer; write it like `name = \"count\"`: what the bundle and other commands know it by",
        ),
        (
            "target = true",
            "3:10 E0903 `target` is a string, not a boolean; write it like `target = \"tc-ingress\"`: where it runs",
        ),
        (
            "dev = 1.5",
            "3:7 E0903 `dev` is a string or a list of strings, not a float; write it like `dev = \"eth0\"`: the interface at which it runs, or a list of them",
        ),
        (
            "dev = [\"a\", 1]",
            "3:13 E0903 `dev` holds strings, not an integer; write it like `dev = \"eth0\"`: the interface at which it runs, or a list of them",
        ),
        (
            "ports = [\"a\"]",
            "3:9 E0903 `ports` is a table of strings, not an array; write it like `ports = { 3 = \"eth3\" }`: interfaces at which it runs, by their ports",
        ),
        (
            "reach = { 1 = 2 }",
            "3:15 E0903 `reach` holds strings, not an integer; write it like `reach = { 3 = \"eth3\" }`: interfaces to which it may only send, by their ports",
        ),
        (
            "groups = { 1 = 2 }",
            "3:16 E0903 `groups` holds lists of strings or whole numbers, not an integer; write it like `groups = { 1 = [0, 1, 2] }`: multicast groups and their ports",
        ),
        (
            "groups = { 1 = [\"a\"] }",
            "3:17 E0909 `a` is no port; write a number from 0 on, or `\"PORT:RID\"` with a replication id",
        ),
        (
            "entries = 1",
            "3:11 E0903 `entries` is a string or a list of strings, not an integer; write it like `entries = \"count.txt\"`: a file of entries, or a list of their lines",
        ),
        (
            "include = 1",
            "3:11 E0903 `include` is a string or a list of strings, not an integer; write it like `include = \"include\"`: a folder for `#include`, or a list of them",
        ),
        (
            "extern = 1",
            "3:10 E0903 `extern` is a string or a list of strings, not an integer; write it like `extern = \"sum.c\"`: a C file with extern functions, or a list of them",
        ),
        (
            "define = \"A=1\"",
            "3:10 E0903 `define` is a list of strings, not a string; write it like `define = [\"LARGE\", \"FLOWS=1024\"]`: macros, with values or without",
        ),
    ];
    for (lines, wanted) in cases {
        assert_eq!(wrong_program(lines), wanted);
    }
    let found = wrong("program = 1\n");
    assert_eq!(
        found,
        [
            "1:11 E0903 `program` is a list of at least one table, not an integer; write it like `[[program]]`: each program has this line and below it, at least, `source`"
        ]
    );
    let found = wrong("program = [1]\n");
    assert_eq!(
        found,
        [
            "1:12 E0903 `program` holds tables, not an integer; write it like `[[program]]`: each program has this line and below it, at least, `source`"
        ]
    );
    let found = wrong("share = 1\n[[program]]\nsource = \"a.p4\"\n");
    assert_eq!(
        found,
        [
            "1:9 E0903 `share` is a table of lists of strings, not an integer; write it like `share = { flows = [\"egress.flows\", \"ingress.flows\"] }`: states of two programs or more that are one"
        ]
    );
}

#[test]
fn a_bundle_has_programs_and_a_program_a_source() {
    assert_eq!(
        wrong("name = \"a\"\n"),
        [
            "1:1 E0904 a bundle has no `program`; add `[[program]]`: each program has this line and below it, at least, `source`"
        ]
    );
    assert_eq!(
        wrong("[[program]]\nname = \"a\"\n"),
        [
            "1:1 E0904 a program has no `source`; add `source = \"count.p4\"`: a P4 file, or an object"
        ]
    );
    assert_eq!(
        wrong_program("dev = [\"\"]"),
        "3:8 E0904 an interface has no name; add `dev = \"eth0\"`"
    );
}

#[test]
fn names_are_such_as_a_folder_may_have_and_each_stands_once() {
    let advice = "use letters, digits, `-` and `_`, up to 64 of them; `name = \"...\"` gives one that is not the file's";
    assert_eq!(
        wrong("name = \"a/b\"\n[[program]]\nsource = \"a.p4\"\nname = \"a.b\"\n"),
        [
            format!("1:8 E0905 `a/b` cannot be a name; {advice}"),
            format!("4:8 E0905 `a.b` cannot be a name; {advice}"),
        ]
    );
    assert_eq!(
        wrong("[[program]]\nsource = \"a.p4\"\n[[program]]\nsource = \"b/a.p4\"\n"),
        ["4:10 E0906 there are two programs `a`; give one of them another `name`"]
    );
}

#[test]
fn of_very_many_errors_the_first_are_reported() {
    let begun = std::time::Instant::now();
    let found = wrong(&"[[program]]\nsource = \"a.p4\"\n".repeat(20_000));
    assert!(begun.elapsed().as_secs() < 5, "{:?}", begun.elapsed());
    assert_eq!(found.len(), 201);
    assert!(
        found[200].contains("E0124 more than 200 errors"),
        "{}",
        found[200]
    );
}

#[test]
fn targets_go_by_their_names() {
    assert_eq!(
        wrong_program("target = \"tc-ingres\""),
        "3:10 E0907 there is no target `tc-ingres`; did you mean `tc-ingress`?"
    );
    assert_eq!(
        wrong_program("target = \"netfilter\""),
        "3:10 E0907 there is no target `netfilter`; the targets are `xdp`, `tc-ingress`, `tc-egress`"
    );
}

#[test]
fn ports_and_interfaces_stand_once_and_numbers_are_numbers() {
    let cases = [
        (
            "dev = [\"a\", \"a\"]",
            "3:13 E0908 interface a is given twice; give each interface once",
        ),
        (
            "dev = \"a\"\nports = { 0 = \"b\" }",
            "4:11 E0908 port 0 is given twice; `dev` gives its interfaces the ports 0, 1, …; give each port once",
        ),
        (
            "dev = \"a\"\ngroups = { 1 = [1] }",
            "4:17 E0908 multicast group 1 has port 1, which has no interface; name the port's interface by `dev`, `ports` or, \
             where the program is not to run, `reach`",
        ),
        (
            "ports = { x = \"b\" }",
            "3:11 E0909 `x` is no port; write a number from 0 on",
        ),
        (
            "groups = { 0 = [] }",
            "3:12 E0909 `0` is no multicast group; write a number from 1 to 65535",
        ),
        (
            "groups = { 1 = [-1] }",
            "3:17 E0909 `-1` is no port; write a number from 0 on, or `\"PORT:RID\"` with a replication id",
        ),
    ];
    for (lines, wanted) in cases {
        assert_eq!(wrong_program(lines), wanted);
    }
}

#[test]
fn a_key_and_its_value_are_both_reported() {
    let mut map = SourceMap::new();
    let text = "[[program]]\nsource = \"a.p4\"\nports = { x = 1 }\n";
    let file = map.add("a.toml", text).unwrap();
    let refused = read(&map, file).unwrap_err();
    let codes: Vec<&str> = refused.iter().map(|d| d.code.0).collect();
    assert_eq!(codes, ["E0909", "E0903"]);
}

#[test]
fn of_two_that_are_one_too_many_the_second_is_marked_and_the_first_is_shown() {
    let marked = |lines: &str| {
        let mut map = SourceMap::new();
        let text = format!("[[program]]\nsource = \"a.p4\"\n{lines}\n");
        let file = map.add("a.toml", text).unwrap();
        let refused = read(&map, file).unwrap_err();
        let spans = refused.iter().flat_map(|d| {
            let others = d.secondary.iter().map(|label| label.span);
            std::iter::once(d.primary.span).chain(others)
        });
        let shown = |span| {
            let at = map.line_col(span).unwrap().1;
            format!("{}:{} {}", at.line, at.column, map.text(span))
        };
        spans.map(shown).collect::<Vec<String>>()
    };
    for (lines, wanted) in [
        (
            "dev = [\"b\", \"a\", \"a\"]",
            &["3:18 \"a\"", "3:13 \"a\""][..],
        ),
        (
            "dev = \"a\"\nports = { 1 = \"b\", 0 = \"c\" }",
            &["4:20 0", "3:7 \"a\""],
        ),
        (
            "ports = { 1 = \"b\" }\nreach = { 2 = \"b\" }",
            &["4:15 \"b\"", "3:15 \"b\""],
        ),
        (
            "dev = \"a\"\ngroups = { 1 = [0], 01 = [0] }",
            &["4:21 01", "4:12 1"],
        ),
        ("dev = \"a\"\ngroups = { 1 = [0, 7, 0] }", &["4:20 7"]),
    ] {
        assert_eq!(marked(lines), wanted, "{lines}");
    }
}

#[test]
fn what_is_shared_is_the_state_of_two_programs() {
    let share = |line: &str| {
        wrong(&format!(
            "[[program]]\nsource = \"in.p4\"\n[[program]]\nsource = \"out.p4\"\n[share]\n{line}\n"
        ))
    };
    assert_eq!(
        share("x = [\"in\", \"out.f\"]"),
        ["6:6 E0911 `in` is not a program's state; write PROGRAM.STATE, such as `\"in.flows\"`"]
    );
    assert_eq!(
        share("x = [\"in.f\", \"outt.f\"]"),
        ["6:14 E0912 the bundle has no program `outt`; did you mean `out`?"]
    );
    assert_eq!(
        share("x = [\"in.f\", \"elsewhere.f\"]"),
        ["6:14 E0912 the bundle has no program `elsewhere`; the bundle has `in`, `out`"]
    );
    assert_eq!(
        share("x = [\"in.f\"]"),
        [
            "6:1 E0913 `x` is shared by one program only; name the state of two programs or more, or omit the line"
        ]
    );
    let advice = "name the state of two programs or more, or omit the line";
    assert_eq!(
        share("x = []"),
        [format!("6:1 E0913 `x` is shared by no program; {advice}")]
    );
    assert_eq!(
        share("x = [\"in.f\", \"in.g\"]"),
        [format!(
            "6:1 E0913 `x` is shared by one program only; {advice}"
        )]
    );
    // A share with a malformed part is not reported as having too few programs too.
    for wrong in [
        "x = [\"in.f\", \"out\"]",
        "x = [\"in.f\", \"out.\"]",
        "x = [\"in.f\", \".f\"]",
    ] {
        let found = share(wrong);
        assert_eq!(found.len(), 1);
        assert!(found[0].contains(" E0911 "), "{found:?}");
    }
    assert_eq!(
        share("x = [\"in.f\", \"out.f\"]\ny = [\"in.g\", \"out.f\"]"),
        [
            "7:14 E0914 `out.f` is shared twice; put all that is one state in one list, each part once"
        ]
    );
    assert_eq!(
        share("x = \"in.f\""),
        [
            "6:5 E0903 `share` holds lists of strings, not a string; write it like `share = { flows = [\"egress.flows\", \"ingress.flows\"] }`: states of two programs or more that are one"
        ]
    );
}

#[test]
fn an_object_is_compiled_already() {
    let text = "[[program]]\nsource = \"out/a.o\"\ndev = \"eth0\"\ntarget = \"xdp\"\n";
    let bundle = try_read(text).unwrap();
    assert_eq!(bundle.programs[0].name.value, "a");
    let told = |key| {
        format!(
            "5:1 E0920 `{key}` is for a P4 program, and `out/a.o` is compiled already; give it when the object is built, and remove it here"
        )
    };
    for (key, value) in [
        ("include", "\"lib\""),
        ("define", "[\"A=1\"]"),
        ("extern", "\"sum.c\""),
    ] {
        assert_eq!(wrong(&format!("{text}{key} = {value}\n")), [told(key)]);
    }
}

#[test]
fn what_is_written_of_a_bundle_reads_as_it() {
    let text = r#"
name = "flows"
[[program]]
name = "egress"
source = "out.o"
target = "tc-egress"
dev = ["eth0", "eth\"1"]
ports = { 7 = "eth7", 10 = "eth10" }
reach = { 9 = "mirror" }
groups = { 1 = [0, 7, "9:3"] }
entries = "e.txt"
[[program]]
source = "in.o"
entries = ["add t 1 drop()", "setdefault t pass()"]
[share]
flows = ["egress.flows", "in.c.flows"]
"#;
    let bundle = |text: &str| {
        let mut map = SourceMap::new();
        let file = map.add("flows.toml", text).unwrap();
        read(&map, file).unwrap()
    };
    let first = bundle(text);
    let written = crate::bundle::write(&first);
    let second = bundle(&written);
    let values = |bundle: &Bundle| {
        let entries = |member: &BundledProgram| match &member.entries {
            None => vec![],
            Some(Entries::File(file)) => vec![file.value.display().to_string()],
            Some(Entries::Lines(lines)) => lines.iter().map(|line| line.value.clone()).collect(),
            Some(Entries::Made(..)) => panic!("a bundle's file has none"),
        };
        let program = |member: &BundledProgram| {
            let hook = member.hook.as_ref().map(|hook| hook.value);
            let names = (member.name.value.clone(), member.source.value.clone());
            (names, hook, member.ports.clone(), entries(member))
        };
        let programs: Vec<_> = bundle.programs.iter().map(program).collect();
        let part = |by: &SharedBy| (by.program, by.state.clone());
        let share = |share: &Share| {
            let of: Vec<_> = share.of.iter().map(part).collect();
            (share.name.value.clone(), of)
        };
        let shares: Vec<_> = bundle.shares.iter().map(share).collect();
        let name = bundle.name.as_ref().map(|name| name.value.clone());
        (name, programs, shares)
    };
    assert_eq!(values(&second), values(&first), "{written}");
}
