//! Declarations: choice of the kind, constants, variables, instances and types.

use diag::Span;

use super::{Parse, Parser};
use crate::ast::{
    Annotation, Arg, CompositeKind, Decl, DeclKind, EnumMember, Expr, ExprKind, FieldDecl, Ident,
    Type, TypeKind,
};
use crate::errors::{common, grammar};
use crate::token::TokenKind;

impl Parser<'_> {
    /// `declaration`, at top level.
    pub(super) fn declaration(&mut self) -> Parse<Decl> {
        let start = self.span();
        let annotations = self.annotations()?;
        self.check_p4_14()?;
        let next = self.kind_at(1);
        let kind = match self.kind() {
            TokenKind::Const => return self.constant(annotations, start),
            TokenKind::Extern => self.extern_declaration()?,
            TokenKind::Action => self.action()?,
            TokenKind::ParserKw => self.parser_declaration()?,
            TokenKind::Control => self.control_declaration()?,
            TokenKind::Package => self.package()?,
            TokenKind::Struct => self.composite(CompositeKind::Struct)?,
            TokenKind::Header => self.composite(CompositeKind::Header)?,
            TokenKind::HeaderUnion => self.composite(CompositeKind::Union)?,
            TokenKind::Enum => self.enumeration()?,
            TokenKind::Error if next == TokenKind::LBrace => self.error_members()?,
            TokenKind::MatchKindKw if next == TokenKind::LBrace => self.match_kinds()?,
            TokenKind::Typedef => self.typedef()?,
            TokenKind::Type if next != TokenKind::Lt && next != TokenKind::LParen => {
                self.new_type()?
            }
            TokenKind::ValueSet => self.value_set()?,
            TokenKind::Table | TokenKind::State | TokenKind::Apply | TokenKind::Transition => {
                return Err(self.misplaced_declaration("at top level"));
            }
            TokenKind::If
            | TokenKind::For
            | TokenKind::Switch
            | TokenKind::Return
            | TokenKind::Exit
            | TokenKind::LBrace => {
                let (span, text) = (self.span(), self.token().describe());
                let help = "statements belong in actions, functions, parser states and the `apply` blocks of controls; \
                            does a `}` above close too early?";
                return Err(self.report(grammar::misplaced(span, &text, "at top level", help)));
            }
            TokenKind::Eof | TokenKind::RBrace | TokenKind::Semi => {
                self.refuse_annotations(&annotations);
                return Err(self.unexpected("a declaration"));
            }
            _ => self.typed_declaration()?,
        };
        Ok(Decl {
            annotations,
            kind,
            span: self.since(start),
        })
    }

    /// Parses a declaration that begins with a type: a function, an instance, or a variable, which is not allowed here.
    fn typed_declaration(&mut self) -> Parse<DeclKind> {
        let starts = self.kind().is_name()
            || matches!(
                self.kind(),
                TokenKind::Dot
                    | TokenKind::Void
                    | TokenKind::Bit
                    | TokenKind::IntType
                    | TokenKind::Bool
                    | TokenKind::Varbit
            )
            || matches!(
                self.kind(),
                TokenKind::Tuple
                    | TokenKind::StringType
                    | TokenKind::Error
                    | TokenKind::MatchKindKw
                    | TokenKind::Underscore
            );
        if !starts {
            return Err(self.unexpected("a declaration"));
        }
        let start = self.span();
        let ty = self.ty()?;
        if self.at_kind(TokenKind::LParen) {
            return self.instance(ty);
        }
        let name = self.name("a declaration")?;
        if matches!(self.kind(), TokenKind::LParen | TokenKind::Lt) {
            return self.function(ty, name);
        }
        if matches!(
            self.kind(),
            TokenKind::Semi | TokenKind::Assign | TokenKind::LBracket
        ) {
            let span = self.since(start);
            return Err(self.report(common::global_variable(span)));
        }
        Err(self.unexpected("`(`"))
    }

    /// `const T x = e;`
    pub(super) fn constant(&mut self, annotations: Vec<Annotation>, start: Span) -> Parse<Decl> {
        self.bump();
        let ty = self.ty()?;
        let name = self.name("a constant")?;
        let ty = self.sizes_after_name(ty)?;
        self.expect(TokenKind::Assign)?;
        let value = self.value()?;
        self.scopes.declare_value(&name);
        self.semicolon("the constant")?;
        Ok(Decl {
            annotations,
            kind: DeclKind::Const { ty, name, value },
            span: self.since(start),
        })
    }

    /// `T x;` or `T x = e;`
    pub(super) fn variable(&mut self, annotations: Vec<Annotation>, start: Span) -> Parse<Decl> {
        if self.at_local_function() {
            return Err(self.misplaced_function());
        }
        let kind = self.variable_head()?;
        if self.at_kind(TokenKind::Comma) {
            return Err(self.report(common::several_names(self.span())));
        }
        self.semicolon("the declaration")?;
        Ok(Decl {
            annotations,
            kind,
            span: self.since(start),
        })
    }

    /// `T(args) x;` or `T(args) x = { ... };`, after its type.
    pub(super) fn instance(&mut self, ty: Type) -> Parse<DeclKind> {
        let args = self.args()?;
        self.instance_name(ty, args)
    }

    /// Parses an instance among statements, whose beginning was read as a call.
    pub(super) fn instance_after(
        &mut self,
        annotations: Vec<Annotation>,
        call: Expr,
        start: Span,
    ) -> Parse<Decl> {
        let (callee, type_args, args) = match call.kind {
            ExprKind::Call {
                callee,
                type_args,
                args,
            } => (*callee, type_args, args),
            _ => return Err(self.unexpected("`;`")),
        };
        if !matches!(callee.kind, ExprKind::Name { .. }) {
            return Err(self.unexpected("`;`"));
        }
        let ty = self.type_of_callee(callee, type_args)?;
        let kind = self.instance_name(ty, args)?;
        Ok(Decl {
            annotations,
            kind,
            span: self.since(start),
        })
    }

    /// Parses the rest of an instance after its arguments.
    fn instance_name(&mut self, ty: Type, args: Vec<Arg>) -> Parse<DeclKind> {
        let name = self.name("an instance")?;
        let size = if self.at_kind(TokenKind::LBracket) {
            Some(self.array_size()?)
        } else {
            None
        };
        let body = if self.eat(TokenKind::Assign) {
            let opener = self.expect(TokenKind::LBrace)?;
            let member = |p: &mut Self| p.instance_member().map(Some);
            Some(self.nested(|p| p.scoped(|p| p.members(opener, member)))?)
        } else {
            None
        };
        self.scopes.declare_value(&name);
        self.semicolon("the instance")?;
        Ok(DeclKind::Instance {
            ty,
            args,
            name,
            size,
            body,
        })
    }

    /// Parses a function or instance in the braces of an instance.
    fn instance_member(&mut self) -> Parse<Decl> {
        let start = self.span();
        let annotations = self.annotations()?;
        let ty = self.ty()?;
        let kind = if self.at_kind(TokenKind::LParen) {
            self.instance(ty)?
        } else {
            let name = self.name("a function")?;
            self.function(ty, name)?
        };
        Ok(Decl {
            annotations,
            kind,
            span: self.since(start),
        })
    }

    /// `struct`, `header`, `header_union`.
    fn composite(&mut self, kind: CompositeKind) -> Parse<DeclKind> {
        self.bump();
        let name = self.name("a type")?;
        self.scopes.declare_type(&name);
        let (type_params, fields) = self.scoped(|p| {
            let type_params = p.type_params()?;
            p.scopes.declare_types(&type_params);
            let opener = p.expect(TokenKind::LBrace)?;
            let fields = p.members(opener, |p| p.field().map(Some))?;
            Ok((type_params, fields))
        })?;
        Ok(DeclKind::Composite {
            kind,
            name,
            type_params,
            fields,
        })
    }

    fn field(&mut self) -> Parse<FieldDecl> {
        let annotations = self.annotations()?;
        let ty = self.ty()?;
        let name = self.name("a field")?;
        let ty = self.sizes_after_name(ty)?;
        if self.at_kind(TokenKind::Comma) {
            let comma = self.span();
            // After the comma of `bit<8> a, b` there is a name alone.
            if self.kind_at(1).is_name()
                && matches!(
                    self.kind_at(2),
                    TokenKind::Comma | TokenKind::Semi | TokenKind::LBracket
                )
            {
                return Err(self.report(common::several_names(comma)));
            }
            self.report(common::field_comma(comma));
            self.bump();
        } else {
            self.semicolon("the field")?;
        }
        Ok(FieldDecl {
            annotations,
            ty,
            name,
        })
    }

    /// `enum E { A, B }` and `enum bit<8> E { A = 1 }`.
    fn enumeration(&mut self) -> Parse<DeclKind> {
        self.bump();
        let underlying = if self.at_typed_name() {
            Some(self.ty()?)
        } else {
            None
        };
        let name = self.name("a type")?;
        self.scopes.declare_type(&name);
        let opener = self.expect(TokenKind::LBrace)?;
        let members = self.some_members(opener, |p| {
            let name = p.name("a member")?;
            let value = if p.eat(TokenKind::Assign) {
                Some(p.value()?)
            } else {
                None
            };
            Ok(EnumMember { name, value })
        })?;
        Ok(DeclKind::Enum {
            underlying,
            name,
            members,
        })
    }

    /// Parses at least one member, separated by commas, up to the `}` that closes `opener`.
    fn some_members<T>(
        &mut self,
        opener: Span,
        mut member: impl FnMut(&mut Self) -> Parse<T>,
    ) -> Parse<Vec<T>> {
        if self.at_kind(TokenKind::RBrace) {
            member(self)?;
        }
        let members = self.comma_list(TokenKind::RBrace, true, member)?;
        self.close(TokenKind::RBrace, opener)?;
        Ok(members)
    }

    fn error_members(&mut self) -> Parse<DeclKind> {
        Ok(DeclKind::Error {
            members: self.name_set("an error")?,
        })
    }

    fn match_kinds(&mut self) -> Parse<DeclKind> {
        Ok(DeclKind::MatchKind {
            members: self.name_set("a match kind")?,
        })
    }

    /// `error { A, B }`, from its first word.
    fn name_set(&mut self, what: &str) -> Parse<Vec<Ident>> {
        self.bump();
        let opener = self.expect(TokenKind::LBrace)?;
        let members = self.some_members(opener, |p| p.name(what))?;
        Ok(members)
    }

    /// `typedef T x;`
    fn typedef(&mut self) -> Parse<DeclKind> {
        let (ty, name) = self.new_name()?;
        self.semicolon("the typedef")?;
        Ok(DeclKind::Typedef { ty, name })
    }

    /// `type T x;`
    fn new_type(&mut self) -> Parse<DeclKind> {
        let (ty, name) = self.new_name()?;
        self.semicolon("the type")?;
        Ok(DeclKind::NewType { ty, name })
    }

    /// Parses a type and its new name, from the keyword. A composite or an enum may be declared in place: it becomes a
    /// declaration of its own before this one.
    fn new_name(&mut self) -> Parse<(Type, Ident)> {
        self.bump();
        let start = self.span();
        let declared = match self.kind() {
            TokenKind::Struct => Some(self.composite(CompositeKind::Struct)?),
            TokenKind::Header => Some(self.composite(CompositeKind::Header)?),
            TokenKind::HeaderUnion => Some(self.composite(CompositeKind::Union)?),
            TokenKind::Enum => Some(self.enumeration()?),
            _ => None,
        };
        let ty = match declared {
            None => self.ty()?,
            Some(kind) => self.on_the_spot(kind, start)?,
        };
        let name = self.name("a type")?;
        let ty = self.sizes_after_name(ty)?;
        self.scopes.declare_type(&name);
        Ok((ty, name))
    }

    /// Inserts a declaration before the current one, and returns the type that it declares.
    fn on_the_spot(&mut self, kind: DeclKind, start: Span) -> Parse<Type> {
        let (DeclKind::Composite { name, .. } | DeclKind::Enum { name, .. }) = &kind else {
            return Err(self.unexpected("a type"));
        };
        let (name, span) = (name.clone(), name.span);
        let annotations = Vec::new();
        let span_of_all = self.since(start);
        self.before.push(Decl {
            annotations,
            kind,
            span: span_of_all,
        });
        let global = false;
        Ok(Type {
            kind: TypeKind::Name { global, name },
            span,
        })
    }

    /// Reports a function inside another declaration. Its first token is the current one.
    pub(super) fn misplaced_function(&mut self) -> super::Failed {
        let help = "functions belong at top level: move it before the control or parser and pass what it \
                    needs as parameters; an action may be in a control";
        let span = self.span();
        self.report(grammar::misplaced(span, "a function", "here", help))
    }

    /// Reports that a known kind of declaration is in the wrong context.
    pub(super) fn misplaced_declaration(&mut self, place: &str) -> super::Failed {
        let (what, help) = match self.kind() {
            TokenKind::Table => ("a table", "tables belong in controls, before `apply`"),
            TokenKind::Action => (
                "an action",
                "actions belong at top level and in controls, before `apply`",
            ),
            TokenKind::State => ("a state", "states belong in parsers"),
            TokenKind::ValueSet => (
                "a value set",
                "value sets belong in parsers, before the states, or at top level",
            ),
            TokenKind::Apply => (
                "`apply`",
                "`apply` is the last part of a control; does a `}` above close too early?",
            ),
            _ => (
                "`transition`",
                "transitions belong in the states of parsers; does a `}` above close too early?",
            ),
        };
        let span = self.span();
        self.report(grammar::misplaced(span, what, place, help))
    }

    /// Recognises P4-14 by constructs that P4-16 does not have. It stops parsing, since every line would be an error.
    fn check_p4_14(&mut self) -> Parse<()> {
        let (next, after) = (self.kind_at(1), self.kind_at(2));
        let named_block = next.is_name() && after == TokenKind::LBrace;
        let text = self.token().text.clone();
        let what = match text.as_str() {
            "header_type" if named_block => "`header_type` declares a header",
            "field_list" | "field_list_calculation" | "primitive_action" | "action_selector"
                if named_block =>
            {
                "P4-16 has no declaration of this kind"
            }
            "calculated_field" if next.is_name() => "P4-16 has no declaration of this kind",
            "parser" if named_block => "its parsers have no parameters",
            "control" if named_block => "its controls have no parameters",
            "metadata"
                if next.is_name() && after.is_name() && self.kind_at(3) == TokenKind::Semi =>
            {
                "`metadata` declares an instance"
            }
            "header" if next.is_name() && after.is_name() && self.kind_at(3) == TokenKind::Semi => {
                "`header` declares an instance"
            }
            "table" if named_block => match self.tokens.get(self.at + 3).map(|t| t.text.as_str()) {
                Some("reads" | "actions" | "action_profile")
                    if self.kind_at(4) == TokenKind::LBrace =>
                {
                    "its tables are at top level"
                }
                _ => return Ok(()),
            },
            _ => return Ok(()),
        };
        let span = self.span();
        let failed = self.report(common::p4_14(span, what));
        self.stop();
        Err(failed)
    }
}
