//! Stacks of headers or header unions that a parser loop fills. Loops of small stacks are unrolled, those of large ones
//! stay rolled.

use super::{Generator, Model, Stmt};
use std::fmt::Write;

/// Stack after all headers.
#[derive(Clone, Debug)]
pub struct StackOf {
    /// Fields of each member of the union. A single member makes a stack of plain headers.
    pub members: Vec<Vec<(String, u32)>>,
    /// Number of elements.
    pub size: usize,
    /// Number of other headers that are emitted before it.
    pub emitted_before: usize,
    /// Transition after each member's extraction. Empty if all return to the head of the loop.
    pub after: Vec<String>,
}

impl StackOf {
    /// Returns the suffix that selects a member of an element.
    fn path(&self, member: usize) -> String {
        match self.members.len() {
            1 => String::new(),
            _ => format!(".m{member}"),
        }
    }

    /// Writes the types, which stand before the struct of headers.
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

    /// Writes the field of the stack in the struct of headers.
    pub(super) fn field(&self, out: &mut String) {
        let of = if self.members.len() > 1 { "u" } else { "m0" };
        let _ = writeln!(out, "    {of}_t[{}] st;", self.size);
    }

    /// Writes the states of the loop that fills it.
    pub(super) fn states(&self, out: &mut String) {
        *out += "    state stack {\n        transition select(packet.lookahead<bit<8>>()[2:0]) {\n";
        // Most bytes continue the loop, so many packets have more elements than the stack.
        *out += "            0: accept;\n";
        for (m, value) in (0..self.members.len()).zip(["1 &&& 1", "2 &&& 2", "_"]) {
            let last = m + 1 == self.members.len();
            let _ = writeln!(out, "            {}: m{m};", if last { "_" } else { value });
        }
        *out += "        }\n    }\n";
        for m in 0..self.members.len() {
            let path = self.path(m);
            let next = self.after.get(m).map_or("stack", String::as_str);
            let end = if next.starts_with("select") { "" } else { ";" };
            let _ = writeln!(
                out,
                "    state m{m} {{\n        packet.extract(hdr.st.next{path});\n        transition {next}{end}\n    }}"
            );
        }
    }
}

impl Generator<'_> {
    /// Adds a stack, and statements that use it between the others.
    pub(super) fn stack(&mut self) {
        let members: Vec<_> = (0..1 + self.below(3)).map(|_| self.fields(1)).collect();
        let others = self.program.emits.len();
        let most = match self.program.model {
            // With copies of packets no loop stays rolled, and a large stack exceeds the verifier's limit.
            Model::Copies => 2,
            _ => 6,
        };
        let size = [2, 3, 8, 16, 17, 20][self.below(most)];
        // In an unrolled loop, more paths would exceed the verifier's limit.
        let after = match size < 16 {
            true => Vec::new(),
            false => (0..members.len())
                .map(|member| self.after_member(&members, member))
                .collect(),
        };
        let stack = StackOf {
            after,
            members,
            size,
            emitted_before: if self.chance(5) {
                self.below(others)
            } else {
                others
            },
        };
        // After a loop, a long program has more paths than the verifier can check.
        self.program.body.truncate(6);
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

    /// Returns the transition after a member: back to the head of the loop, or a select by the member's fields.
    fn after_member(&mut self, members: &[Vec<(String, u32)>], member: usize) -> String {
        if !self.chance(3) {
            return "stack".into();
        }
        let last = match members.len() {
            1 => "hdr.st.last".to_owned(),
            _ => format!("hdr.st.last.m{member}"),
        };
        let (name, width) = members[member][0].clone();
        let other = self.below(members.len());
        let take = width.min(2);
        format!(
            "select({last}.{name}[{}:0]) {{\n            0: m{other};\n            1: accept;\n            \
             default: stack;\n        }}",
            take - 1
        )
    }

    /// Returns an index: a constant, or a value known only at run time.
    fn index(&mut self, stack: &StackOf) -> String {
        match self.below(5) {
            0 => {
                let local = self.below(self.program.locals.len());
                format!("(bit<32>)((bit<5>)(v{local}))")
            }
            1 => {
                let field = self.below(self.fields_of(0).len());
                let (name, _) = self.fields_of(0)[field].clone();
                format!("(bit<32>)((bit<5>)(hdr.h0.{name}))")
            }
            _ => self.below(stack.size).to_string(),
        }
    }

    fn about_stack(&mut self, stack: &StackOf) -> Stmt {
        let member = self.below(stack.members.len());
        let path = stack.path(member);
        let index = self.index(stack);
        match self.below(12) {
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
            6 | 7 => self.read_or_write(stack, member, &index),
            _ => self.with_element(stack, member, &index),
        }
    }

    /// Returns a field of an element, and its width.
    fn place(&mut self, stack: &StackOf, member: usize, index: &str) -> (String, u32) {
        let field = self.below(stack.members[member].len());
        let (name, width) = stack.members[member][field].clone();
        let element = format!("hdr.st[{index}]{}", stack.path(member));
        (format!("{element}.{name}"), width)
    }

    /// Reads or writes a field of an element, whether or not it is valid.
    fn read_or_write(&mut self, stack: &StackOf, member: usize, index: &str) -> Stmt {
        let (place, width) = self.place(stack, member, index);
        Stmt::Plain(if self.chance(3) {
            format!("{place} = {};", self.expr(width, 1))
        } else {
            let local = self.below(self.program.locals.len());
            let wide = self.program.locals[local].0;
            format!("v{local} = v{local} ^ (bit<{wide}>)({place});")
        })
    }

    /// Reads or writes a field of an element, if it is valid.
    fn with_element(&mut self, stack: &StackOf, member: usize, index: &str) -> Stmt {
        let valid = format!("hdr.st[{index}]{}.isValid()", stack.path(member));
        let (place, width) = self.place(stack, member, index);
        let local = self.below(self.program.locals.len());
        let wide = self.program.locals[local].0;
        match self.below(5) {
            0 => Stmt::Plain(format!(
                "v{local} = {valid} ? (bit<{wide}>)({place}) : v{local};"
            )),
            1 => {
                let other = self.constant(width);
                let op = ["==", "!=", "<"][self.below(3)];
                let inner = self.read_or_write(stack, member, index);
                Stmt::If(
                    format!("{valid} && {place} {op} {other}"),
                    vec![inner],
                    Vec::new(),
                )
            }
            _ => {
                let inner = self.read_or_write(stack, member, index);
                Stmt::If(valid, vec![inner], Vec::new())
            }
        }
    }
}
