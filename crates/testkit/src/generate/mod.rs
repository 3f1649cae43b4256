//! Random P4 programs for `xdp_model`, `tc_model` and `v1model`: expressions of odd widths, validity, insertion and
//! removal of headers, table hits, parser branches, and features of the architecture.
//!
//! A program is a tree whose expressions are text, so that it can be shrunk statement by statement. A field of a header
//! is read only where the text itself ensures that the header is valid (under `isValid()`). So removing any statement
//! leaves a program with defined behaviour.

mod automaton;
mod flows;
mod language;
mod metrics;
mod model;
mod search;
mod shrink;
mod stacks;
mod tables;
mod text;

use flows::Flows;
use language::Language;
pub use model::Model;
use search::Search;
pub use shrink::smaller;
use stacks::StackOf;
use tables::Table;

use rand::Rng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use std::fmt::Write;

/// Statement of a control.
#[derive(Clone, Debug)]
pub enum Stmt {
    /// Any statement without blocks.
    Plain(String),
    /// `if (cond) { } else { }`
    If(String, Vec<Stmt>, Vec<Stmt>),
    /// `switch (expr) { label: { } ... }`
    Switch(String, Vec<(String, Vec<Stmt>)>),
    /// `for (...) { }`
    For(String, Vec<Stmt>),
    /// `@atomic { }`
    Atomic(Vec<Stmt>),
}

/// Generated program.
#[derive(Clone, Debug)]
pub struct Generated {
    /// Architecture of the program.
    pub model: Model,
    /// Fields of each header type: name and width.
    pub types: Vec<Vec<(String, u32)>>,
    /// Types of the header instances; the first header is always extracted.
    pub headers: Vec<usize>,
    /// Transition of each parser state, as text. There is one state for each header.
    pub transitions: Vec<String>,
    /// Local variables: width, initial value.
    pub locals: Vec<(u32, String)>,
    /// Actions: parameters' widths, body.
    pub actions: Vec<(Vec<u32>, Vec<Stmt>)>,
    /// Tables of the control.
    pub tables: Vec<Table>,
    /// State by flow, if the program keeps any.
    pub flows: Option<Flows>,
    /// True if it keeps metrics by group.
    pub metrics: bool,
    /// Body of the control's `apply`.
    pub body: Vec<Stmt>,
    /// Body of the egress control, for `v1model`. It has the same local variables, and no tables.
    pub behind: Vec<Stmt>,
    /// True while the body of egress is generated.
    pub egress: bool,
    /// Headers in the order in which they are emitted.
    pub emits: Vec<usize>,
    /// Header stack, if there is one.
    pub stack: Option<StackOf>,
    /// Search after the headers, if there is one.
    pub search: Option<Search>,
    /// Use of further constructs of P4, if there is any.
    pub language: Option<Language>,
}

const WIDTHS: [u32; 22] = [
    1, 2, 3, 5, 7, 8, 9, 12, 13, 16, 20, 24, 31, 32, 33, 40, 47, 48, 60, 64, 65, 128,
];

/// Generator of programs.
pub struct Generator<'r> {
    random: &'r mut ChaCha8Rng,
    program: Generated,
    /// Headers that are known to be valid at the current statement.
    valid: Vec<usize>,
    /// Parameters in scope, in an action: name and width.
    params: Vec<(String, u32)>,
    loops: usize,
    /// Number of array indices that enclose the current expression.
    nesting: usize,
}

/// Generates a random program.
pub fn program(model: Model, random: &mut ChaCha8Rng) -> Generated {
    let empty = Generated {
        model,
        types: Vec::new(),
        headers: Vec::new(),
        transitions: Vec::new(),
        locals: Vec::new(),
        actions: Vec::new(),
        tables: Vec::new(),
        flows: None,
        metrics: false,
        body: Vec::new(),
        behind: Vec::new(),
        egress: false,
        emits: Vec::new(),
        stack: None,
        search: None,
        language: None,
    };
    let mut generator = Generator {
        random,
        program: empty,
        valid: vec![0],
        params: Vec::new(),
        loops: 0,
        nesting: 0,
    };
    generator.declarations();
    generator.program
}

