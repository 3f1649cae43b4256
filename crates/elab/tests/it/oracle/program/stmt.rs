//! Statements, a line or more each.

use super::{Body, Generator, Table, Ty};

/// Types of assigned values, the frequent ones more than once.
const ASSIGNED: [Ty; 13] = [
    Ty::Byte,
    Ty::Byte,
    Ty::Byte,
    Ty::Byte,
    Ty::Nibble,
    Ty::Word,
    Ty::Signed,
    Ty::Bool,
    Ty::Pair,
    Ty::Header,
    Ty::Other,
    Ty::Stack,
    Ty::Union,
];

impl Generator<'_> {
    /// Makes a block's statements. Names that they declare are out of scope after it.
    pub(super) fn block(&mut self, statements: usize, depth: usize) -> String {
        let names = self.scope.names.len();
        let mut text = String::new();
        for _ in 0..statements {
            text += &self.stmt(depth);
        }
        self.scope.names.truncate(names);
        text
    }

    /// Makes a nested block, which may leave at its end.
    fn inner(&mut self, depth: usize) -> String {
        let statements = self.below(3);
        let text = self.block(statements, depth);
        if !self.chance(if self.scope.body == Body::Action {
            40
        } else {
            20
        }) {
            return text;
        }
        text + &match self.below(4) {
            0 if self.scope.may_exit => "exit;\n".to_owned(),
            1 | 2 if self.scope.loops > 0 => self.any(&["break;\n", "continue;\n"]).to_owned(),
            3 => self.returned(),
            _ => String::new(),
        }
    }

    /// Makes a `return` that suits the body.
    pub(super) fn returned(&mut self) -> String {
        match self.scope.body {
            Body::Function(Some(ty)) => format!("return {};\n", self.expr(ty, 2)),
            Body::Parser => String::new(),
            _ => "return;\n".to_owned(),
        }
    }

    fn stmt(&mut self, depth: usize) -> String {
        self.favourite = self.below(1000);
        let made = if self.goes_on(depth) {
            // A parser has none of the first kinds of statements.
            let first = if self.scope.body == Body::Parser {
                4
            } else {
                0
            };
            match first + self.below(16 - first) {
                0 => self.table_stmt(depth),
                1 => Some(self.switch(depth)),
                2 => self.for_loop(depth),
                3 => self.for_in(depth),
                4..=7 => self.call_stmt(),
                8 | 9 => self.conditional(depth),
                10 => self.compound(),
                11 => Some(self.local()),
                12 => self.validity(),
                _ => self.assignment(),
            }
        } else {
            self.assignment()
        };
        made.unwrap_or_default()
    }

    fn assignment(&mut self) -> Option<String> {
        let ty = self.any(&ASSIGNED);
        let target = self.name(ty, true, 2)?;
        Some(format!("{target} = {};\n", self.expr(ty, 3)))
    }

    fn compound(&mut self) -> Option<String> {
        let target = self.name(Ty::Byte, true, 2)?;
        let shift = self.chance(25);
        let (operators, right): (&[&str], _) = match shift {
            true => (&["<<=", ">>="], Ty::Nibble),
            false => (
                &["+=", "-=", "*=", "|+|=", "|-|=", "&=", "|=", "^="],
                Ty::Byte,
            ),
        };
        let operator = self.any(operators);
        Some(format!("{target} {operator} {};\n", self.expr(right, 2)))
    }

    fn local(&mut self) -> String {
        let ty = self.any(&[Ty::Byte, Ty::Byte, Ty::Word, Ty::Bool, Ty::Pair, Ty::Header]);
        let value = self.expr(ty, 2);
        let name = self.fresh("n");
        self.scope.declare(&name, ty, true);
        format!("{} {name} = {value};\n", ty.text())
    }

    fn call_stmt(&mut self) -> Option<String> {
        let scope = &self.scope;
        let local = scope
            .callables
            .iter()
            .filter(|c| scope.may_exit || !c.exits);
        // Callables that can only be called in statements are chosen more often than functions.
        let mut fitting: Vec<_> = local.clone().chain(local).cloned().collect();
        fitting.extend(self.functions.iter().cloned());
        let callable = fitting.get(self.below(fitting.len()))?;
        Some(self.call(callable, 3)? + ";\n")
    }

    fn conditional(&mut self, depth: usize) -> Option<String> {
        let cond = self.expr(Ty::Bool, 3);
        let mut text = format!("if ({cond}) {{\n{}}}", self.inner(depth - 1));
        if self.chance(25) {
            let cond = self.expr(Ty::Bool, 2);
            text += &format!(" else if ({cond}) {{\n{}}}", self.inner(depth - 1));
        }
        if self.chance(50) {
            text += &format!(" else {{\n{}}}", self.inner(depth - 1));
        }
        Some(text + "\n")
    }

    fn switch(&mut self, depth: usize) -> String {
        let on = self.expr(Ty::Byte, 3);
        let mut text = format!("switch ({on}) {{\n");
        for label in ["0", "1:\n2", "3"] {
            text += &format!("{label}: {{\n{}}}\n", self.inner(depth - 1));
        }
        if self.chance(70) {
            text += &format!("default: {{\n{}}}\n", self.inner(depth - 1));
        }
        text + "}\n"
    }

    fn looped(&mut self, head: &str, depth: usize) -> String {
        self.scope.loops += 1;
        let body = self.inner(depth - 1);
        self.scope.loops -= 1;
        format!("for ({head}) {{\n{body}}}\n")
    }

    fn for_loop(&mut self, depth: usize) -> Option<String> {
        let name = self.fresh("i");
        let names = self.scope.names.len();
        let begin = match self.chance(30) {
            true => format!(
                ", {} = {}",
                self.name(Ty::Byte, true, 1)?,
                self.expr(Ty::Byte, 1)
            ),
            false => String::new(),
        };
        self.scope.declare(&name, Ty::Byte, false);
        let more = match self.chance(50) {
            true => format!(" && {}", self.expr(Ty::Bool, 2)),
            false => String::new(),
        };
        let update = match self.chance(50) {
            true => format!(
                ", {} += {}",
                self.name(Ty::Byte, true, 1)?,
                self.expr(Ty::Byte, 1)
            ),
            false => String::new(),
        };
        let head =
            format!("bit<8> {name} = 0{begin}; {name} < 3{more}; {name} = {name} + 1{update}");
        let text = self.looped(&head, depth);
        self.scope.names.truncate(names);
        Some(text)
    }

    /// Makes a loop over a range or the elements of an array.
    fn for_in(&mut self, depth: usize) -> Option<String> {
        if self.chance(40) {
            let array = self.name(Ty::Stack, false, 0)?;
            let name = self.fresh("i");
            let names = self.scope.names.len();
            self.scope.declare(&name, Ty::Header, true);
            let text = self.looped(&format!("h_t {name} in {array}"), depth);
            self.scope.names.truncate(names);
            return Some(text);
        }
        let lo = self.expr(Ty::Byte, 1);
        let range = format!("{lo} & 3 .. {} & 3", self.expr(Ty::Byte, 2));
        let name = self.fresh("i");
        let names = self.scope.names.len();
        self.scope.declare(&name, Ty::Byte, true);
        let text = self.looped(&format!("bit<8> {name} in {range}"), depth);
        self.scope.names.truncate(names);
        Some(text)
    }

    fn table_stmt(&mut self, depth: usize) -> Option<String> {
        let scope = &self.scope;
        let may = |t: &&Table| scope.body == Body::Apply && (scope.may_exit || !t.exits);
        let tables: Vec<_> = scope.tables.iter().filter(may).cloned().collect();
        let table = tables.get(self.below(tables.len()))?;
        let name = &table.text;
        Some(match self.below(3) {
            0 => format!("{name}.apply();\n"),
            1 => format!("if ({name}.apply().hit) {{\n{}}}\n", self.inner(depth - 1)),
            _ => {
                let mut text = format!("switch ({name}.apply().action_run) {{\n");
                for action in &table.actions {
                    text += &format!("{action}: {{\n{}}}\n", self.inner(depth - 1));
                }
                text + &format!("default: {{\n{}}}\n}}\n", self.inner(depth - 1))
            }
        })
    }

    /// Makes a change of a header's validity, or of a whole stack.
    fn validity(&mut self) -> Option<String> {
        if self.chance(30) {
            let stack = self.name(Ty::Stack, true, 0)?;
            let method = self.any(&["push_front(1)", "push_front(2)", "pop_front(1)"]);
            return Some(format!("{stack}.{method};\n"));
        }
        let ty = self.any(&[Ty::Header, Ty::Other]);
        let header = self.name(ty, true, 2)?;
        let method = self.any(&["setValid", "setInvalid"]);
        Some(format!("{header}.{method}();\n"))
    }
}
