//! Tokens: what the preprocessor hands to the parser.

use diag::Span;
use smol_str::SmolStr;

/// A token after preprocessing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Token {
    /// Which one.
    pub kind: Kind,
    /// Its text as written; string literals keep their quotes.
    pub text: SmolStr,
    /// Its location, or where the macro that gave it was used.
    pub span: Span,
    /// Whether it is the first on its line.
    pub first: bool,
    /// Whether white space or a comment comes before it.
    pub space: bool,
    /// A macro name that must not be expanded again.
    pub painted: bool,
}

/// Why a piece of text is no token.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Bad {
    /// A character that P4 has no use for.
    Char,
    /// A string that its line ends before its quote.
    String,
    /// A `/*` without `*/`.
    Comment,
    /// What stands for something that is reported already, so that its absence is not reported again.
    AlreadyReported,
}

macro_rules! kinds {
    (keywords { $($kw:ident = $kw_text:literal,)* } operators { $($op:ident = $op_text:literal,)* }) => {
        /// Which token.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub(crate) enum Kind {
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
            /// No token.
            Bad(Bad),
            $(#[doc = $kw_text] $kw,)*
            $(#[doc = $op_text] $op,)*
        }

        impl Kind {
            /// The text, of keywords and operators.
            pub(crate) fn fixed_text(self) -> Option<&'static str> {
                match self {
                    $(Kind::$kw => Some($kw_text),)*
                    $(Kind::$op => Some($op_text),)*
                    _ => None,
                }
            }

            /// The keyword with this text.
            pub(crate) fn keyword(text: &str) -> Option<Kind> {
                match text {
                    $($kw_text => Some(Kind::$kw),)*
                    _ => None,
                }
            }

            /// Whether it is a word that the grammar gives a meaning.
            pub(crate) fn is_keyword(self) -> bool {
                matches!(self, $(Kind::$kw)|*)
            }
        }

        /// Operators, each with its text.
        pub(crate) const OPERATORS: &[(&str, Kind)] = &[$(($op_text, Kind::$op),)*];
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

impl Kind {
    /// Whether it is a word of the grammar that may still name things everywhere (the
    /// specification's `nonTypeName`).
    pub(crate) fn is_soft(self) -> bool {
        matches!(
            self,
            Kind::Apply
                | Kind::Key
                | Kind::Actions
                | Kind::State
                | Kind::Entries
                | Kind::Type
                | Kind::Priority
                | Kind::List
        )
    }

    /// Whether it can be a name.
    pub(crate) fn is_name(self) -> bool {
        self == Kind::Ident || self.is_soft()
    }

    /// How an error names it: `` `;` `` or "a name".
    pub(crate) fn describe(self) -> String {
        match self {
            Kind::Ident => "a name".into(),
            Kind::Int => "a number".into(),
            Kind::Str => "a string".into(),
            Kind::PragmaEnd => "the end of the line".into(),
            Kind::Eof => "the end of the file".into(),
            Kind::Bad(_) => "an unknown character".into(),
            other => format!("`{}`", other.fixed_text().unwrap_or_default()),
        }
    }
}

impl Token {
    /// How an error names this very token.
    pub(crate) fn describe(&self) -> String {
        const LONG: usize = 40;
        match self.kind {
            Kind::Eof | Kind::PragmaEnd => self.kind.describe(),
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
        assert!(Kind::keyword("key").unwrap().is_name());
        assert!(!Kind::keyword("table").unwrap().is_name());
    }
}
