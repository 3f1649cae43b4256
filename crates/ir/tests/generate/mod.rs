//! Random programs in the text form, with every statement and operator at every allowed position.

use std::fmt::Write;

/// Returns the packet with this number.
pub(crate) fn packet(seed: u64, number: u64) -> Vec<u8> {
    let mut random = Random(seed ^ number << 40 ^ 0x5eed);
    let len = if random.one_in(4) {
        random.below(20)
    } else {
        20 + random.below(40)
    };
    // Few distinct values, so that selects and keys match.
    (0..len)
        .map(|_| match random.below(3) {
            0 => random.next() as u8,
            1 => random.below(4) as u8,
            _ => [0x81, 0x08, 0x80, 0xff][random.below(4) as usize],
        })
        .collect()
}

/// Returns the program for a seed.
pub(crate) fn program(seed: u64) -> String {
    let mut generator = Generator {
        random: Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0xabcd),
        vars: Vec::new(),
        headers: Vec::new(),
        labels: 0,
        loops: 0,
        around: Vec::new(),
        context: Context::Control,
        routines: Vec::new(),
        tables: Vec::new(),
    };
    indent(&generator.program())
}

/// Indents nested lines: only items begin in the first column.
fn indent(text: &str) -> String {
    let mut depth = 0i32;
    let mut out = String::new();
    for line in text.lines() {
        if depth > 0 {
            out.push(' ');
        }
        out.push_str(line);
        out.push('\n');
        depth += line.matches('{').count() as i32 - line.matches('}').count() as i32;
    }
    out
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Ty {
    Bool,
    Bit(u32),
    Int(u32),
    Error,
}

impl Ty {
    fn text(self) -> String {
        match self {
            Ty::Bool => "bool".to_owned(),
            Ty::Bit(w) => format!("bit<{w}>"),
            Ty::Int(w) => format!("int<{w}>"),
            Ty::Error => "error".to_owned(),
        }
    }
}

/// Few types, so that variables of one type meet in expressions.
const TYPES: [Ty; 9] = [
    Ty::Bool,
    Ty::Bit(3),
    Ty::Bit(5),
    Ty::Bit(8),
    Ty::Bit(16),
    Ty::Bit(32),
    Ty::Bit(48),
    Ty::Int(8),
    Ty::Error,
];

const ERRORS: [&str; 7] = [
    "NoError",
    "PacketTooShort",
    "NoMatch",
    "StackOutOfBounds",
    "HeaderTooShort",
    "ParserTimeout",
    "ParserInvalidArgument",
];

#[derive(Clone, Copy, PartialEq)]
enum HeaderKind {
    Tag,
    Odd,
    Opt,
}

impl HeaderKind {
    fn name(self) -> &'static str {
        match self {
            HeaderKind::Tag => "tag",
            HeaderKind::Odd => "odd",
            HeaderKind::Opt => "opt",
        }
    }

    fn fields(self) -> &'static [(&'static str, Ty)] {
        match self {
            HeaderKind::Tag => &[
                ("a", Ty::Bit(3)),
                ("b", Ty::Bit(5)),
                ("c", Ty::Bit(8)),
                ("d", Ty::Bit(16)),
            ],
            HeaderKind::Odd => &[
                ("x", Ty::Bit(48)),
                ("f", Ty::Bool),
                ("y", Ty::Bit(3)),
                ("z", Ty::Bit(5)),
                ("r", Ty::Bit(7)),
                ("s", Ty::Int(8)),
            ],
            HeaderKind::Opt => &[("len", Ty::Bit(8))],
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Context {
    Parser,
    Control,
    Function,
    Action,
    Deparser,
}

#[derive(Clone)]
enum Param {
    Scalar(&'static str, Ty),
    Header(&'static str, HeaderKind),
}

#[derive(Clone)]
struct Routine {
    name: String,
    params: Vec<Param>,
    is_control: bool,
}

struct Generator {
    random: Random,
    vars: Vec<(String, Ty)>,
    headers: Vec<(String, HeaderKind)>,
    labels: u32,
    loops: u32,
    /// Enclosing labels; the bool is true for a loop.
    around: Vec<(u32, bool)>,
    context: Context,
    routines: Vec<Routine>,
    tables: Vec<String>,
}

impl Generator {
    fn program(&mut self) -> String {
        for i in 0..11 {
            let ty = TYPES[i % TYPES.len()];
            self.vars.push((format!("v{i}"), ty));
        }
        for (name, kind) in [
            ("h0", HeaderKind::Tag),
            ("h1", HeaderKind::Tag),
            ("o", HeaderKind::Odd),
            ("q", HeaderKind::Odd),
            ("v", HeaderKind::Opt),
            ("u", HeaderKind::Opt),
            ("s[0]", HeaderKind::Tag),
            ("s[1]", HeaderKind::Tag),
            ("s[2]", HeaderKind::Tag),
        ] {
            self.headers.push((name.to_owned(), kind));
        }
        let mut declarations = String::new();
        let mut code = String::new();
        for (name, ty) in &self.vars {
            let _ = writeln!(declarations, "var {name}: {}", ty.text());
        }
        for (name, kind) in &self.headers {
            let _ = writeln!(declarations, "header {name}: {}", kind.name());
        }
        for name in ["next", "xout.port", "xin.port"] {
            self.vars.push((name.to_owned(), Ty::Bit(32)));
            let _ = writeln!(declarations, "var {name}: bit<32>");
        }
        declarations.push_str("stack s next next { s[0], s[1], s[2] }\n");
        for number in 0..self.random.below(5) {
            self.routine(number, &mut declarations, &mut code);
        }
        if self.random.one_in(2) {
            self.table("t", &mut declarations, &mut code);
            self.tables.push("t".to_owned());
        }
        self.context = Context::Control;
        let is_xdp = !self.random.one_in(3);
        let body = self.block(5, 3) + &self.block(5, 2) + &self.call() + &self.call();
        let first = if is_xdp {
            "xout.action = xdp_action::XDP_PASS;"
        } else {
            "xout.port = 32w2;"
        };
        let _ = writeln!(code, "routine c block() {{\n{first}\n{body}}}");
        for name in ["before", "egress", "after"] {
            let body = self.block(3, 2);
            let _ = writeln!(code, "routine {name} block() {{\n{body}}}");
        }
        self.context = Context::Deparser;
        let mut body = String::new();
        for _ in 0..2 + self.random.below(6) {
            let header = self.header(None);
            if self.random.one_in(4) {
                let cond = self.expr(Ty::Bool, 1);
                let _ = writeln!(body, "if {cond} {{\nemit {header};\n}}");
            } else {
                let _ = writeln!(body, "emit {header};");
            }
            if self.random.one_in(4) {
                body += &self.block(1, 0);
            }
        }
        // Copies some storage to an emitted header, so that its value is observable.
        body += "set_valid dump;\n";
        for field in 0..8 {
            let ty = self.any_type();
            let place = self.place(ty);
            let value = match ty {
                Ty::Bool => format!("{place} ? 48w1 : 48w2"),
                _ => format!("cast({place}, bit<48>)"),
            };
            let _ = writeln!(body, "dump.f{field} = {value};");
        }
        body += "emit dump;\n";
        let _ = writeln!(code, "routine d block() {{\n{body}}}");
        self.context = Context::Parser;
        let parser = self.parser();
        for i in 0..self.loops {
            let _ = writeln!(declarations, "var i{i}: bit<8>");
        }
        declarations.push_str("header dump: dumped\n");
        let dumped: String = (0..8).map(|i| format!("f{i}: bit<48>;\n")).collect();
        let (arch, end) = if is_xdp {
            (
                "xdp reject stop",
                "pipeline parser parser p\npipeline switch control c\npipeline deparser deparser d\n\
                 slot headers {\nheader \"h0\" = h0;\n}\n\
                 intrinsic slot xdp_input {\nvar \"input_port\" = xin.port;\n}\n\
                 intrinsic slot xdp_output {\nvar \"output_action\" = xout.action;\nvar \"output_port\" = xout.port;\n}\n",
            )
        } else {
            (
                "V1Switch reject continue",
                "pipeline parser parser p\npipeline `verify checksum` control before\n\
                 pipeline ingress control c\npipeline egress control egress\n\
                 pipeline `compute checksum` control after\npipeline deparser deparser d\n\
                 slot headers {\nheader \"h0\" = h0;\n}\nslot meta {\nvar \"v1\" = v1;\n}\n\
                 intrinsic slot standard_metadata {\nvar \"ingress_port\" = xin.port;\n\
                 var \"egress_spec\" = xout.port;\nvar \"parser_error\" = v8;\n\
                 var \"packet_length\" = v5;\n}\n",
            )
        };
        format!(
            "program {arch}\nerrors {}\nlabels {}\n\
             enum xdp_action {{ XDP_ABORTED, XDP_DROP, XDP_PASS, XDP_TX, XDP_REDIRECT }}\n\
             header_type tag {{\na: bit<3>;\nb: bit<5>;\nc: bit<8>;\nd: bit<16>;\n}}\n\
             header_type odd {{\nx: bit<48>;\nf: bool;\ny: bit<3>;\nz: bit<5>;\nr: bit<7>;\ns: int<8>;\n}}\n\
             header_type opt {{\nlen: bit<8>;\ndata: varbit<24>;\n}}\n\
             header_type dumped {{\n{dumped}}}\n\
             var xout.action: xdp_action\n{declarations}{code}{parser}{end}",
            ERRORS.join(", "),
            self.labels,
        )
    }

    /// Generates a routine that may call those before it, with a table of its own if it is a control.
    fn routine(&mut self, number: u64, declarations: &mut String, code: &mut String) {
        let (vars, headers, tables) = (self.vars.len(), self.headers.len(), self.tables.len());
        let is_control = self.random.one_in(2);
        let mut params = Vec::new();
        let mut text = Vec::new();
        for i in 0..self.random.below(4) {
            let name = format!("p{number}_{i}");
            if self.random.one_in(3) {
                let kind = [HeaderKind::Tag, HeaderKind::Odd][self.random.below(2) as usize];
                let direction =
                    ["header_in", "header_out", "header_inout"][self.random.below(3) as usize];
                let _ = writeln!(declarations, "header {name}: {}", kind.name());
                text.push(format!("{direction} {name}"));
                self.headers.push((name, kind));
                params.push(Param::Header(direction, kind));
            } else {
                let ty = TYPES[self.random.below(TYPES.len() as u64) as usize];
                let direction = ["in", "out", "inout"][self.random.below(3) as usize];
                let _ = writeln!(declarations, "var {name}: {}", ty.text());
                text.push(format!("{direction} {name}"));
                self.vars.push((name, ty));
                params.push(Param::Scalar(direction, ty));
            }
        }
        if is_control && self.random.one_in(2) {
            let name = format!("t{number}");
            self.table(&name, declarations, code);
            self.tables.push(name);
        }
        self.context = if is_control {
            Context::Control
        } else {
            Context::Function
        };
        let body = self.block(4, 2);
        let kind = if is_control { "control" } else { "function" };
        let _ = writeln!(
            code,
            "routine f{number} {kind}({}) {{\n{body}}}",
            text.join(", ")
        );
        self.vars.truncate(vars);
        self.headers.truncate(headers);
        self.tables.truncate(tables);
        self.routines.push(Routine {
            name: format!("f{number}"),
            params,
            is_control,
        });
    }

    fn table(&mut self, name: &str, declarations: &mut String, code: &mut String) {
        self.context = Context::Action;
        let mut actions = Vec::new();
        for i in 0..1 + self.random.below(3) {
            let action = format!("{name}_a{i}");
            let param = format!("{action}_p");
            let _ = writeln!(declarations, "var {param}: bit<8>");
            self.vars.push((param.clone(), Ty::Bit(8)));
            let body = self.block(3, 1);
            self.vars.pop();
            let _ = writeln!(code, "action {action}({param}) {{\n{body}}}");
            actions.push(action);
        }
        let any = |g: &mut Generator| {
            let at = g.random.below(actions.len() as u64) as usize;
            format!("{}(8w{})", actions[at], g.random.below(200))
        };
        let first = [Ty::Bit(8), Ty::Bit(3), Ty::Bit(16)][self.random.below(3) as usize];
        let key = self.expr(first, 1);
        let second = self.expr(Ty::Bool, 1);
        let _ = writeln!(
            code,
            "table {name} {{\nkey \"k\" ternary {key};\nkey \"l\" exact {second};"
        );
        for action in &actions {
            let _ = writeln!(code, "action {action};");
        }
        let _ = writeln!(code, "default {};", any(self));
        for priority in 0..self.random.below(6) {
            let Ty::Bit(width) = first else { continue };
            let mask = self.random.next() & 7;
            let value = self.random.next() & mask;
            let (valid, call) = (self.random.below(2), any(self));
            let _ = writeln!(
                code,
                "entry const {priority} ({width}w{value} &&& {width}w{mask}, 1w{valid}) -> {call};"
            );
        }
        let _ = writeln!(code, "}}");
    }

    fn parser(&mut self) -> String {
        let states = 2 + self.random.below(5);
        let mut out = "parser p start s0 {\n".to_owned();
        for state in 0..states {
            // Every state extracts something, so that parsing ends.
            let extract = self.extract();
            let more = self.block(2, 1);
            let _ = writeln!(out, "state s{state} {{\n{extract}{more}");
            if self.random.one_in(4) {
                let target = self.target(states);
                let _ = writeln!(out, "goto {target};\n}}");
                continue;
            }
            let ty = [Ty::Bit(3), Ty::Bit(8), Ty::Bit(16)][self.random.below(3) as usize];
            let Ty::Bit(width) = ty else { continue };
            let (key, flag) = (self.expr(ty, 1), self.expr(Ty::Bool, 1));
            let _ = writeln!(out, "select ({key}, {flag}) {{");
            for _ in 0..1 + self.random.below(4) {
                let value = self.random.below(8);
                let first = match self.random.below(4) {
                    0 => "_".to_owned(),
                    1 => format!("{width}w{value}"),
                    2 => format!("{width}w{value} &&& {width}w{}", self.random.below(8)),
                    _ => format!("{width}w{} .. {width}w{}", value / 2, value),
                };
                let second = ["_", "1w0", "1w1"][self.random.below(3) as usize];
                let target = self.target(states);
                let _ = writeln!(out, "({first}, {second}) -> {target};");
            }
            if !self.random.one_in(5) {
                let target = self.target(states);
                let _ = writeln!(out, "(_, _) -> {target};");
            }
            out.push_str("}\n}\n");
        }
        out + "}\n"
    }

    fn target(&mut self, states: u64) -> String {
        match self.random.below(4) {
            0 | 1 => "accept".to_owned(),
            2 if self.random.one_in(9) => "reject".to_owned(),
            _ => format!("s{}", self.random.below(states)),
        }
    }

    fn extract(&mut self) -> String {
        match self.random.below(6) {
            0 => "extract s[next];\nnext = next + 32w1;\n".to_owned(),
            1 => {
                let size = self.expr(Ty::Bit(32), 0);
                format!("extract v, {size} & 32w0x18;\n")
            }
            2 => format!("advance 32w{};\n", 8 * (1 + self.random.below(3))),
            3 => {
                let size = self.expr(Ty::Bit(32), 0);
                format!("extract u, {size} & 32w0x18;\nadvance 32w8;\n")
            }
            _ => {
                let header = self.header_but(HeaderKind::Opt);
                format!("extract {header};\n")
            }
        }
    }

    fn block(&mut self, most: u64, depth: u32) -> String {
        let mut out = String::new();
        for _ in 0..self.random.below(most + 1) {
            out += &self.stmt(depth);
        }
        out
    }

    fn pick(&mut self, ty: Ty) -> String {
        let vars: Vec<_> = self.vars.iter().filter(|v| v.1 == ty).collect();
        let at = self.random.below(vars.len() as u64) as usize;
        vars[at].0.clone()
    }

    fn header(&mut self, kind: Option<HeaderKind>) -> String {
        if kind.is_none_or(|kind| kind == HeaderKind::Tag) && self.random.one_in(4) {
            let index = match self.random.below(4) {
                0 => "next".to_owned(),
                1 => self.expr(Ty::Bit(32), 1),
                2 => format!("({} & 32w3)", self.expr(Ty::Bit(32), 0)),
                _ => format!("32w{}", self.random.below(4)),
            };
            return format!("s[{index}]");
        }
        let headers: Vec<_> = self
            .headers
            .iter()
            .filter(|h| kind.is_none_or(|kind| h.1 == kind))
            .collect();
        let at = self.random.below(headers.len() as u64) as usize;
        headers[at].0.clone()
    }

    fn header_but(&mut self, kind: HeaderKind) -> String {
        let other = [HeaderKind::Tag, HeaderKind::Odd][self.random.below(2) as usize];
        assert!(other != kind);
        self.header(Some(other))
    }

    fn field(&mut self, ty: Ty) -> Option<String> {
        let mut found = Vec::new();
        for kind in [HeaderKind::Tag, HeaderKind::Odd, HeaderKind::Opt] {
            for (name, field) in kind.fields() {
                if *field == ty {
                    found.push((kind, *name));
                }
            }
        }
        if found.is_empty() {
            return None;
        }
        let (kind, name) = found[self.random.below(found.len() as u64) as usize];
        Some(format!("{}.{name}", self.header(Some(kind))))
    }

    fn place(&mut self, ty: Ty) -> String {
        if self.random.one_in(2)
            && let Some(field) = self.field(ty)
        {
            return field;
        }
        self.pick(ty)
    }

    fn any_type(&mut self) -> Ty {
        TYPES[self.random.below(TYPES.len() as u64) as usize]
    }

    fn label(&mut self) -> u32 {
        self.labels += 1;
        self.labels - 1
    }

    fn stmt(&mut self, depth: u32) -> String {
        let ty = self.any_type();
        match self.random.below(23) {
            0 => {
                let (to, from) = (self.pick(ty), self.pick(ty));
                format!("{to} = {from};\n")
            }
            1..=6 => {
                let (place, value) = (self.place(ty), self.expr(ty, 2));
                format!("{place} = {value};\n")
            }
            7 => {
                let kind = [HeaderKind::Tag, HeaderKind::Odd, HeaderKind::Opt]
                    [self.random.below(3) as usize];
                let (dst, src) = (self.header(Some(kind)), self.header(Some(kind)));
                format!("copy {dst} = {src};\n")
            }
            8 => format!("set_valid {};\n", self.header(None)),
            9 => format!("set_invalid {};\n", self.header(None)),
            10 => match self.random.below(4) {
                0 => format!("push_front s by {};\n", self.random.below(5)),
                1 => format!("pop_front s by {};\n", self.random.below(5)),
                _ => "u.data = v.data;\n".to_owned(),
            },
            11 | 12 if depth > 0 => {
                let cond = self.expr(Ty::Bool, 2);
                let (then, other) = (self.block(3, depth - 1), self.block(2, depth - 1));
                format!("if {cond} {{\n{then}}}\nelse {{\n{other}}}\n")
            }
            13 if depth > 0 => {
                let on = self.expr(Ty::Bit(3), 1);
                let (a, b, c) = (
                    self.block(2, depth - 1),
                    self.block(2, depth - 1),
                    self.block(2, depth - 1),
                );
                format!(
                    "switch {on} {{\ncase 3w0, 3w1 {{\n{a}}}\ncase 3w4 {{\n{b}}}\ndefault {{\n{c}}}\n}}\n"
                )
            }
            14 if depth > 0 => {
                let label = self.label();
                self.around.push((label, false));
                let body = self.block(4, depth - 1);
                self.around.pop();
                format!("block label{label} {{\n{body}}}\n")
            }
            22 if depth > 0 && self.context != Context::Parser => {
                format!("atomic {{\n{}}}\n", self.block(4, depth - 1))
            }
            15 if depth > 0 => {
                let (label, i) = (self.label(), self.loops);
                self.loops += 1;
                let rounds = 1 + self.random.below(4);
                self.around.push((label, true));
                let body = self.block(4, depth - 1);
                self.around.pop();
                format!(
                    "i{i} = 8w0;\nloop label{label} {{\nif i{i} >= 8w{rounds} {{\nbreak label{label};\n}}\ni{i} = i{i} + 8w1;\n{body}}}\n"
                )
            }
            16 if !self.around.is_empty() => {
                let at = self.random.below(self.around.len() as u64) as usize;
                let (label, is_loop) = self.around[at];
                let word = if is_loop && self.random.one_in(2) {
                    "continue"
                } else {
                    "break"
                };
                let cond = self.expr(Ty::Bool, 1);
                format!("if {cond} {{\n{word} label{label};\n}}\n")
            }
            17 => match self.context {
                Context::Parser => match self.random.below(5) {
                    0 => self.extract(),
                    1 => format!("lookahead {};\n", self.place(ty)),
                    2 => format!("packet_length {};\n", self.place(Ty::Bit(32))),
                    3 => {
                        let (limit, passed) = (self.expr(Ty::Bit(32), 1), self.pick(Ty::Bit(32)));
                        let mask = ["", " &&& 8w0xf", " &&& 8w1 behind 3"];
                        let mask = mask[self.random.below(3) as usize];
                        format!("search 8w1{mask} within {limit} -> {passed};\n")
                    }
                    _ => {
                        let cond = format!("({} | (v3 != 8w1))", self.expr(Ty::Bool, 1));
                        let error = ERRORS[self.random.below(7) as usize];
                        format!("verify {cond}, error::{error};\n")
                    }
                },
                _ => {
                    let word = match self.context {
                        Context::Function => "return",
                        _ => ["return", "exit"][self.random.below(2) as usize],
                    };
                    let cond = self.expr(Ty::Bool, 1);
                    format!("if {cond} {{\n{word};\n}}\n")
                }
            },
            18 | 19 => self.call(),
            20 | 21 if self.context == Context::Control && !self.tables.is_empty() => {
                let at = self.random.below(self.tables.len() as u64) as usize;
                let table = self.tables[at].clone();
                let hit = match self.random.below(2) {
                    0 => String::new(),
                    _ => format!(" hit {}", self.pick(Ty::Bool)),
                };
                let action = match self.random.below(2) {
                    0 => String::new(),
                    _ => format!(" action {}", self.pick(Ty::Bit(32))),
                };
                format!("apply {table}{hit}{action};\n")
            }
            _ => {
                let (place, value) = (self.place(ty), self.expr(ty, 0));
                format!("{place} = {value};\n")
            }
        }
    }

    fn call(&mut self) -> String {
        let callable: Vec<_> = self
            .routines
            .iter()
            .filter(|r| self.context == Context::Control || !r.is_control)
            .cloned()
            .collect();
        // Functions call only functions, which neither exit nor apply tables.
        if callable.is_empty() {
            return String::new();
        }
        let routine = callable[self.random.below(callable.len() as u64) as usize].clone();
        let mut args = Vec::new();
        for param in &routine.params {
            args.push(match *param {
                Param::Scalar("in", ty) if self.random.one_in(3) => format!("in {}", self.pick(ty)),
                Param::Scalar("in", ty) => format!("in {}", self.expr(ty, 1)),
                Param::Scalar("out", _) if self.random.one_in(5) => "out _".to_owned(),
                Param::Scalar(direction, ty) => format!("{direction} {}", self.place(ty)),
                Param::Header("header_out", _) if self.random.one_in(5) => "header _".to_owned(),
                Param::Header(_, kind) => format!("header {}", self.header(Some(kind))),
            });
        }
        format!("call {}({});\n", routine.name, args.join(", "))
    }

    fn expr(&mut self, ty: Ty, depth: u32) -> String {
        if depth == 0 || self.random.one_in(3) {
            return match self.random.below(3) {
                0 => self.constant(ty),
                1 => self.field(ty).unwrap_or_else(|| self.pick(ty)),
                _ => self.pick(ty),
            };
        }
        let d = depth - 1;
        match ty {
            Ty::Error => {
                let (c, a, b) = (self.expr(Ty::Bool, d), self.expr(ty, d), self.expr(ty, d));
                format!("({c} ? {a} : {b})")
            }
            Ty::Bool => match self.random.below(7) {
                0 => format!("valid({})", self.header(None)),
                1 => format!("(!{})", self.expr(ty, d)),
                2 => {
                    let op = ["&", "|", "==", "!="][self.random.below(4) as usize];
                    format!("({} {op} {})", self.expr(ty, d), self.expr(ty, d))
                }
                3 => format!("cast({}[0:0], bool)", self.expr(Ty::Bit(5), d)),
                4 => {
                    let of = self.any_type();
                    let op = ["==", "!="][self.random.below(2) as usize];
                    format!("({} {op} {})", self.expr(of, d), self.expr(of, d))
                }
                5 => {
                    let op = ["==", "!="][self.random.below(2) as usize];
                    format!(
                        "({}.data {op} {}.data)",
                        self.header(Some(HeaderKind::Opt)),
                        self.header(Some(HeaderKind::Opt))
                    )
                }
                _ => {
                    let of = [Ty::Bit(8), Ty::Int(8), Ty::Bit(48)][self.random.below(3) as usize];
                    let op = ["<", "<=", ">", ">="][self.random.below(4) as usize];
                    format!("({} {op} {})", self.expr(of, d), self.expr(of, d))
                }
            },
            Ty::Bit(w) | Ty::Int(w) => match self.random.below(9) {
                0 => {
                    let op = ["~", "-"][self.random.below(2) as usize];
                    format!("({op}{})", self.expr(ty, d))
                }
                1..=3 => {
                    let ops = ["+", "-", "*", "&", "|", "^", "|+|", "|-|", "/", "%"];
                    let op = ops[self.random.below(10) as usize];
                    format!("({} {op} {})", self.expr(ty, d), self.expr(ty, d))
                }
                4 => {
                    let op = ["<<", ">>"][self.random.below(2) as usize];
                    format!("({} {op} {})", self.expr(ty, d), self.expr(Ty::Bit(3), d))
                }
                5 => {
                    let (c, a, b) = (self.expr(Ty::Bool, d), self.expr(ty, d), self.expr(ty, d));
                    format!("({c} ? {a} : {b})")
                }
                6 if ty == Ty::Bit(8) => {
                    format!(
                        "({} ++ {})",
                        self.expr(Ty::Bit(3), d),
                        self.expr(Ty::Bit(5), d)
                    )
                }
                6 if ty == Ty::Bit(16) => {
                    format!(
                        "({} ++ {})",
                        self.expr(Ty::Bit(8), d),
                        self.expr(Ty::Bit(8), d)
                    )
                }
                7 if ty != Ty::Int(8) => {
                    let of = [Ty::Bit(48), Ty::Bit(8), Ty::Bit(16), Ty::Int(8)]
                        [self.random.below(4) as usize];
                    let (Ty::Bit(width) | Ty::Int(width)) = of else {
                        return self.constant(ty);
                    };
                    if width < w {
                        return format!("cast({}, {})", self.expr(of, d), ty.text());
                    }
                    let lo = self.random.below(u64::from(width - w) + 1) as u32;
                    let inner = self.expr(of, d);
                    format!("({inner}: {})[{}:{lo}]", of.text(), lo + w - 1)
                }
                _ => {
                    let of = [Ty::Bit(3), Ty::Bit(48), Ty::Int(8), Ty::Bit(32)]
                        [self.random.below(4) as usize];
                    format!("cast({}, {})", self.expr(of, d), ty.text())
                }
            },
        }
    }

    fn constant(&mut self, ty: Ty) -> String {
        let small = self.random.one_in(2);
        let value = if small {
            self.random.below(8)
        } else {
            self.random.next()
        };
        match ty {
            Ty::Bool => ["false", "true"][(value & 1) as usize].to_owned(),
            Ty::Error => format!("error::{}", ERRORS[(value % 7) as usize]),
            Ty::Bit(w) => format!("{w}w{}", value & ((1 << w) - 1)),
            Ty::Int(w) => format!("{w}s{}", value & ((1 << w) - 1)),
        }
    }
}
