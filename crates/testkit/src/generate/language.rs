//! Further P4 constructs that programs in the wild use: arrays with indices known only at run time, in variables and in
//! headers; slices by base and width; generic parsers and controls; overloads; default arguments; and calls with side
//! effects on the left of a compound assignment.

use super::{Generated, Generator, Stmt};
use rand::seq::IndexedRandom;
use std::fmt::Write;

/// Top-level declarations, after the headers.
const DECLARED: &str = "enum side_t { a, b, c }
struct pair_t { bit<5> x; bit<11> y; }
bit<8> pick(in bit<8> x) { return x ^ 8w0x5a; }
bit<16> pick(in bit<16> x, in bit<8> by = 3) { return x + (bit<16>)by; }
bit<33> pick(in bit<33> x) { return x << 1; }
bit<8> next(inout bit<8> counter) { counter = counter + 1; return counter; }
bit<8> number(in side_t s) { if (s == side_t.a) { return 1; } return s == side_t.b ? 8w2 : 3; }
void fill(inout bit<8>[3] all, in bit<8> at, in bit<8> value) { all[at] = value; all[at + 1] += 3; }
control swap<T>(inout T x, inout T y) { apply { T old = x; x = y; y = old; } }
control add(inout bit<16> x)(bit<16> by = 7, int from = 2) { apply { x = x + by; x[from +: 3] = 3w5; } }
control add(inout bit<33> x)(bit<16> by = 7, int from = 2) { apply { x = x - (bit<33>)by; x[from +: 5] = 5w9; } }
parser take<H>(packet_in p, out H h) { state start { p.extract(h); transition accept; } }

";

/// Declarations of each control.
const LOCALS: &str = "    bit<8>[3] bytes;
    pair_t[2] pairs;
    side_t[3] sides;
    bit<7>[2][3] grid;
    bit<33>[2] wide;
    bit<8> counter = 0;
    add() by_default;
    add(9) by_place;
    add(from = 5) by_name;
    add(1, 1) of_wide;
";

/// Arrays of a control: name, width of the elements, number of elements.
const ARRAYS: [(&str, u32, usize); 3] = [("bytes", 8, 3), ("words", 16, 4), ("wide", 33, 2)];

/// Use of these constructs in a program.
#[derive(Clone, Debug)]
pub struct Language {
    /// Parser states that extract by a generic parser.
    pub by_generic: Vec<usize>,
}

impl Language {
    pub(super) const DECLARED: &'static str = DECLARED;

    pub(super) fn locals(out: &mut String) {
        *out += LOCALS;
        // The size after the name, as in C.
        *out += "    bit<16> words[4];\n";
    }
}

impl Generated {
    /// Writes the declarations of a header type's fields. An array is declared once, for all of its elements.
    pub(super) fn declare_fields(fields: &[(String, u32)], out: &mut String) {
        for (i, (name, width)) in fields.iter().enumerate() {
            match name.split_once('[') {
                None => {
                    let _ = writeln!(out, "    bit<{width}> {name};");
                }
                Some((array, "0]")) => {
                    let size = elements(fields, i);
                    let _ = writeln!(out, "    bit<{width}>[{size}] {array};");
                }
                Some(_) => {}
            }
        }
    }
}

/// Returns the number of elements of the array whose first element is field `at`.
fn elements(fields: &[(String, u32)], at: usize) -> usize {
    let array = |name: &str| name.split_once('[').map(|(array, _)| array.to_owned());
    let own = array(&fields[at].0);
    fields[at..]
        .iter()
        .take_while(|f| array(&f.0) == own)
        .count()
}

