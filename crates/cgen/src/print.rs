//! The printer: a C tree as text, deterministic and readable, with `#line` only where the line that a
//! reader would count to is not the right one.

use crate::tree::*;
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

/// A type with the name it declares.
fn declarator(ty: &Type, name: &str) -> String {
    match ty {
        Type::Ptr(inner) => match **inner {
            Type::Array(..) => declarator(inner, &format!("(*{name})")),
            _ => declarator(inner, &format!("*{name}")),
        },
        Type::Array(inner, len) => declarator(inner, &format!("{name}[{len}]")),
        _ => {
            let base = match ty {
                Type::U8 => "u8",
                Type::U16 => "u16",
                Type::U32 => "u32",
                Type::U64 => "u64",
                Type::S32 => "s32",
                Type::S64 => "s64",
                Type::Int => "int",
                Type::Void => "void",
                Type::Struct(s) => return format!("struct {s} {name}").trim_end().to_string(),
                Type::Named(s) => return format!("{s} {name}").trim_end().to_string(),
                Type::Ptr(_) | Type::Array(..) => "",
            };
            format!("{base} {name}").trim_end().to_string()
        }
    }
}

fn symbol(op: BinOp) -> &'static str {
    match op {
        BinOp::Mul => "*",
        BinOp::Div => "/",
        BinOp::Mod => "%",
        BinOp::Add => "+",
        BinOp::Sub => "-",
        BinOp::Shl => "<<",
        BinOp::Shr => ">>",
        BinOp::Lt => "<",
        BinOp::Le => "<=",
        BinOp::Gt => ">",
        BinOp::Ge => ">=",
        BinOp::Eq => "==",
        BinOp::Ne => "!=",
        BinOp::And => "&",
        BinOp::Xor => "^",
        BinOp::Or => "|",
        BinOp::LogicalAnd => "&&",
        BinOp::LogicalOr => "||",
    }
}

/// How tightly an operator binds; more is tighter.
fn precedence(op: BinOp) -> u8 {
    match op {
        BinOp::Mul | BinOp::Div | BinOp::Mod => 13,
        BinOp::Add | BinOp::Sub => 12,
        BinOp::Shl | BinOp::Shr => 11,
        BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge => 10,
        BinOp::Eq | BinOp::Ne => 9,
        BinOp::And => 8,
        BinOp::Xor => 7,
        BinOp::Or => 6,
        BinOp::LogicalAnd => 5,
        BinOp::LogicalOr => 4,
    }
}

const UNARY: u8 = 14;
const POSTFIX: u8 = 15;
const CONDITIONAL: u8 = 3;

/// Whether C programmers (and compilers' warnings) want parentheses around `inner` within `outer`
/// though the grammar does not.
fn surprising(outer: BinOp, inner: BinOp) -> bool {
    use BinOp::*;
    let bitwise = |op| matches!(op, And | Or | Xor | Shl | Shr);
    let arithmetic = |op| matches!(op, Add | Sub | Mul | Div | Mod);
    outer != inner
        && (bitwise(outer) && (arithmetic(inner) || bitwise(inner))
            || outer == LogicalOr && inner == LogicalAnd)
}

/// An expression as text.
pub fn expr(e: &Expr) -> String {
    let mut out = String::new();
    write_expr(&mut out, e, 0);
    out
}

