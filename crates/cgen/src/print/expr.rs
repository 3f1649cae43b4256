//! Expressions and declarators as text, with the parentheses that they need.

use crate::tree::*;
use std::fmt::Write;

/// A type with the name it declares.
pub(super) fn declarator(ty: &Type, name: &str) -> String {
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

pub(super) fn symbol(op: BinOp) -> &'static str {
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

/// Precedence of an operator: a greater number binds tighter.
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

/// Returns true if C programmers (and compilers' warnings) expect parentheses around `inner` within `outer` though
/// the grammar does not require them.
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
        Expr::Ident(name) | Expr::Word(name) => out.push_str(name),
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
}
