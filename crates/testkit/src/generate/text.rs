//! Printing of a generated program as P4.

use super::{Generated, Language, Search, Stmt};
use std::fmt::Write;

impl Generated {
    /// Returns the program as P4.
    pub fn text(&self) -> String {
        let mut out = self.model.include().to_string();
        if self.metrics {
            out += "#include <telemetry.p4>\n";
        }
        out += self.model.metadata();
        for (t, fields) in self.types.iter().enumerate() {
            let _ = writeln!(out, "header t{t}_t {{");
            Generated::declare_fields(fields, &mut out);
            out += "}\n";
        }
        if let Some(stack) = &self.stack {
            stack.types(&mut out);
        }
        if self.search.is_some() {
            out += Search::TYPE;
        }
        out += "\nstruct headers_t {\n";
        for (h, ty) in self.headers.iter().enumerate() {
            let _ = writeln!(out, "    t{ty}_t h{h};");
        }
        if let Some(stack) = &self.stack {
            stack.field(&mut out);
        }
        if self.search.is_some() {
            out += Search::FIELD;
        }
        out += "}\n\n";
        if self.language.is_some() {
            out += Language::DECLARED;
        }
        out += self.model.parser();
        if self.search.is_some() {
            out += Search::LOCAL;
        }
        for (state, transition) in self.transitions.iter().enumerate() {
            let name = if state == 0 {
                "start".into()
            } else {
                format!("s{state}")
            };
            let end = if transition.starts_with("select") {
                ""
            } else {
                ";"
            };
            let by_generic =
                (self.language.as_ref()).is_some_and(|l| l.by_generic.contains(&state));
            let extract = match by_generic {
                true => format!("take.apply(packet, hdr.h{state})"),
                false => format!("packet.extract(hdr.h{state})"),
            };
            let _ = writeln!(
                out,
                "    state {name} {{\n        {extract};\n        transition {transition}{end}\n    }}"
            );
        }
        if let Some(stack) = &self.stack {
            stack.states(&mut out);
        }
        if let Some(search) = &self.search {
            search.states(&mut out);
        }
        out += "}\n\n";
        if let Some(flows) = &self.flows {
            flows.types(&mut out);
        }
        out += self.model.control();
        if let Some(flows) = &self.flows {
            flows.locals(&mut out);
        }
        if self.metrics {
            out += super::metrics::OBJECTS;
        }
        out += &self.model.objects();
        self.print_locals(&mut out);
        for (a, (params, body)) in self.actions.iter().enumerate() {
            let params: Vec<String> = params
                .iter()
                .enumerate()
                .map(|(p, w)| format!("bit<{w}> p{p}"))
                .collect();
            let _ = writeln!(out, "    action a{a}({}) {{", params.join(", "));
            print(&mut out, body, 2);
            out += "    }\n";
        }
        for (t, table) in self.tables.iter().enumerate() {
            table.print(t, &mut out);
        }
        out += "    apply {\n";
        out += self.model.begin();
        print(&mut out, &self.body, 2);
        out += "    }\n}\n\n";
        if self.model.is_switch() {
            out += "control V(inout headers_t hdr, inout metadata_t m) { apply { } }\n\n";
            out += "control U(inout headers_t hdr, inout metadata_t m) { apply { } }\n\n";
            out += "control E(inout headers_t hdr, inout metadata_t m, inout standard_metadata_t sm) {\n";
            self.print_locals(&mut out);
            out += "    apply {\n";
            print(&mut out, &self.behind, 2);
            out += "    }\n}\n\n";
        }
        out += self.model.deparser();
        let stack = self.stack.as_ref().map(|stack| stack.emitted_before);
        for (i, h) in self.emits.iter().enumerate() {
            if stack == Some(i) {
                out += "        packet.emit(hdr.st);\n";
            }
            let _ = writeln!(out, "        packet.emit(hdr.h{h});");
        }
        if stack == Some(self.emits.len()) {
            out += "        packet.emit(hdr.st);\n";
        }
        if self.search.is_some() {
            out += "        packet.emit(hdr.found);\n";
        }
        out + "    }\n}\n\n" + self.model.main()
    }
}

impl Generated {
    fn print_locals(&self, out: &mut String) {
        for (v, (width, value)) in self.locals.iter().enumerate() {
            let _ = writeln!(out, "    bit<{width}> v{v} = {value};");
        }
        if self.language.is_some() {
            Language::locals(out);
        }
    }
}

fn print(out: &mut String, block: &[Stmt], level: usize) {
    let pad = "    ".repeat(level);
    for stmt in block {
        match stmt {
            Stmt::Plain(text) => {
                let _ = writeln!(out, "{pad}{text}");
            }
            Stmt::If(cond, then, otherwise) => {
                let _ = writeln!(out, "{pad}if ({cond}) {{");
                print(out, then, level + 1);
                if !otherwise.is_empty() {
                    let _ = writeln!(out, "{pad}}} else {{");
                    print(out, otherwise, level + 1);
                }
                let _ = writeln!(out, "{pad}}}");
            }
            Stmt::Switch(on, cases) => {
                let _ = writeln!(out, "{pad}switch ({on}) {{");
                for (label, block) in cases {
                    let _ = writeln!(out, "{pad}    {label}: {{");
                    print(out, block, level + 2);
                    let _ = writeln!(out, "{pad}    }}");
                }
                let _ = writeln!(out, "{pad}}}");
            }
            Stmt::Atomic(body) => {
                let _ = writeln!(out, "{pad}@atomic {{");
                print(out, body, level + 1);
                let _ = writeln!(out, "{pad}}}");
            }
            Stmt::For(head, body) => {
                let _ = writeln!(out, "{pad}for ({head}) {{");
                print(out, body, level + 1);
                let _ = writeln!(out, "{pad}}}");
            }
        }
    }
}