fn write_expr(out: &mut String, e: &Expr, outer: u8) {
    match e {
        Expr::Ident(name) => out.push_str(name),
        Expr::Int { value, typed, wide } => {
            if *value < 1 << 16 {
                let _ = write!(out, "{value}");
            } else {
                let _ = write!(out, "{value:#x}");
            }
            if *typed {
                out.push_str(if *wide { "ull" } else { "u" });
            }
        }
        Expr::Signed(value) => {
            let _ = write!(out, "{value}");
        }
        Expr::Call(callee, args) => {
            out.push_str(&callee.name);
            out.push('(');
            for (i, arg) in args.iter().enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                write_expr(out, arg, 0);
            }
            out.push(')');
        }
        Expr::Unary(op, x) => {
            let parens = UNARY < outer;
            if parens {
                out.push('(');
            }
            out.push(match op {
                UnOp::Neg => '-',
                UnOp::BitNot => '~',
                UnOp::Not => '!',
                UnOp::Addr => '&',
                UnOp::Deref => '*',
            });
            let same = matches!(&**x, Expr::Unary(inner, _) if inner == op)
                || matches!(&**x, Expr::Signed(v) if *v < 0);
            write_expr(out, x, if same { POSTFIX } else { UNARY });
            if parens {
                out.push(')');
            }
        }
        Expr::Binary(op, a, b) => {
            let own = precedence(*op);
            let side = |inner: &Expr, least: u8| match inner {
                Expr::Binary(i, ..) if surprising(*op, *i) => UNARY,
                _ => least,
            };
            let parens = own < outer;
            if parens {
                out.push('(');
            }
            write_expr(out, a, side(a, own));
            let _ = write!(out, " {} ", symbol(*op));
            write_expr(out, b, side(b, own + 1));
            if parens {
                out.push(')');
            }
        }
        Expr::Cond(c, a, b) => {
            let parens = CONDITIONAL < outer;
            if parens {
                out.push('(');
            }
            write_expr(out, c, CONDITIONAL + 1);
            out.push_str(" ? ");
            write_expr(out, a, CONDITIONAL + 1);
            out.push_str(" : ");
            write_expr(out, b, CONDITIONAL);
            if parens {
                out.push(')');
            }
        }
        Expr::Cast(ty, x) => {
            let parens = UNARY < outer;
            if parens {
                out.push('(');
            }
            let _ = write!(out, "({})", declarator(ty, ""));
            write_expr(out, x, UNARY);
            if parens {
                out.push(')');
            }
        }
        Expr::Index(base, index) => {
            write_expr(out, base, POSTFIX);
            out.push('[');
            write_expr(out, index, 0);
            out.push(']');
        }
        Expr::Member(base, name) => {
            write_expr(out, base, POSTFIX);
            let _ = write!(out, ".{name}");
        }
        Expr::Arrow(base, name) => {
            write_expr(out, base, POSTFIX);
            let _ = write!(out, "->{name}");
        }
        Expr::SizeOf(ty) => {
            let _ = write!(out, "sizeof({})", declarator(ty, ""));
        }
        Expr::Init(values) => init(out, values),
        Expr::Compound(ty, values) => {
            let _ = write!(out, "({})", declarator(ty, ""));
            init(out, values);
        }
    }
}

fn init(out: &mut String, values: &[(Option<smol_str::SmolStr>, Expr)]) {
    if values.is_empty() {
        out.push_str("{}");
        return;
    }
    out.push_str("{ ");
    for (i, (name, value)) in values.iter().enumerate() {
        if i > 0 {
            out.push_str(", ");
        }
        if let Some(name) = name {
            let _ = write!(out, ".{name} = ");
        }
        write_expr(out, value, CONDITIONAL);
    }
    out.push_str(" }");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn b(op: BinOp, x: Expr, y: Expr) -> Expr {
        Expr::bin(op, x, y)
    }

    #[test]
    fn parentheses_stand_where_they_are_needed() {
        let x = || Expr::id("x");
        let y = || Expr::id("y");
        let sum = b(BinOp::Add, x(), y());
        assert_eq!(expr(&b(BinOp::Mul, sum.clone(), x())), "(x + y) * x");
        assert_eq!(expr(&b(BinOp::Sub, x(), sum.clone())), "x - (x + y)");
        assert_eq!(
            expr(&b(BinOp::And, sum.clone(), Expr::int(255))),
            "(x + y) & 255"
        );
        assert_eq!(
            expr(&Expr::Cast(Type::U64, Box::new(sum.clone()))),
            "(u64)(x + y)"
        );
        assert_eq!(expr(&Expr::not(b(BinOp::Lt, x(), y()))), "x >= y");
        let neg = Expr::Unary(UnOp::Neg, Box::new(Expr::Unary(UnOp::Neg, Box::new(x()))));
        assert_eq!(expr(&neg), "-(-x)");
        let cond = Expr::Cond(Box::new(x()), Box::new(y()), Box::new(sum));
        assert_eq!(expr(&b(BinOp::Add, cond, y())), "(x ? y : x + y) + y");
    }

    #[test]
    fn literals_have_the_type_they_are_used_at() {
        let typed = |value, wide| Expr::Int {
            value,
            typed: true,
            wide,
        };
        assert_eq!(expr(&typed(1, false)), "1u");
        assert_eq!(expr(&typed(1, true)), "1ull");
        assert_eq!(expr(&Expr::int(0xffff_ffff)), "0xffffffff");
    }

    #[test]
    fn declarators_nest() {
        assert_eq!(declarator(&Type::U8.ptr().array(3), "p"), "u8 *p[3]");
        assert_eq!(declarator(&Type::U8.array(3).ptr(), "p"), "u8 (*p)[3]");
        assert_eq!(
            declarator(&Type::Struct("s".into()).ptr(), ""),
            "struct s *"
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
            "EXPORTED\nint f(void)\n{\n#line 3 \"a.p4\"\n    x = 1;\n    x = 2;\n#line 9 \"a.p4\"\n    x = 3;\n}\n"
        );
    }
}
