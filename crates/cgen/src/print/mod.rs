//! The printer: writes a C tree as text, deterministic and readable. It writes `#line` only before code whose line
//! number, as a reader would count it, differs from that of its origin.

mod expr;

pub use expr::expr;

use crate::tree::*;
use expr::{declarator, symbol};
use smol_str::SmolStr;
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
    /// Values of `__FILE__` and `__LINE__` on the line being written, after the first `#line`.
    presumed: Option<Origin>,
    /// Values that they should have for the code being written, if it comes from a line of the source.
    origin: Option<Origin>,
}

/// A file and a line in it.
type Origin = (SmolStr, u32);

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

    /// Writes a line of code that comes from [`Printer::origin`]. A brace or a label alone is not code.
    fn code(&mut self, text: &str) {
        if let Some(origin) = &self.origin
            && self.presumed.as_ref() != Some(origin)
        {
            let (file, line) = origin;
            let _ = write!(self.out, "#line {line}");
            if self.presumed.as_ref().is_none_or(|(now, _)| now != file) {
                let _ = write!(self.out, " \"{}\"", escape(file));
            }
            self.out.push('\n');
            self.presumed = Some(origin.clone());
        }
        self.line(text);
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Include(path) => self.line(&format!("#include \"{path}\"")),
            Item::Pragma(words) => self.line(&format!("#pragma {words}")),
            Item::Comment(lines) => {
                for line in lines {
                    self.line(&comment(line));
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
                init,
            } => {
                self.line("struct {");
                self.indent += 1;
                for member in members {
                    self.line(&format!("{};", expr(member)));
                }
                self.indent -= 1;
                let init = init.as_ref().map(|e| format!(" = {}", expr(e)));
                let init = init.unwrap_or_default();
                self.line(&format!("}} {name} {attribute}{init};"));
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
                // The first code of a function, such as its variables, gets the line of its first statement.
                self.origin = first_origin(body);
                self.body(body);
                self.origin = None;
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
                        format!("  {}", comment(note))
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

    /// Writes a block, and restores the origin of the code around it.
    fn body(&mut self, block: &[Stmt]) {
        self.indent += 1;
        let around = self.origin.clone();
        for stmt in block {
            self.stmt(stmt);
        }
        self.origin = around;
        self.indent -= 1;
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Line { file, line } => self.origin = Some((file.clone(), *line)),
            Stmt::Comment(text) => self.line(&comment(text)),
            Stmt::Expr(e) => self.code(&format!("{};", expr(e))),
            Stmt::Hint { name, on } => self.code(&format!("{name}({});", expr(on))),
            Stmt::MayJump { name, args, label } => {
                let args: String = args.iter().map(|arg| format!("{}, ", expr(arg))).collect();
                self.code(&format!("{name}({args}{label});"));
            }
            Stmt::Assign(dst, value) => self.code(&format!("{} = {};", expr(dst), expr(value))),
            Stmt::Update(op, dst, value) => {
                self.code(&format!("{} {}= {};", expr(dst), symbol(*op), expr(value)));
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
                self.code(&format!("{text};"));
            }
            Stmt::If(cond, then, otherwise) => self.conditional("", cond, then, otherwise),
            Stmt::Switch { on, cases, default } => {
                self.code(&format!("switch ({}) {{", expr(on)));
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
            Stmt::Goto(name) => self.code(&format!("goto {name};")),
            Stmt::Break => self.code("break;"),
            Stmt::Continue => self.code("continue;"),
            Stmt::Return(None) => self.code("return;"),
            Stmt::Return(Some(value)) => self.code(&format!("return {};", expr(value))),
        }
    }

    fn conditional(&mut self, lead: &str, cond: &Expr, then: &[Stmt], otherwise: &[Stmt]) {
        if let ([one], []) = (then, otherwise)
            && matches!(one, Stmt::Goto(_) | Stmt::Return(_))
        {
            self.code(&format!("{lead}if ({})", expr(cond)));
            self.body(then);
            return;
        }
        if then.is_empty() && !otherwise.is_empty() {
            self.conditional(lead, &Expr::not(cond.clone()), otherwise, &[]);
            return;
        }
        self.code(&format!("{lead}if ({}) {{", expr(cond)));
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
            self.code("break;");
            self.indent -= 1;
        }
        if declares {
            self.line("}");
        }
    }
}

/// Returns the origin of the first statement that has one.
fn first_origin(block: &[Stmt]) -> Option<Origin> {
    block.iter().find_map(|stmt| match stmt {
        Stmt::Line { file, line } => Some((file.clone(), *line)),
        Stmt::If(_, then, otherwise) => first_origin(then).or_else(|| first_origin(otherwise)),
        Stmt::Switch { cases, default, .. } => cases
            .iter()
            .find_map(|(_, block)| first_origin(block))
            .or_else(|| first_origin(default)),
        Stmt::Loop(block) | Stmt::Block(block) => first_origin(block),
        _ => None,
    })
}

/// Returns a comment to the end of the line. It may contain names of files and tables, which could be chosen to end
/// it. Characters that begin a line are therefore escaped, and a backslash is never last, where it would continue
/// the comment on the next line.
fn comment(text: &str) -> String {
    let text = format!("// {}", diag::shown(text));
    let text = text.trim_end();
    match text.ends_with('\\') {
        true => format!("{text}."),
        false => text.to_owned(),
    }
}

/// A text between quotation marks, on one line.
fn escape(text: &str) -> String {
    diag::shown(text).replace('\\', "\\\\").replace('"', "\\\"")
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
    fn names_do_not_end_a_comment_or_a_directive() {
        let hostile = "a.p4\nint evil;\r#define x\\";
        let unit = Unit {
            items: vec![
                Item::Comment(vec![hostile.into(), String::new()]),
                Item::Function {
                    linkage: "".into(),
                    result: Type::Int,
                    name: "f".into(),
                    params: vec![],
                    body: vec![
                        Stmt::Comment(hostile.into()),
                        Stmt::Line {
                            file: hostile.into(),
                            line: 3,
                        },
                        Stmt::Assign(Expr::id("x"), Expr::int(1u64)),
                    ],
                },
            ],
        };
        assert_eq!(
            print(&unit),
            "// a.p4\\nint evil;\\r#define x\\.\n//\n\nint f(void)\n{\n    // a.p4\\nint evil;\\r#define x\\.\n\
             #line 3 \"a.p4\\\\nint evil;\\\\r#define x\\\\\"\n    x = 1;\n}\n"
        );
    }

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
            "EXPORTED\nint f(void)\n{\n#line 3 \"a.p4\"\n    x = 1;\n    x = 2;\n#line 9\n    x = 3;\n}\n"
        );
    }

    #[test]
    fn every_line_of_a_statement_leads_to_the_line_it_comes_from() {
        let at = |line| Stmt::Line {
            file: "a.p4".into(),
            line,
        };
        let set = |n: u64| Stmt::Assign(Expr::id("x"), Expr::int(n));
        let body = vec![
            Stmt::decl(Type::Int, "y", Expr::int(0)),
            at(3),
            set(1),
            set(2),
            Stmt::If(
                Expr::id("y"),
                vec![at(7), set(3), set(4)],
                vec![Stmt::If(Expr::id("x"), vec![set(5), set(6)], vec![])],
            ),
            Stmt::Label("end".into()),
            set(7),
        ];
        let function = |name: &str, body| Item::Function {
            linkage: "".into(),
            result: Type::Int,
            name: name.into(),
            params: vec![],
            body,
        };
        let text = print(&Unit {
            items: vec![function("f", body), function("g", vec![at(9), set(8)])],
        });
        assert_eq!(text.matches("a.p4").count(), 1, "named once: {text}");
        assert_eq!(
            origins(&text),
            [
                ("int y = 0;", 3),
                ("x = 1;", 3),
                ("x = 2;", 3),
                ("if (y) {", 3),
                ("x = 3;", 7),
                ("x = 4;", 7),
                ("} else if (x) {", 3),
                ("x = 5;", 3),
                ("x = 6;", 3),
                ("x = 7;", 3),
                ("x = 8;", 9),
            ]
            .map(|(code, line)| (code.to_owned(), line)),
            "{text}"
        );
    }

    /// Lines with code, each with the number that a C compiler gives it.
    fn origins(text: &str) -> Vec<(String, u32)> {
        let mut number = 0;
        let mut found = Vec::new();
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("#line ") {
                let next = rest.split(' ').next().expect("a number");
                number = next.parse().expect("a number");
                continue;
            }
            if line.ends_with(';') && !line.ends_with(":;") || line.contains("if (") {
                found.push((line.trim().to_owned(), number));
            }
            number += 1;
        }
        found
    }
}
