//! A header stack, or one of unions, that a parser loop fills: small ones are unrolled, large ones stay rolled.

use super::{Generator, Stmt};
use std::fmt::Write;

/// A stack behind all headers.
#[derive(Clone, Debug)]
pub(crate) struct StackOf {
    /// The fields of the union's members; one member is a stack of plain headers.
    pub members: Vec<Vec<(String, u32)>>,
    /// How many elements there are.
    pub size: usize,
    /// Before how many of the other headers it is emitted.
    pub emitted_before: usize,
}

impl StackOf {
    /// What is behind an element for one of its members.
    fn path(&self, member: usize) -> String {
        match self.members.len() {
            1 => String::new(),
            _ => format!(".m{member}"),
        }
    }

    /// The types, before the headers' struct.
    pub(super) fn types(&self, out: &mut String) {
        for (m, fields) in self.members.iter().enumerate() {
            let _ = writeln!(out, "header m{m}_t {{");
            for (name, width) in fields {
                let _ = writeln!(out, "    bit<{width}> {name};");
            }
            *out += "}\n";
        }
        if self.members.len() > 1 {
            *out += "header_union u_t {\n";
            for m in 0..self.members.len() {
                let _ = writeln!(out, "    m{m}_t m{m};");
            }
            *out += "}\n";
        }
    }

    /// The stack, in the headers' struct.
    pub(super) fn field(&self, out: &mut String) {
        let of = if self.members.len() > 1 { "u" } else { "m0" };
        let _ = writeln!(out, "    {of}_t[{}] st;", self.size);
    }

    /// The loop that fills it.
    pub(super) fn states(&self, out: &mut String) {
        *out += "    state stack {\n        transition select(packet.lookahead<bit<8>>()[1:0]) {\n";
        for m in 0..self.members.len() {
            let _ = writeln!(out, "            {}: m{m};", m + 1);
        }
        *out += "            default: accept;\n        }\n    }\n";
        for m in 0..self.members.len() {
            let path = self.path(m);
            let _ = writeln!(
                out,
                "    state m{m} {{\n        packet.extract(hdr.st.next{path});\n        transition stack;\n    }}"
            );
        }
    }
}

impl Generator<'_> {
    /// A stack and what the program does with it, between its other statements.
    pub(super) fn stack(&mut self) {
        let members = (0..1 + self.below(3)).map(|_| self.fields(1)).collect();
        let others = self.program.emits.len();
        let stack = StackOf {
            members,
            size: [2, 3, 8, 16, 20][self.below(5)],
            emitted_before: if self.chance(5) {
                self.below(others)
            } else {
                others
            },
        };
        for _ in 0..2 + self.below(4) {
            let stmt = self.about_stack(&stack);
            let at = self.below(self.program.body.len() + 1);
            self.program.body.insert(at, stmt);
        }
        for transition in &mut self.program.transitions {
            if transition == "accept" {
                *transition = "stack".into();
            }
        }
        self.program.stack = Some(stack);
    }

    fn about_stack(&mut self, stack: &StackOf) -> Stmt {
        let member = self.below(stack.members.len());
        let path = stack.path(member);
        let index = match self.below(3) {
            0 => {
                let local = self.below(self.program.locals.len());
                format!("(bit<32>)((bit<5>)(v{local}))")
            }
            _ => self.below(stack.size).to_string(),
        };
        match self.below(9) {
            0 => Stmt::Plain(format!("hdr.st.pop_front({});", 1 + self.below(3))),
            1 => Stmt::Plain(format!("hdr.st[{index}]{path}.setInvalid();")),
            2 if self.chance(3) => {
                let widths: Vec<u32> = stack.members[member].iter().map(|f| f.1).collect();
                let values: Vec<String> = widths.into_iter().map(|w| self.expr(w, 1)).collect();
                Stmt::Plain(format!(
                    "hdr.st.push_front(1); hdr.st[0]{path} = {{ {} }};",
                    values.join(", ")
                ))
            }
            3..=5 => {
                self.loops += 1;
                let name = format!("e{}", self.loops);
                let head = format!(
                    "bit<32> {name} = 0; {name} < {}; {name} = {name} + 1",
                    stack.size
                );
                let inner = self.with_element(stack, member, &name);
                Stmt::For(head, vec![inner])
            }
            _ => self.with_element(stack, member, &index),
        }
    }

    /// Reads or writes a field of an element, if it is valid.
    fn with_element(&mut self, stack: &StackOf, member: usize, index: &str) -> Stmt {
        let element = format!("hdr.st[{index}]{}", stack.path(member));
        let field = self.below(stack.members[member].len());
        let (name, width) = stack.members[member][field].clone();
        let place = format!("{element}.{name}");
        let inner = if self.chance(2) {
            format!("{place} = {};", self.expr(width, 1))
        } else {
            let local = self.below(self.program.locals.len());
            let wide = self.program.locals[local].0;
            format!("v{local} = v{local} ^ (bit<{wide}>)({place});")
        };
        Stmt::If(
            format!("{element}.isValid()"),
            vec![Stmt::Plain(inner)],
            Vec::new(),
        )
    }
}
