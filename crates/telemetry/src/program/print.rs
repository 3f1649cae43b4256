//! Printer of P4 trees.

use super::p4::{Block, Control, Enum, Expr, Instance, Program, Stmt, Struct, Type};
use std::fmt::{Display, Formatter, Result};

impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        writeln!(f, "// SPDX-License-Identifier: Apache-2.0\n//")?;
        for line in &self.comment {
            writeln!(f, "// {line}")?;
        }
        writeln!(f)?;
        for file in &self.includes {
            writeln!(f, "#include <{file}>")?;
        }
        for numbers in &self.enums {
            write!(f, "\n{numbers}")?;
        }
        for fields in &self.structs {
            write!(f, "\n{fields}")?;
        }
        write!(f, "\n{}\n{} main;\n", self.control, self.main)
    }
}

impl Display for Enum {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        writeln!(f, "enum bit<{}> {} {{", self.bits, self.name)?;
        for (index, (name, value, comment)) in self.members.iter().enumerate() {
            let comma = if index + 1 < self.members.len() {
                ","
            } else {
                ""
            };
            writeln!(f, "    {name} = {value}{comma}   // {comment}")?;
        }
        writeln!(f, "}}")
    }
}

impl Display for Struct {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        writeln!(f, "struct {} {{", self.name)?;
        for (ty, name) in &self.fields {
            writeln!(f, "    {ty} {name};")?;
        }
        writeln!(f, "}}")
    }
}

impl Display for Control {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let params = self.params.iter();
        let params: Vec<String> = params.map(|(ty, name)| format!("in {ty} {name}")).collect();
        writeln!(f, "control {}({}) {{", self.name, params.join(", "))?;
        for instance in &self.instances {
            writeln!(f, "    {instance}")?;
        }
        writeln!(f, "\n    apply {{")?;
        block(f, &self.apply, 2)?;
        writeln!(f, "    }}\n}}")
    }
}

impl Display for Instance {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{}({}) {};", self.ty, list(&self.args), self.name)?;
        match &self.comment {
            Some(comment) => write!(f, "   // {comment}"),
            None => Ok(()),
        }
    }
}

impl Display for Type {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Type::Bits(bits) => write!(f, "bit<{bits}>"),
            Type::Signed(bits) => write!(f, "int<{bits}>"),
            Type::Bool => f.write_str("bool"),
            Type::Named(name) => f.write_str(name),
            Type::Generic(name, args) => write!(f, "{name}<{}>", list(args)),
        }
    }
}

fn list<T: Display>(all: &[T]) -> String {
    let all: Vec<String> = all.iter().map(T::to_string).collect();
    all.join(", ")
}

/// Prints statements, indented by `depth` levels.
fn block(f: &mut Formatter<'_>, statements: &Block, depth: usize) -> Result {
    let pad = "    ".repeat(depth);
    for statement in statements {
        match statement {
            Stmt::Comment(comment) => writeln!(f, "{pad}// {comment}")?,
            Stmt::Declare(ty, name, None) => writeln!(f, "{pad}{ty} {name};")?,
            Stmt::Declare(ty, name, Some(value)) => writeln!(f, "{pad}{ty} {name} = {value};")?,
            Stmt::Assign(to, value) => writeln!(f, "{pad}{to} = {value};")?,
            Stmt::Call(call) => writeln!(f, "{pad}{call};")?,
            Stmt::If(condition, then, other) => {
                writeln!(f, "{pad}if ({condition}) {{")?;
                block(f, then, depth + 1)?;
                if !other.is_empty() {
                    writeln!(f, "{pad}}} else {{")?;
                    block(f, other, depth + 1)?;
                }
                writeln!(f, "{pad}}}")?;
            }
            Stmt::For(iteration, most, condition, body) => {
                let condition = Operand(condition);
                writeln!(
                    f,
                    "{pad}for (bit<32> {iteration} = 0; {iteration} < {most} && {condition}; {iteration} = {iteration} + 1) {{"
                )?;
                block(f, body, depth + 1)?;
                writeln!(f, "{pad}}}")?;
            }
        }
    }
    Ok(())
}

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let joined = |parts: &[Expr], by: &str| {
            let part = |part: &Expr| match part {
                // These operators bind tighter.
                Expr::Binary(..) => part.to_string(),
                other => Operand(other).to_string(),
            };
            parts.iter().map(part).collect::<Vec<String>>().join(by)
        };
        match self {
            Expr::Name(name) => f.write_str(name),
            Expr::Member(of, name) => write!(f, "{}.{name}", Primary(of)),
            Expr::Number(number) => write!(f, "{number}"),
            Expr::Bytes(bytes) => {
                write!(f, "{}w0x", 8 * bytes.len())?;
                bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
            Expr::Bool(value) => write!(f, "{value}"),
            Expr::Text(text) => write!(f, "\"{}\"", escaped(text)),
            Expr::List(parts) => write!(f, "{{ {} }}", list(parts)),
            Expr::Not(of) => write!(f, "!{}", Operand(of)),
            Expr::Cast(ty, of) => write!(f, "({ty}){}", Operand(of)),
            Expr::Slice(of, first, last) => write!(f, "{}[{first}:{last}]", Primary(of)),
            Expr::Binary(operator, left, right) => {
                write!(f, "{} {operator} {}", Operand(left), Operand(right))
            }
            Expr::All(parts) => f.write_str(&joined(parts, " && ")),
            Expr::Any(parts) => f.write_str(&joined(parts, " || ")),
            Expr::Call(function, args) => write!(f, "{}({})", Primary(function), list(args)),
        }
    }
}

/// Operand of another expression: in parentheses if it has a binary operator.
struct Operand<'e>(&'e Expr);

impl Display for Operand<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self.0 {
            Expr::Binary(..) | Expr::All(_) | Expr::Any(_) => write!(f, "({})", self.0),
            other => other.fmt(f),
        }
    }
}

/// Expression before a member, a slice or arguments: in parentheses if it has any operator.
struct Primary<'e>(&'e Expr);

impl Display for Primary<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self.0 {
            Expr::Cast(..) | Expr::Not(_) => write!(f, "({})", self.0),
            other => Operand(other).fmt(f),
        }
    }
}

/// Escapes a text for a P4 string.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            '\n' => out += "\\n",
            '\r' => out += "\\r",
            '\t' => out += "\\t",
            '\0' => out += "\\0",
            _ => out.push(letter),
        }
    }
    out
}