impl Generator<'_> {
    fn below(&mut self, n: usize) -> usize {
        self.random.random_range(0..n)
    }

    fn chance(&mut self, one_in: usize) -> bool {
        self.below(one_in) == 0
    }

    fn width(&mut self) -> u32 {
        *WIDTHS.choose(self.random).expect("widths")
    }

    fn declarations(&mut self) {
        let uses_more = self.chance(2);
        for t in 0..2 + self.below(3) {
            let mut fields = self.fields(if t == 0 { 14 } else { 2 });
            if uses_more && self.chance(2) {
                self.array_fields(&mut fields);
            }
            self.program.types.push(fields);
        }
        let count = 2 + self.below(4);
        self.program.headers.push(0);
        for _ in 1..count {
            let ty = self.below(self.program.types.len());
            self.program.headers.push(ty);
        }
        if uses_more {
            let by_generic = (0..count).filter(|_| self.chance(4)).collect();
            self.program.language = Some(Language { by_generic });
        }
        for state in 0..count {
            let select = self.transition(state, count);
            self.program.transitions.push(select);
        }
        for _ in 0..3 + self.below(5) {
            let width = self.width();
            let value = self.constant(width);
            self.program.locals.push((width, value));
        }
        for _ in 0..1 + self.below(4) {
            let params: Vec<u32> = (0..self.below(3)).map(|_| self.width()).collect();
            self.params = params
                .iter()
                .enumerate()
                .map(|(i, &w)| (format!("p{i}"), w))
                .collect();
            self.valid = vec![0];
            let count = 1 + self.below(3);
            let body = (0..count).map(|_| self.assignment()).collect();
            self.params.clear();
            self.program.actions.push((params, body));
        }
        self.valid = vec![0];
        for _ in 0..self.below(4) {
            let table = self.table();
            self.program.tables.push(table);
        }
        self.program.flows =
            (!self.program.model.is_switch() && self.chance(2)).then(|| self.flow_state());
        let statements = 4 + self.below(10);
        self.program.body = self.block(statements, 3);
        if self.program.model.is_switch() {
            let tables = std::mem::take(&mut self.program.tables);
            self.program.egress = true;
            let statements = self.below(6);
            self.program.behind = self.block(statements, 2);
            self.program.egress = false;
            self.program.tables = tables;
        }
        let mut emits: Vec<usize> = (0..count).collect();
        if self.chance(5) {
            let (a, b) = (self.below(count), self.below(count));
            emits.swap(a, b);
        }
        if count > 2 && self.chance(8) {
            emits.remove(1 + self.below(count - 1));
        }
        self.program.emits = emits;
        if self.chance(3) {
            self.stack();
        } else if self.chance(3) {
            self.search();
        }
        if self.chance(3) {
            self.metrics();
        }
    }

    /// Returns fields that fill whole bytes, at least `least` of them.
    fn fields(&mut self, least: u32) -> Vec<(String, u32)> {
        let mut fields = Vec::new();
        let mut bits = 0;
        while bits < least * 8 || self.chance(2) && bits < 40 * 8 {
            let width = self.width().min(least * 8 + 64);
            fields.push((format!("f{}", fields.len()), width));
            bits += width;
        }
        let rest = (8 - bits % 8) % 8;
        if rest > 0 {
            fields.push((format!("f{}", fields.len()), rest));
        }
        fields
    }

    /// Appends an array to the fields; it fills whole bytes.
    fn array_fields(&mut self, fields: &mut Vec<(String, u32)>) {
        let (width, size) = [(8, 3), (8, 3), (4, 2), (12, 4), (2, 8), (24, 2)][self.below(6)];
        fields.extend((0..size).map(|i| (format!("a[{i}]"), width)));
    }

    fn fields_of(&self, header: usize) -> &[(String, u32)] {
        &self.program.types[self.program.headers[header]]
    }

    /// Returns the transition of a state to later ones. It selects by some bits of the header that the state extracts.
    fn transition(&mut self, state: usize, count: usize) -> String {
        if state + 1 == count || self.chance(6) {
            return "accept".into();
        }
        let field = self.below(self.fields_of(state).len());
        let (name, width) = self.fields_of(state)[field].clone();
        let take = width.min(1 + self.below(3) as u32);
        let lo = self.below((width - take + 1) as usize) as u32;
        let mut text = format!("select(hdr.h{state}.{name}[{}:{lo}]) {{\n", lo + take - 1);
        let most = 1u64 << take;
        for _ in 0..1 + self.below(3) {
            let value = self.random.random_range(0..most);
            let known = match self.chance(3) {
                true => self.packet_set(state, take),
                false => None,
            };
            let keyset = match self.below(4) {
                _ if known.is_some() => known.unwrap_or_default(),
                0 => format!("{value} &&& {}", self.random.random_range(0..most)),
                1 => format!("{value} .. {}", self.random.random_range(value..most)),
                _ => value.to_string(),
            };
            let target = match self.below(8) {
                0 => "accept".to_string(),
                1 => "reject".to_string(),
                _ => format!("s{}", state + 1 + self.below(count - state - 1)),
            };
            let _ = writeln!(text, "            {keyset}: {target};");
        }
        if !self.chance(5) {
            text += "            default: accept;\n";
        }
        text + "        }"
    }

    fn number(&mut self, width: u32) -> u128 {
        let bits = match self.below(4) {
            0 => 0,
            1 => u128::MAX,
            2 => u128::from(self.random.random_range(0..4u8)),
            _ => self.random.random::<u128>(),
        };
        bits & (u128::MAX >> (128 - width))
    }

    fn constant(&mut self, width: u32) -> String {
        format!("{width}w{:#x}", self.number(width))
    }

    /// Returns an operand of exactly `width` bits, without operators.
    fn leaf(&mut self, width: u32) -> String {
        let mut choices: Vec<String> = Vec::new();
        for (i, (w, _)) in self.program.locals.iter().enumerate() {
            choices.extend((*w == width).then(|| format!("v{i}")));
        }
        for (name, w) in &self.params {
            choices.extend((*w == width).then(|| name.clone()));
        }
        for header in 0..self.program.headers.len() {
            for (name, w) in self.fields_of(header) {
                if *w == width {
                    choices.push(format!("hdr.h{header}.{name}"));
                }
            }
        }
        match choices.choose(self.random) {
            Some(choice) => {
                let choice = choice.clone();
                self.guarded(choice, width)
            }
            None => self.any_leaf_fitted(width),
        }
    }

    /// Returns a field, guarded by a test if its header may be invalid.
    fn guarded(&mut self, text: String, width: u32) -> String {
        let header = text
            .strip_prefix("hdr.h")
            .and_then(|t| t.split('.').next()?.parse().ok());
        match header {
            Some(header) if !self.valid.contains(&header) => {
                let other = self.constant(width);
                format!("(hdr.h{header}.isValid() ? {text} : {other})")
            }
            _ => text,
        }
    }

    /// Returns a variable or field of any width, truncated or widened to `width`.
    fn any_leaf_fitted(&mut self, width: u32) -> String {
        if self.chance(3) || self.program.locals.is_empty() {
            return self.constant(width);
        }
        let element = match self.nesting < 2 && self.chance(4) {
            true => {
                // An index is an expression as well.
                self.nesting += 1;
                let element = self.element();
                self.nesting -= 1;
                element
            }
            false => None,
        };
        let (text, from) = if let Some(element) = element {
            element
        } else if let Some(input) = self.input() {
            input
        } else if self.chance(2) {
            let i = self.below(self.program.locals.len());
            (format!("v{i}"), self.program.locals[i].0)
        } else {
            let header = self.below(self.program.headers.len());
            let field = self.below(self.fields_of(header).len());
            let (name, w) = self.fields_of(header)[field].clone();
            (self.guarded(format!("hdr.h{header}.{name}"), w), w)
        };
        if from > width {
            let lo = self.below((from - width + 1) as usize) as u32;
            format!("({text})[{}:{lo}]", lo + width - 1)
        } else if from == width {
            text
        } else {
            format!("((bit<{width}>)({text}))")
        }
    }

    fn expr(&mut self, width: u32, depth: usize) -> String {
        if depth == 0 || self.chance(4) {
            return self.leaf(width);
        }
        let below = depth - 1;
        if self.chance(6)
            && let Some(text) = self.by_language(width, below)
        {
            return text;
        }
        match self.below(14) {
            0..=4 => {
                let op = ["+", "-", "&", "|", "^"][self.below(5)];
                format!(
                    "({} {op} {})",
                    self.expr(width, below),
                    self.expr(width, below)
                )
            }
            5 => {
                let op = ["|+|", "|-|"][self.below(2)];
                format!(
                    "({} {op} {})",
                    self.expr(width, below),
                    self.expr(width, below)
                )
            }
            6 => format!(
                "({} * {})",
                self.expr(width, below),
                self.expr(width, below)
            ),
            7 => {
                let op = ["~", "-"][self.below(2)];
                format!("({op}{})", self.expr(width, below))
            }
            8 => {
                let op = ["<<", ">>"][self.below(2)];
                let by = self.below(width as usize + 2);
                format!("({} {op} {by})", self.expr(width, below))
            }
            9 => {
                let op = ["<<", ">>"][self.below(2)];
                format!("({} {op} {})", self.expr(width, below), self.expr(5, below))
            }
            10 => {
                let from = self.width();
                let inner = self.expr(from, below);
                match from {
                    _ if from > width && self.chance(2) => {
                        let lo = self.below((from - width + 1) as usize) as u32;
                        format!("({inner})[{}:{lo}]", lo + width - 1)
                    }
                    _ => format!("((bit<{width}>)({inner}))"),
                }
            }
            11 if width > 1 => {
                let high = 1 + self.below(width as usize - 1) as u32;
                format!(
                    "({} ++ {})",
                    self.expr(high, below),
                    self.expr(width - high, below)
                )
            }
            12 => {
                let op = ["+", "-", "*", ">>", "|+|", "|-|"][self.below(6)];
                let (a, b) = (self.expr(width, below), self.expr(width, below));
                match op {
                    ">>" => format!(
                        "((bit<{width}>)((int<{width}>)({a}) >> {}))",
                        self.below(width as usize + 2)
                    ),
                    op => format!("((bit<{width}>)((int<{width}>)({a}) {op} (int<{width}>)({b})))"),
                }
            }
            _ => {
                let cond = self.condition(below);
                format!(
                    "({cond} ? {} : {})",
                    self.expr(width, below),
                    self.expr(width, below)
                )
            }
        }
    }

    fn condition(&mut self, depth: usize) -> String {
        let below = depth.saturating_sub(1);
        match self.below(8) {
            0 => {
                let header = self.below(self.program.headers.len());
                format!("hdr.h{header}.isValid()")
            }
            1 if depth > 0 => {
                let op = ["&&", "||"][self.below(2)];
                format!("({} {op} {})", self.condition(below), self.condition(below))
            }
            2 if depth > 0 => format!("(!{})", self.condition(below)),
            3 => {
                let width = self.width();
                let op = ["<", ">=", "==", ">"][self.below(4)];
                let (a, b) = (self.expr(width, below), self.expr(width, below));
                format!("((int<{width}>)({a}) {op} (int<{width}>)({b}))")
            }
            _ => {
                let width = self.width();
                let op = ["==", "!=", "<", "<=", ">", ">="][self.below(6)];
                format!(
                    "({} {op} {})",
                    self.expr(width, below),
                    self.expr(width, below)
                )
            }
        }
    }

    /// Returns a variable or field that can be written here, and its width.
    fn target(&mut self) -> (String, u32) {
        if self.chance(4)
            && let Some(element) = self.element()
        {
            return element;
        }
        if self.chance(2) {
            let header = *self
                .valid
                .clone()
                .choose(self.random)
                .expect("the first is valid");
            let field = self.below(self.fields_of(header).len());
            let (name, width) = self.fields_of(header)[field].clone();
            (format!("hdr.h{header}.{name}"), width)
        } else {
            let local = self.below(self.program.locals.len());
            (format!("v{local}"), self.program.locals[local].0)
        }
    }

    fn assignment(&mut self) -> Stmt {
        let (target, width) = self.target();
        if self.program.language.is_some() && self.chance(10) {
            let bits = 1 + self.below(width as usize) as u32;
            let (lo, value) = (self.known_to_packet(6), self.expr(bits, 2));
            return Stmt::Plain(format!("{target}[({lo}) +: {bits}] = {value};"));
        }
        if self.chance(5) {
            let lo = self.below(width as usize) as u32;
            let hi = lo + self.below((width - lo) as usize) as u32;
            let value = self.expr(hi - lo + 1, 2);
            return Stmt::Plain(format!("{target}[{hi}:{lo}] = {value};"));
        }
        if self.chance(8) {
            let op = ["+", "-", "&", "|", "^"][self.below(5)];
            let value = self.expr(width, 2);
            return Stmt::Plain(format!("{target} {op}= {value};"));
        }
        Stmt::Plain(format!("{target} = {};", self.expr(width, 3)))
    }

    fn block(&mut self, statements: usize, depth: usize) -> Vec<Stmt> {
        (0..statements).map(|_| self.statement(depth)).collect()
    }

    fn nested(&mut self, depth: usize, also_valid: Option<usize>) -> Vec<Stmt> {
        let before = self.valid.clone();
        self.valid.extend(also_valid);
        let count = 1 + self.below(3);
        let block = self.block(count, depth);
        self.valid = before;
        block
    }

    fn statement(&mut self, depth: usize) -> Stmt {
        let header = self.below(self.program.headers.len());
        if self.chance(5)
            && let Some(stmt) = self.about_flows(depth)
        {
            return stmt;
        }
        if self.chance(6)
            && let Some(stmt) = self.about_language()
        {
            return stmt;
        }
        match self.below(18) {
            0 | 1 if depth > 0 => {
                let cond = self.condition(2);
                let then = self.nested(depth - 1, None);
                let otherwise = if self.chance(2) {
                    self.nested(depth - 1, None)
                } else {
                    Vec::new()
                };
                Stmt::If(cond, then, otherwise)
            }
            2 | 3 if depth > 0 => {
                let then = self.nested(depth - 1, Some(header));
                Stmt::If(format!("hdr.h{header}.isValid()"), then, Vec::new())
            }
            4 if header > 0 && !self.valid.contains(&header) => {
                Stmt::Plain(format!("hdr.h{header}.setInvalid();"))
            }
            5 if header > 0 => {
                // All fields are set, so none is left undefined.
                let fields = self.fields_of(header).to_vec();
                let values: Vec<String> = fields.iter().map(|f| self.expr(f.1, 1)).collect();
                let list = Self::list_of(&fields, &values);
                Stmt::Plain(format!("hdr.h{header} = {{ {list} }};"))
            }
            6 if header > 0 && !self.valid.contains(&header) => {
                let same: Vec<usize> = (0..self.program.headers.len())
                    .filter(|&h| self.program.headers[h] == self.program.headers[header])
                    .collect();
                let from = *same.choose(self.random).expect("itself at least");
                Stmt::Plain(format!("hdr.h{header} = hdr.h{from};"))
            }
            7 | 8 if !self.program.tables.is_empty() => {
                let table = self.below(self.program.tables.len());
                self.apply(table, depth)
            }
            9 if depth > 0 => {
                let width = self.width().min(8);
                let on = self.expr(width, 1);
                let mut cases: Vec<(String, Vec<Stmt>)> = Vec::new();
                for value in 0..1 + self.below(2) {
                    cases.push((format!("{width}w{value}"), self.nested(depth - 1, None)));
                }
                cases.push(("default".into(), self.nested(depth - 1, None)));
                Stmt::Switch(on, cases)
            }
            10 if depth > 0 => {
                self.loops += 1;
                let name = format!("i{}", self.loops);
                let most = 1 + self.below(4);
                let head = format!("bit<8> {name} = 0; {name} < {most}; {name} = {name} + 1");
                Stmt::For(head, self.nested(0, None))
            }
            11 | 12 => self.output(),
            13 if self.chance(4) => Stmt::Plain("exit;".into()),
            _ => self.assignment(),
        }
    }
}
