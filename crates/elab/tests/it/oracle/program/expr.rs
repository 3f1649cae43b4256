//! Expressions and l-values, as text.

use super::{Body, Callable, Generator, Name, Param, Table, Ty};

impl Generator<'_> {
    /// An expression of a type.
    pub(super) fn expr(&mut self, ty: Ty, depth: usize) -> String {
        if !self.goes_on(depth) || self.chance(20) {
            return self.leaf(ty, depth);
        }
        if self.chance(45)
            && let Some(call) = self.value_of_call(ty, depth)
        {
            return call;
        }
        if self.chance(15) {
            let cond = self.expr(Ty::Bool, depth - 1);
            let (a, b) = (self.expr(ty, depth - 1), self.expr(ty, depth - 1));
            return format!("({cond} ? {a} : {b})");
        }
        let below = depth - 1;
        match ty {
            Ty::Byte => match self.below(8) {
                0 => format!("((bit<8>){})", self.expr(Ty::Word, below)),
                1 => format!("{}[11:4]", self.expr(Ty::Word, below)),
                2 => format!("((bit<8>){})", self.expr(Ty::Signed, below)),
                3 => self.infix(Ty::Nibble, &["++"], Ty::Nibble, depth),
                4 => self.infix(ty, &["<<", ">>"], Ty::Nibble, depth),
                5 => format!("(~{})", self.expr(ty, below)),
                6 if self.chance(30) => self.division(ty, depth),
                _ => self.infix(ty, &["+", "-", "*", "&", "|", "^", "|+|", "|-|"], ty, depth),
            },
            Ty::Nibble => {
                let whole = self.expr(Ty::Byte, below);
                let slice = self.slice(depth);
                format!("{whole}{slice}")
            }
            Ty::Word if self.chance(50) => self.infix(Ty::Byte, &["++"], Ty::Byte, depth),
            Ty::Word if self.chance(10) => self.division(ty, depth),
            Ty::Word => self.infix(ty, &["+", "-", "^", "|+|", "|-|"], ty, depth),
            Ty::Signed => match self.below(3) {
                0 => format!("((int<8>){})", self.expr(Ty::Byte, below)),
                1 => self.infix(ty, &["<<", ">>"], Ty::Nibble, depth),
                _ => self.infix(ty, &["+", "-", "*", "|+|", "|-|"], ty, depth),
            },
            Ty::Bool => match self.below(7) {
                0 => self.infix(Ty::Signed, &["<", ">=", "!="], Ty::Signed, depth),
                1 => self.infix(Ty::Pair, &["==", "!="], Ty::Pair, depth),
                2 => self.infix(Ty::Header, &["==", "!="], Ty::Header, depth),
                3 => format!("(!{})", self.expr(ty, below)),
                4 | 5 => self.infix(ty, &["&&", "||"], ty, depth),
                _ => self.infix(
                    Ty::Byte,
                    &["==", "!=", "<", "<=", ">", ">="],
                    Ty::Byte,
                    depth,
                ),
            },
            Ty::Pair | Ty::Header => {
                let (a, b) = (self.expr(Ty::Byte, below), self.expr(Ty::Byte, below));
                format!("({}){{ {a}, {b} }}", ty.text())
            }
            Ty::Other => format!("(g_t){{ {} }}", self.expr(Ty::Word, below)),
            Ty::Stack | Ty::Union => self.leaf(ty, depth),
        }
    }

    fn infix(&mut self, left: Ty, operators: &[&str], right: Ty, depth: usize) -> String {
        let left = self.expr(left, depth - 1);
        let operator = self.any(operators);
        format!("({left} {operator} {})", self.expr(right, depth - 1))
    }

    /// Makes a division by a value that no compiler knows: a constant 0 would be an error.
    fn division(&mut self, ty: Ty, depth: usize) -> String {
        let left = self.expr(ty, depth - 1);
        match self.name(ty, true, depth) {
            Some(divisor) => format!("({left} {} {divisor})", self.any(&["/", "%"])),
            None => left,
        }
    }

    /// A name or a literal.
    fn leaf(&mut self, ty: Ty, depth: usize) -> String {
        if ty == Ty::Bool && self.chance(40) {
            let ty = self.any(&[Ty::Header, Ty::Header, Ty::Other, Ty::Union]);
            return match self.name(ty, false, depth) {
                Some(header) => format!("{header}.isValid()"),
                None => "true".to_owned(),
            };
        }
        if (self.chance(75) || matches!(ty, Ty::Stack | Ty::Union))
            && let Some(name) = self.name(ty, false, depth)
        {
            return name;
        }
        let number = [0, 1, 2, 3, 4, 7, 128, 255][self.below(8)];
        match ty {
            Ty::Nibble => format!("4w{}", number % 16),
            Ty::Byte => format!("8w{number}"),
            Ty::Word => format!("16w{number}"),
            Ty::Signed => format!("8s{}", number % 128),
            Ty::Bool => format!("{}", number < 4),
            Ty::Pair => format!("(pair_t){{ 8w{number}, 8w1 }}"),
            Ty::Header => format!("(h_t){{ 8w{number}, 8w1 }}"),
            Ty::Other => format!("(g_t){{ 16w{number} }}"),
            Ty::Stack | Ty::Union => unreachable!("only made where there is one"),
        }
    }

    /// Returns a name in scope, with its indices filled in; a slice of one for a nibble.
    pub(super) fn name(&mut self, ty: Ty, writable: bool, depth: usize) -> Option<String> {
        if ty == Ty::Nibble {
            let whole = self.name(Ty::Byte, writable, depth)?;
            let slice = self.slice(depth);
            return Some(whole + &slice);
        }
        let favourite = self.chance(50);
        let fits = |n: &&Name| n.ty == ty && (n.writable || !(writable || favourite));
        let fitting: Vec<_> = self.scope.names.iter().filter(fits).collect();
        let number = match favourite {
            true => self.favourite % fitting.len().max(1),
            false => self.numbers.below(fitting.len()),
        };
        let text = fitting.get(number).map(|name| name.text.clone());
        let text = text.or_else(|| self.some_name(ty, writable))?;
        let mut parts = text.split('@');
        let mut text = parts.next()?.to_owned();
        for part in parts {
            let own = self
                .some_name(Ty::Byte, false)
                .filter(|name| name.starts_with(&text));
            text += &match own {
                // An element that itself selects an element.
                Some(own) => format!("{} & 3", own.replace('@', "0")),
                None => self.index(depth),
            };
            text += part;
        }
        Some(text)
    }

    /// Returns any name of a type.
    fn some_name(&mut self, ty: Ty, writable: bool) -> Option<String> {
        let fits = |n: &&Name| n.ty == ty && (n.writable || !writable);
        let fitting: Vec<_> = self.scope.names.iter().filter(fits).collect();
        let number = self.numbers.below(fitting.len());
        fitting.get(number).map(|name| name.text.clone())
    }

    /// Makes an index of an array of four elements, or the position of four bits among eight; sometimes it is
    /// beyond the end.
    fn index(&mut self, depth: usize) -> String {
        if depth == 0 || self.chance(30) {
            return self.below(4).to_string();
        }
        if self.chance(20)
            && let Some(name) = self.name(Ty::Byte, true, 0)
        {
            return format!("next({name}) & 3");
        }
        // Beyond the end only if the compiler cannot know it.
        match self.name(Ty::Byte, false, depth - 1) {
            Some(name) if self.chance(30) => format!("{name} & 7"),
            _ => format!("{} & 3", self.expr(Ty::Byte, depth - 1)),
        }
    }

    /// Makes a slice of four bits of eight.
    fn slice(&mut self, depth: usize) -> String {
        match self.chance(50) {
            true => format!("[{} +: 4]", self.index(depth)),
            false => self.any(&["[3:0]", "[7:4]", "[5:2]"]).to_owned(),
        }
    }

    /// Makes a call, or a part of its result, that has a value of this type.
    fn value_of_call(&mut self, ty: Ty, depth: usize) -> Option<String> {
        if ty == Ty::Bool && self.chance(50) {
            return self.table_hit();
        }
        let (wanted, suffix) = match ty == Ty::Byte && self.chance(25) {
            true => (Ty::Pair, ".q"),
            false => (ty, ""),
        };
        let fitting = self.functions.iter().filter(|f| f.result == Some(wanted));
        let fitting: Vec<Callable> = fitting.cloned().collect();
        let callable = fitting.get(self.below(fitting.len()))?;
        Some(self.call(callable, depth)? + suffix)
    }

    fn table_hit(&mut self) -> Option<String> {
        let scope = &self.scope;
        let may = |t: &&Table| scope.body == Body::Apply && (scope.may_exit || !t.exits);
        let tables: Vec<String> = scope
            .tables
            .iter()
            .filter(may)
            .map(|t| t.text.clone())
            .collect();
        let table = tables.get(self.below(tables.len()))?;
        let what = self.any(&["hit", "miss"]);
        Some(format!("{table}.apply().{what}"))
    }

    /// Makes a call with arguments by position or, in any order, by name; `None` if no argument fits.
    pub(super) fn call(&mut self, callable: &Callable, depth: usize) -> Option<String> {
        let params = callable.params.iter();
        Some(format!(
            "{}({})",
            callable.text,
            self.arguments(params, callable.exits, depth)?
        ))
    }

    /// Makes arguments for parameters, by position or, in any order, by name.
    pub(super) fn arguments<'p>(
        &mut self,
        params: impl Iterator<Item = &'p Param>,
        exits: bool,
        depth: usize,
    ) -> Option<String> {
        // Elaboration refuses copies after a call that exits. Plain arguments rarely need such copies.
        let plain = exits && self.chance(85);
        let depth = if plain { 0 } else { depth.saturating_sub(1) };
        let mut given = Vec::new();
        for param in params {
            let text = match param.direction {
                "in" if matches!(param.ty, Ty::Stack | Ty::Union) => {
                    self.name(param.ty, false, depth)?
                }
                "in" | "" => self.expr(param.ty, depth),
                "out" if self.chance(10) => "_".to_owned(),
                _ => self.name(param.ty, true, depth)?,
            };
            given.push((&param.name, text));
        }
        if self.chance(60) {
            let texts: Vec<String> = given.into_iter().map(|(_, text)| text).collect();
            return Some(texts.join(", "));
        }
        let mut texts = Vec::new();
        while !given.is_empty() {
            let (name, text) = given.swap_remove(self.below(given.len()));
            texts.push(format!("{name} = {text}"));
        }
        Some(texts.join(", "))
    }
}
