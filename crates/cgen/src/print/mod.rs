//! The printer: a C tree as text, deterministic and readable, with `#line` only where the line that a
//! reader would count to is not the right one.

mod expr;

pub use expr::expr;

use crate::tree::*;
use expr::{declarator, symbol};
use std::fmt::Write;

/// A C file as text.
pub fn print(unit: &Unit) -> String {
    let mut p = Printer::default();
    for (i, item) in unit.items.iter().enumerate() {
        let together = matches!(
            (item, i.checked_sub(1).map(|j| &unit.items[j])),
            (Item::Include(_), Some(Item::Include(_)))
                | (Item::Prototype { .. }, Some(Item::Prototype { .. }))
        );
        if i > 0 && !together {
            p.newline();
        }
        p.item(item);
    }
    p.out
}

#[derive(Default)]
struct Printer {
    out: String,
    indent: usize,
    /// What `__FILE__` and `__LINE__` are on the line being written, once a `#line` was.
    presumed: Option<(String, u32)>,
}

impl Printer {
    fn newline(&mut self) {
        self.out.push('\n');
        if let Some((_, line)) = &mut self.presumed {
            *line += 1;
        }
    }

    fn line(&mut self, text: &str) {
        for _ in 0..self.indent {
            self.out.push_str("    ");
        }
        self.out.push_str(text);
        self.newline();
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Include(path) => self.line(&format!("#include \"{path}\"")),
            Item::Comment(lines) => {
                for line in lines {
                    self.line(format!("// {line}").trim_end());
                }
            }
            Item::Struct { name, members } => {
                self.line(&format!("struct {name} {{"));
                self.members(members);
                self.line("};");
            }
            Item::Enum(members) => {
                self.line("enum {");
                self.indent += 1;
                for (name, value) in members {
                    self.line(&format!("{name} = {value},"));
                }
                self.indent -= 1;
                self.line("};");
            }
            Item::Described {
                members,
                name,
                attribute,
            } => {
                self.line("struct {");
                self.indent += 1;
                for member in members {
                    self.line(&format!("{};", expr(member)));
                }
                self.indent -= 1;
                self.line(&format!("}} {name} {attribute};"));
            }
            Item::Variable {
                ty,
                name,
                init,
                attribute,
                constant,
            } => {
                let mut text = String::new();
                if *constant {
                    text.push_str("static const ");
                }
                text.push_str(&declarator(ty, name));
                if let Some(attribute) = attribute {
                    let _ = write!(text, " {attribute}");
                }
                if let Some(init) = init {
                    let _ = write!(text, " = {}", expr(init));
                }
                self.line(&format!("{text};"));
            }
            Item::Prototype {
                result,
                name,
                params,
            } => self.line(&format!("{};", signature(result, name, params))),
            Item::Function {
                linkage,
                result,
                name,
                params,
                body,
            } => {
                if !linkage.is_empty() {
                    self.line(linkage);
                }
                self.line(&signature(result, name, params));
                self.line("{");
                self.body(body);
                self.line("}");
            }
        }
    }

    fn members(&mut self, members: &[Member]) {
        self.indent += 1;
        for member in members {
            match member {
                Member::Field { ty, name, note } => {
                    let comment = if note.is_empty() {
                        String::new()
                    } else {
                        format!("  // {note}")
                    };
                    self.line(&format!("{};{comment}", declarator(ty, name)));
                }
                Member::Union(variants) => {
                    self.line("union {");
                    self.indent += 1;
                    for (name, members) in variants {
                        self.line("struct {");
                        self.members(members);
                        self.line(&format!("}} {name};"));
                    }
                    self.indent -= 1;
                    self.line("};");
                }
            }
        }
        self.indent -= 1;
    }

    fn body(&mut self, block: &[Stmt]) {
        self.indent += 1;
        for stmt in block {
            self.stmt(stmt);
        }
        self.indent -= 1;
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Line { file, line } => {
                let right = self
                    .presumed
                    .as_ref()
                    .is_some_and(|(f, l)| f == file && l == line);
                if !right {
                    let _ = writeln!(self.out, "#line {line} \"{}\"", escape(file));
                    self.presumed = Some((file.to_string(), *line));
                }
            }
            Stmt::Comment(text) => self.line(&format!("// {text}")),
            Stmt::Expr(e) => self.line(&format!("{};", expr(e))),
            Stmt::Hint { name, on } => self.line(&format!("{name}({});", expr(on))),
            Stmt::MayJump { name, label } => self.line(&format!("{name}({label});")),
            Stmt::Assign(dst, value) => self.line(&format!("{} = {};", expr(dst), expr(value))),
            Stmt::Update(op, dst, value) => {
                self.line(&format!("{} {}= {};", expr(dst), symbol(*op), expr(value)));
            }
            Stmt::Decl {
                ty,
                name,
                init,
                align,
            } => {
                let mut text = declarator(ty, name);
                if let Some(align) = align {
                    let _ = write!(text, " __attribute__((aligned({align})))");
                }
                if let Some(init) = init {
                    let _ = write!(text, " = {}", expr(init));
                }
                self.line(&format!("{text};"));
            }
            Stmt::If(cond, then, otherwise) => self.conditional("", cond, then, otherwise),
            Stmt::Switch { on, cases, default } => {
                self.line(&format!("switch ({}) {{", expr(on)));
                for (values, block) in cases {
                    for value in values {
                        self.line(&format!("case {}:", expr(value)));
                    }
                    self.case(block);
                }
                if !default.is_empty() {
                    self.line("default:");
                    self.case(default);
                }
                self.line("}");
            }
            Stmt::Loop(block) => {
                self.line("for (;;) {");
                self.body(block);
                self.line("}");
            }
            Stmt::Block(block) => {
                self.line("{");
                self.body(block);
                self.line("}");
            }
            Stmt::Label(name) => {
                let indent = std::mem::replace(&mut self.indent, 0);
                self.line(&format!("{name}:;"));
                self.indent = indent;
            }
            Stmt::Goto(name) => self.line(&format!("goto {name};")),
            Stmt::Break => self.line("break;"),
            Stmt::Continue => self.line("continue;"),
            Stmt::Return(None) => self.line("return;"),
            Stmt::Return(Some(value)) => self.line(&format!("return {};", expr(value))),
        }
    }

    fn conditional(&mut self, lead: &str, cond: &Expr, then: &[Stmt], otherwise: &[Stmt]) {
        if let ([one], []) = (then, otherwise)
            && matches!(one, Stmt::Goto(_) | Stmt::Return(_))
        {
            self.line(&format!("{lead}if ({})", expr(cond)));
            self.body(then);
            return;
        }
        if then.is_empty() && !otherwise.is_empty() {
            self.conditional(lead, &Expr::not(cond.clone()), otherwise, &[]);
            return;
        }
        self.line(&format!("{lead}if ({}) {{", expr(cond)));
        self.body(then);
        if otherwise.is_empty() {
            self.line("}");
            return;
        }
        if let [Stmt::If(cond, then, otherwise)] = otherwise
            && !(then.len() == 1 && otherwise.is_empty())
        {
            self.conditional("} else ", cond, then, otherwise);
            return;
        }
        self.line("} else {");
        self.body(otherwise);
        self.line("}");
    }

    fn case(&mut self, block: &[Stmt]) {
        let declares = block.iter().any(|s| matches!(s, Stmt::Decl { .. }));
        if declares {
            self.line("{");
        }
        self.body(block);
        if !block_diverges(block) {
            self.indent += 1;
            self.line("break;");
            self.indent -= 1;
        }
        if declares {
            self.line("}");
        }
    }
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

fn signature(result: &Type, name: &str, params: &[(Type, smol_str::SmolStr)]) -> String {
    let params: Vec<String> = params.iter().map(|(t, n)| declarator(t, n)).collect();
    let params = if params.is_empty() {
        "void".to_string()
    } else {
        params.join(", ")
    };
    declarator(result, &format!("{name}({params})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_directives_are_written_only_where_counting_goes_wrong() {
        let at = |line| Stmt::Line {
            file: "a.p4".into(),
            line,
        };
        let set = |n: u64| Stmt::Assign(Expr::id("x"), Expr::int(n));
        let unit = Unit {
            items: vec![Item::Function {
                linkage: "EXPORTED".into(),
                result: Type::Int,
                name: "f".into(),
                params: vec![],
                body: vec![at(3), set(1), at(4), set(2), at(9), set(3)],
            }],
        };
        assert_eq!(
            print(&unit),
            "EXPORTED\nint f(void)\n{\n#line 3 \"a.p4\"\n    x = 1;\n    x = 2;\n#line 9 \"a.p4\"\n    x = 3;\n}\n"
        );
    }
}