impl Generator<'_> {
    /// Returns a list expression with a value for each field, arrays in braces of their own.
    pub(super) fn list_of(fields: &[(String, u32)], values: &[String]) -> String {
        let mut parts = Vec::new();
        let mut at = 0;
        while at < fields.len() {
            if fields[at].0.contains('[') {
                let count = elements(fields, at);
                parts.push(format!("{{ {} }}", values[at..at + count].join(", ")));
                at += count;
            } else {
                parts.push(values[at].clone());
                at += 1;
            }
        }
        parts.join(", ")
    }

    /// Returns an index, mostly one that is known only at run time, and sometimes out of bounds.
    fn any_index(&mut self, size: usize) -> String {
        match self.below(4) {
            0 => self.below(size).to_string(),
            _ => self.known_to_packet(2 + size as u32 / 4),
        }
    }

    /// Returns a number that is known only at run time, and so may be out of bounds.
    pub(super) fn known_to_packet(&mut self, width: u32) -> String {
        let field = self.below(self.fields_of(0).len());
        let (name, _) = self.fields_of(0)[field].clone();
        format!("({} ^ (bit<{width}>)(hdr.h0.{name}))", self.expr(width, 1))
    }

    /// Returns an element of an array, and its width. Arrays in headers are used only where the header is valid.
    pub(super) fn element(&mut self) -> Option<(String, u32)> {
        self.program.language.as_ref()?;
        let mut all: Vec<(String, u32, usize)> = ARRAYS
            .iter()
            .map(|&(name, width, size)| (name.to_owned(), width, size))
            .collect();
        for &header in &self.valid {
            let fields = self.fields_of(header);
            for (i, (name, width)) in fields.iter().enumerate() {
                if let Some((array, "0]")) = name.split_once('[') {
                    let size = elements(fields, i);
                    all.push((format!("hdr.h{header}.{array}"), *width, size));
                }
            }
        }
        let (array, width, size) = all.choose(self.random)?.clone();
        let index = self.any_index(size);
        Some((format!("{array}[{index}]"), width))
    }

    /// Returns a value of this width from a function or a slice, if one has it.
    pub(super) fn by_language(&mut self, width: u32, depth: usize) -> Option<String> {
        self.program.language.as_ref()?;
        if matches!(width, 8 | 16 | 33) && self.chance(2) {
            return Some(format!("pick({})", self.expr(width, depth)));
        }
        let from = self.width();
        if from < width {
            return None;
        }
        let (whole, lo) = (self.expr(from, depth), self.known_to_packet(7));
        Some(format!("({whole})[({lo}) +: {width}]"))
    }

    /// Returns a statement that uses these constructs, if the program does.
    pub(super) fn about_language(&mut self) -> Option<Stmt> {
        self.program.language.as_ref()?;
        let local = self.below(self.program.locals.len());
        let wide = self.program.locals[local].0;
        let note = |value: String| format!("v{local} = v{local} ^ (bit<{wide}>)({value});");
        let text = match self.below(14) {
            0 => {
                let (at, value) = (self.expr(8, 1), self.expr(8, 1));
                let array = self.bytes_in_header().unwrap_or("bytes".into());
                format!("fill({array}, {at}, {value});")
            }
            1 => {
                let op = ["+", "-", "^", "|+|"][self.below(4)];
                format!("bytes[next(counter) & 3] {op}= {};", self.expr(8, 1))
            }
            2 => {
                let member = ["a", "b", "c"][self.below(3)];
                format!("sides[{}] = side_t.{member};", self.any_index(3))
            }
            3 => format!(
                "sides[{}] = sides[{}];",
                self.any_index(3),
                self.any_index(3)
            ),
            4 => {
                let index = self.any_index(3);
                note(format!("number(sides[{index}])"))
            }
            5 => {
                let (x, y) = (self.expr(5, 1), self.expr(11, 1));
                format!("pairs[{}] = {{ {x}, {y} }};", self.any_index(2))
            }
            6 => {
                let (to, from) = (self.any_index(2), self.any_index(2));
                format!("pairs[{to}] = pairs[{from}];")
            }
            7 => {
                let (row, column) = (self.any_index(3), self.any_index(2));
                match self.chance(2) {
                    true => note(format!("grid[{row}][{column}]")),
                    false => format!("grid[{row}][{column}] = {};", self.expr(7, 1)),
                }
            }
            8 => format!("swap.apply(bytes[{}], counter);", self.any_index(3)),
            9 => format!("swap.apply(pairs[0], pairs[{}]);", self.any_index(2)),
            10 => {
                let instance = ["by_default", "by_place", "by_name"][self.below(3)];
                format!("{instance}.apply(words[{}]);", self.any_index(4))
            }
            11 => format!("of_wide.apply(wide[{}]);", self.any_index(2)),
            12 => {
                self.loops += 1;
                let name = format!("e{}", self.loops);
                let array = self.bytes_in_header().unwrap_or("bytes".into());
                let head = format!("bit<8> {name} in {array}");
                return Some(Stmt::For(head, vec![Stmt::Plain(note(name))]));
            }
            _ => {
                let (index, lo) = (self.any_index(4), self.known_to_packet(4));
                format!("words[{index}][({lo}) +: 3] = {};", self.expr(3, 1))
            }
        };
        Some(Stmt::Plain(text))
    }

    /// Returns an array of three bytes in a header that is valid.
    fn bytes_in_header(&mut self) -> Option<String> {
        let mut all = Vec::new();
        for &header in &self.valid {
            let fields = self.fields_of(header);
            for (i, (name, width)) in fields.iter().enumerate() {
                if let Some((array, "0]")) = name.split_once('[')
                    && (*width, elements(fields, i)) == (8, 3)
                {
                    all.push(format!("hdr.h{header}.{array}"));
                }
            }
        }
        all.choose(self.random).cloned()
    }

    /// Returns a keyset of `take` bits that is known only at run time.
    pub(super) fn packet_set(&mut self, state: usize, take: u32) -> Option<String> {
        self.program.language.as_ref()?;
        let fitting: Vec<(String, u32)> = (self.fields_of(state).iter())
            .filter(|(_, width)| *width >= take)
            .cloned()
            .collect();
        let bits = |generator: &mut Self| {
            let (name, width) = fitting.choose(generator.random)?.clone();
            let lo = generator.below((width - take + 1) as usize) as u32;
            Some(format!("hdr.h{state}.{name}[{}:{lo}]", lo + take - 1))
        };
        let value = bits(self)?;
        Some(match self.below(3) {
            0 => value,
            1 => format!("{value} &&& {}", bits(self)?),
            _ => format!("{value} .. {}", bits(self)?),
        })
    }
}
