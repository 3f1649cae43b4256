//! XML documents, as an automaton without a stack. The actions in `document.h` decide what an end tag closes.

use super::automaton::{DocumentTransition, Table, table};

/// Expected input. `document.h` knows the row numbers of the first seven states.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum XmlState {
    /// Text in an element.
    Text,
    /// The rest of a value in `"`.
    Double,
    /// The rest of a value in `'`.
    Single,
    /// The rest of a comment.
    Comment,
    /// The rest of a processing instruction.
    Instruction,
    /// The rest of a CDATA section.
    Data,
    /// Outside of the root.
    Outside,
    /// After `<`.
    Less,
    /// After `<!`.
    Bang,
    /// After `<!-`.
    Dash,
    /// The rest of `CDATA[`.
    Section(&'static str),
    /// After this number of the bytes that end a comment, all but the last.
    CommentEnd(u8),
    /// After a `?` that may end an instruction.
    InstructionEnd,
    /// After this number of the `]` that may end a section.
    DataEnd(u8),
    /// After `</`.
    Closing,
    /// The rest of the name of an end tag.
    ClosingName,
    /// The end of an end tag.
    ClosingEnd,
    /// The rest of the name of an element.
    Name,
    /// An attribute, or the end of the tag.
    Tag,
    /// After a value: a blank, or the end of the tag.
    Valued,
    /// After the `/` of a tag.
    Slash,
    /// The rest of the name of an attribute.
    Attribute,
    /// `=`
    Equals,
    /// A quote.
    Quote,
}

use XmlState::{
    Attribute, Bang, Closing, ClosingEnd, ClosingName, Comment, CommentEnd, Dash, Data, DataEnd,
    Double, Equals, Instruction, InstructionEnd, Less, Name, Outside, Quote, Section, Single,
    Slash, Tag, Text, Valued,
};

/// Actions: the numbers of `XML_...` in `document.h`.
pub(super) mod action {
    pub(in super::super) const FAIL: u16 = 1;
    pub(in super::super) const CUT: u16 = 2;
    pub(in super::super) const END: u16 = 3;
    pub(in super::super) const OPEN: u16 = 4;
    pub(in super::super) const LETTER: u16 = 5;
    pub(in super::super) const OPENED: u16 = 6;
    pub(in super::super) const ATTRIBUTE: u16 = 7;
    pub(in super::super) const VALUE: u16 = 8;
    pub(in super::super) const VALUE_END: u16 = 9;
    pub(in super::super) const EMPTY: u16 = 10;
    pub(in super::super) const CLOSING: u16 = 11;
    pub(in super::super) const CLOSE: u16 = 12;
    pub(in super::super) const SECTION: u16 = 13;
    pub(in super::super) const BACK: u16 = 14;
}

const STATES: [XmlState; 31] = [
    Text,
    Double,
    Single,
    Comment,
    Instruction,
    Data,
    Outside,
    Less,
    Bang,
    Dash,
    Section("CDATA["),
    Section("DATA["),
    Section("ATA["),
    Section("TA["),
    Section("A["),
    Section("["),
    CommentEnd(1),
    CommentEnd(2),
    InstructionEnd,
    DataEnd(1),
    DataEnd(2),
    Closing,
    ClosingName,
    ClosingEnd,
    Name,
    Tag,
    Valued,
    Slash,
    Attribute,
    Equals,
    Quote,
];

/// Builds the automaton.
pub(super) fn automaton() -> Table {
    table(&STATES, step, passed_up_to)
}

/// Returns the byte, besides `<`, up to which the state passes over others; 0 if it passes over none.
fn passed_up_to(state: XmlState) -> u8 {
    match state {
        Text => b'<',
        Double => b'"',
        Single => b'\'',
        Comment => b'-',
        Instruction => b'?',
        Data => b']',
        _ => 0,
    }
}

fn begins_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'_' | b':' | 0x80..)
}

fn is_of_name(byte: u8) -> bool {
    begins_name(byte) || byte.is_ascii_digit() || matches!(byte, b'-' | b'.')
}

