//! Messages that may have no body, in P4: another one may stand in its place.

use std::fmt::Write;

/// The attribute of messages that may have no body.
pub(super) struct Bodiless<'s> {
    /// Its name.
    pub attribute: &'s str,
    /// Its width.
    pub bits: u32,
    /// The numbers that it has in those without a body.
    pub values: &'s [u64],
}

impl Bodiless<'_> {
    /// Reads whether a message has none, and whether it may have none.
    pub(super) fn read(&self, pad: &str, out: &mut String) {
        let Bodiless {
            attribute,
            bits,
            values,
        } = self;
        let values: Vec<String> = values
            .iter()
            .map(|value| format!("bodiless == {value}"))
            .collect();
        let values = values.join(" || ");
        let _ = writeln!(
            out,
            "{pad}bit<{bits}> bodiless;
{pad}bool has_bodiless = messages.get_number(\"{attribute}\", bodiless);
{pad}bool is_empty = has_bodiless && ({values});"
        );
    }

    /// Looks whether another such message begins at an offset: `is_message`; `is_short` is whether there are too few bytes to tell. In front of them are
    /// those that were kept, if some were: their ticket, and how many they are. An answer to HEAD announces a body, and has none.
    pub(super) fn look(&self, pad: &str, kept: Option<[&str; 2]>, at: &str, out: &mut String) {
        let Bodiless {
            attribute, bits, ..
        } = self;
        let (ticket, most, seen) = match kept {
            None => ("0", "LOOKED_AT".to_owned(), "looked_at".to_owned()),
            Some([ticket, kept]) => (
                ticket,
                format!("LOOKED_AT - {kept}"),
                format!("{kept} + looked_at"),
            ),
        };
        let _ = writeln!(
            out,
            "{pad}// An answer to HEAD announces a body, and has none.
{pad}bit<32> looked_at = end - {at} > {most} ? {most} : end - {at};
{pad}message_status there = messages.read_behind({ticket}, {at}, looked_at);
{pad}bit<{bits}> number_there;
{pad}bit<1> is_message = (bit<1>)messages.get_number(\"{attribute}\", number_there);
{pad}bit<16> is_cut_there = SHORT >> (bit<8>)there;
{pad}// What is less than something else, the sign of their difference tells without a branch.
{pad}bit<1> is_short = ~is_message & is_cut_there[0:0] & ({seen} - LOOKED_AT)[31:31];"
        );
    }
}
