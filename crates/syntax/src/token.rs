//! Tokens: what the preprocessor hands to the parser.

use diag::Span;
use smol_str::SmolStr;

/// A token after preprocessing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Token {
    /// Kind of the token.
    pub kind: TokenKind,
    /// Text as written; string literals keep their quotes.
    pub text: SmolStr,
    /// Location of the token, or of the use of the macro that it comes from.
    pub span: Span,
    /// True if it is the first on its line.
    pub first: bool,
    /// True if white space or a comment comes before it.
    pub space: bool,
    /// True for a macro name that must not be expanded again.
    pub painted: bool,
}

/// Reason why a piece of text is not a token.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Bad {
    /// A character that P4 does not use.
    Char,
    /// A string without a closing quote.
    String,
    /// A `/*` without `*/`.
    Comment,
    /// Marker for an error that was already reported, so that its consequences are not.
    AlreadyReported,
}

macro_rules! kinds {
    (keywords { $($kw:ident = $kw_text:literal,)* } operators { $($op:ident = $op_text:literal,)* }) => {
        /// Kind of a token.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub(crate) enum TokenKind {
            /// A name.
            Ident,
            /// An integer literal.
            Int,
            /// A string literal.
            Str,
            /// The end of an `@pragma` line.
            PragmaEnd,
            /// The end of the program.
            Eof,
            /// Invalid text.
            Bad(Bad),
            $(#[doc = $kw_text] $kw,)*
            $(#[doc = $op_text] $op,)*
        }

        impl TokenKind {
            /// Returns the text of keywords and operators.
            pub(crate) fn fixed_text(self) -> Option<&'static str> {
                match self {
                    $(TokenKind::$kw => Some($kw_text),)*
                    $(TokenKind::$op => Some($op_text),)*
                    _ => None,
                }
            }

            /// Returns the keyword with this text.
            pub(crate) fn keyword(text: &str) -> Option<TokenKind> {
                match text {
                    $($kw_text => Some(TokenKind::$kw),)*
                    _ => None,
                }
            }

            /// Returns true for keywords.
            pub(crate) fn is_keyword(self) -> bool {
                matches!(self, $(TokenKind::$kw)|*)
            }
        }

        /// Operators, each with its text.
        pub(crate) const OPERATORS: &[(&str, TokenKind)] = &[$(($op_text, TokenKind::$op),)*];
    };
}

kinds! {
    keywords {
        Abstract = "abstract",
        Action = "action",
        Actions = "actions",
        Apply = "apply",
        Bit = "bit",
        Bool = "bool",
        Break = "break",
        Const = "const",
        Continue = "continue",
        Control = "control",
        Default = "default",
        Else = "else",
        Entries = "entries",
        Enum = "enum",
        Error = "error",
        Exit = "exit",
        Extern = "extern",
        False = "false",
        For = "for",
        Header = "header",
        HeaderUnion = "header_union",
        If = "if",
        In = "in",
        InOut = "inout",
        IntType = "int",
        Key = "key",
        List = "list",
        MatchKindKw = "match_kind",
        Out = "out",
        Package = "package",
        ParserKw = "parser",
        Priority = "priority",
        Return = "return",
        Select = "select",
        State = "state",
        StringType = "string",
        Struct = "struct",
        Switch = "switch",
        Table = "table",
        This = "this",
        Transition = "transition",
        True = "true",
        Tuple = "tuple",
        Type = "type",
        Typedef = "typedef",
        ValueSet = "value_set",
        Varbit = "varbit",
        Void = "void",
        Underscore = "_",
    }
    operators {
        Invalid = "{#}",
        ShlAssign = "<<=",
        ShrAssign = ">>=",
        SatAddAssign = "|+|=",
        SatSubAssign = "|-|=",
        SatAdd = "|+|",
        SatSub = "|-|",
        Mask = "&&&",
        Dots = "...",
        Range = "..",
        Concat = "++",
        Shl = "<<",
        Shr = ">>",
        Le = "<=",
        Ge = ">=",
        EqEq = "==",
        Ne = "!=",
        AndAnd = "&&",
        OrOr = "||",
        AddAssign = "+=",
        SubAssign = "-=",
        MulAssign = "*=",
        DivAssign = "/=",
        ModAssign = "%=",
        AndAssign = "&=",
        OrAssign = "|=",
        XorAssign = "^=",
        HashHash = "##",
        Hash = "#",
        Plus = "+",
        Minus = "-",
        Star = "*",
        Slash = "/",
        Percent = "%",
        Amp = "&",
        Pipe = "|",
        Caret = "^",
        Tilde = "~",
        Bang = "!",
        Lt = "<",
        Gt = ">",
        Assign = "=",
        LParen = "(",
        RParen = ")",
        LBracket = "[",
        RBracket = "]",
        LBrace = "{",
        RBrace = "}",
        Dot = ".",
        Comma = ",",
        Semi = ";",
        Colon = ":",
        Question = "?",
        At = "@",
    }
}

impl TokenKind {
    /// Returns true for keywords that may still be names everywhere (the specification's `nonTypeName`).
    pub(crate) fn is_soft(self) -> bool {
        matches!(
            self,
            TokenKind::Apply
                | TokenKind::Key
                | TokenKind::Actions
                | TokenKind::State
                | TokenKind::Entries
                | TokenKind::Type
                | TokenKind::Priority
                | TokenKind::List
        )
    }

    /// Returns true if it can be a name.
    pub(crate) fn is_name(self) -> bool {
        self == TokenKind::Ident || self.is_soft()
    }

    /// Describes the kind in an error: `` `;` `` or "a name".
    pub(crate) fn describe(self) -> String {
        match self {
            TokenKind::Ident => "a name".into(),
            TokenKind::Int => "a number".into(),
            TokenKind::Str => "a string".into(),
            TokenKind::PragmaEnd => "the end of the line".into(),
            TokenKind::Eof => "the end of the file".into(),
            TokenKind::Bad(_) => "an unknown character".into(),
            other => format!("`{}`", other.fixed_text().unwrap_or_default()),
        }
    }
}

impl Token {
    /// Describes this token in an error.
    pub(crate) fn describe(&self) -> String {
        const LONG: usize = 40;
        match self.kind {
            TokenKind::Eof | TokenKind::PragmaEnd => self.kind.describe(),
            _ if self.text.chars().count() > LONG => {
                let head: String = self.text.chars().take(LONG).collect();
                format!("`{head}…`")
            }
            _ => format!("`{}`", self.text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longer_operators_come_before_their_prefixes() {
        for (i, (long, _)) in OPERATORS.iter().enumerate() {
            for (short, _) in &OPERATORS[..i] {
                assert!(!long.starts_with(short), "{short} hides {long}");
            }
        }
    }

    #[test]
    fn soft_words_are_names_and_hard_ones_are_not() {
        assert!(TokenKind::keyword("key").unwrap().is_name());
        assert!(!TokenKind::keyword("table").unwrap().is_name());
    }
}