fn step(state: XmlState, byte: Option<u8>) -> DocumentTransition<XmlState> {
    let fail = DocumentTransition::with(action::FAIL, state);
    let Some(byte) = byte else {
        return match state {
            Outside => DocumentTransition::with(action::END, state),
            _ => DocumentTransition::with(action::CUT, state),
        };
    };
    let is_blank = matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    match (state, byte) {
        (Text | Outside, b'<') => DocumentTransition::to(Less),
        (Text, _) => DocumentTransition::to(Text),
        (Outside, _) if is_blank => DocumentTransition::to(Outside),

        (Less, b'/') => DocumentTransition::to(Closing),
        (Less, b'?') => DocumentTransition::to(Instruction),
        (Less, b'!') => DocumentTransition::to(Bang),
        (Less, _) if begins_name(byte) => DocumentTransition::with(action::OPEN, Name),
        (Bang, b'-') => DocumentTransition::to(Dash),
        (Bang, b'[') => DocumentTransition::with(action::SECTION, Section("CDATA[")),
        (Dash, b'-') => DocumentTransition::to(Comment),
        (Section(rest), _) if rest.bytes().next() == Some(byte) => match &rest[1..] {
            "" => DocumentTransition::to(Data),
            rest => DocumentTransition::to(Section(rest)),
        },

        (Comment, b'-') => DocumentTransition::to(CommentEnd(1)),
        (CommentEnd(_), b'-') => DocumentTransition::to(CommentEnd(2)),
        (CommentEnd(2), b'>') | (InstructionEnd, b'>') | (DataEnd(2), b'>') => {
            DocumentTransition::with(action::BACK, Text)
        }
        (Comment | CommentEnd(_), _) => DocumentTransition::to(Comment),
        (Instruction | InstructionEnd, b'?') => DocumentTransition::to(InstructionEnd),
        (Instruction | InstructionEnd, _) => DocumentTransition::to(Instruction),
        (Data, b']') => DocumentTransition::to(DataEnd(1)),
        (DataEnd(_), b']') => DocumentTransition::to(DataEnd(2)),
        (Data | DataEnd(_), _) => DocumentTransition::to(Data),

        (Closing, _) if begins_name(byte) => DocumentTransition::with(action::CLOSING, ClosingName),
        (ClosingName, _) if is_of_name(byte) => DocumentTransition::to(ClosingName),
        (ClosingName, b'>') => DocumentTransition::with(action::CLOSE, Text).behind(),
        (ClosingName, _) if is_blank => DocumentTransition::to(ClosingEnd).behind(),
        (ClosingEnd, b'>') => DocumentTransition::with(action::CLOSE, Text),
        (ClosingEnd, _) if is_blank => DocumentTransition::to(ClosingEnd),

        (Name, _) if is_of_name(byte) => DocumentTransition::with(action::LETTER, Name),
        (Name, b'>') => DocumentTransition::with(action::OPENED, Text),
        (Name, b'/') => DocumentTransition::with(action::OPENED, Slash),
        (Name, _) if is_blank => DocumentTransition::with(action::OPENED, Tag),
        (Tag | Valued, b'>') => DocumentTransition::to(Text),
        (Tag | Valued, b'/') => DocumentTransition::to(Slash),
        (Tag | Valued, _) if is_blank => DocumentTransition::to(Tag),
        (Tag, _) if begins_name(byte) => DocumentTransition::with(action::ATTRIBUTE, Attribute),
        (Slash, b'>') => DocumentTransition::with(action::EMPTY, Text),

        (Attribute, _) if is_of_name(byte) => DocumentTransition::with(action::LETTER, Attribute),
        (Attribute, b'=') => DocumentTransition::to(Quote).behind(),
        (Attribute, _) if is_blank => DocumentTransition::to(Equals).behind(),
        (Equals, b'=') => DocumentTransition::to(Quote),
        (Equals | Quote, _) if is_blank => DocumentTransition::to(state),
        (Quote, b'"') => DocumentTransition::with(action::VALUE, Double),
        (Quote, b'\'') => DocumentTransition::with(action::VALUE, Single),
        (Double, b'"') | (Single, b'\'') => DocumentTransition::with(action::VALUE_END, Valued),
        (Double | Single, b'<') => fail,
        (Double | Single, _) => DocumentTransition::to(state),
        _ => fail,
    }
}
