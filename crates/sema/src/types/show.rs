//! Text of types, as users write them.

use crate::checker::Checker;
use hir::*;

impl Checker<'_> {
    /// Formats a type for messages.
    pub(crate) fn show(&self, ty: &Ty) -> String {
        self.show_at(ty, 6)
    }

    fn show_at(&self, ty: &Ty, depth: u32) -> String {
        if depth == 0 {
            return "\u{2026}".to_owned();
        }
        let all = |name: &str, args: &[Ty]| {
            if args.is_empty() {
                return name.to_owned();
            }
            let args: Vec<String> = args.iter().map(|a| self.show_at(a, depth - 1)).collect();
            format!("{name}<{}>", args.join(", "))
        };
        match ty {
            Ty::Poison => "?".to_owned(),
            Ty::Infer(i) => match self.infer.get(*i as usize) {
                Some(Some(known)) => self.show_at(known, depth - 1),
                _ => "_".to_owned(),
            },
            Ty::Param(id) => self.module.type_params[*id].name.to_string(),
            Ty::Void => "void".to_owned(),
            Ty::Bool => "bool".to_owned(),
            Ty::Int => "int".to_owned(),
            Ty::Bits {
                width,
                signed: false,
            } => format!("bit<{width}>"),
            Ty::Bits {
                width,
                signed: true,
            } => format!("int<{width}>"),
            Ty::Varbit(max) => format!("varbit<{max}>"),
            Ty::String => "string".to_owned(),
            Ty::Error => "error".to_owned(),
            Ty::MatchKind => "match_kind".to_owned(),
            Ty::Composite(id, args) => all(&self.module.composites[*id].name, args),
            Ty::Enum(id) => self.module.enums[*id].name.to_string(),
            Ty::NewType(id) => self.module.new_types[*id].name.to_string(),
            Ty::Stack(elem, n) => format!("{}[{n}]", self.show_at(elem, depth - 1)),
            Ty::Tuple(elems) if elems.is_empty() => "tuple<>".to_owned(),
            Ty::Tuple(elems) => all("tuple", elems),
            Ty::List(elem) => all("list", std::slice::from_ref(elem)),
            Ty::Set(elem) => all("set", std::slice::from_ref(elem)),
            Ty::Extern(id, args) => all(&self.module.externs[*id].name, args),
            Ty::Parser(id, args) => all(&self.module.parsers[*id].name, args),
            Ty::Control(id, args) => all(&self.module.controls[*id].name, args),
            Ty::Package(id, args) => all(&self.module.packages[*id].name, args),
            Ty::ApplyResult(id) => {
                format!("the result of `{}.apply()`", self.module.tables[*id].name)
            }
            Ty::ActionRun(id) => format!("the action that `{}` ran", self.module.tables[*id].name),
        }
    }
}
