//! `v1model`: a line in the log.
//!
//! ```p4
//! extern void log_msg(string msg);
//! extern void log_msg<T>(string msg, in T data);
//! ```
//!
//! Every `{}` is the next value in decimal; one without a value stays as it is written. For a value whose declaration
//! has a `@format`, elaboration makes it `{:FORMAT}`.

use crate::call::{Arg, Effect, Env, Fault, Reply};
use crate::{Extern, Meaning};
use ir::Bits;
use schema::Format;

/// `log_msg`
pub(crate) const EXTERN: Extern = Extern {
    name: "log_msg",
    meaning: Meaning::Function(log),
};

fn log(args: &[Arg], env: &mut Env<'_>) -> Result<Reply, Fault> {
    let Some(Arg::String(message)) = args.first() else {
        return Err(Fault::Malformed);
    };
    let data = match args.get(1) {
        Some(Arg::Values(values)) => values.as_slice(),
        _ => &[],
    };
    env.effects.push(Effect::Log(format(message, data)));
    Ok(Reply::none())
}

/// Formats a message with its values.
pub fn format(message: &str, data: &[Bits]) -> String {
    let mut values = data.iter();
    each_place(message, |place, format| match values.next() {
        Some(value) => {
            let format = Format::named(format, value.width());
            let shown = format.and_then(|format| format.show(value));
            shown.unwrap_or_else(|| value.value().to_string())
        }
        None => place.to_owned(),
    })
}

/// Returns a message as the program has it.
pub fn as_written(message: &str) -> String {
    each_place(message, |_, _| "{}".to_owned())
}

/// Replaces every `{}` and `{:FORMAT}` by the result of `shown`, which gets the placeholder and the format's name.
fn each_place(message: &str, mut shown: impl FnMut(&str, &str) -> String) -> String {
    let mut line = String::new();
    let mut rest = message;
    while let Some(at) = rest.find('{') {
        let (before, from) = rest.split_at(at);
        line += before;
        let inside = from[1..].split_once('}').map(|(inside, _)| inside);
        let format = inside.filter(|inside| inside.is_empty() || is_format(inside));
        let length = format.map_or(1, |format| format.len() + 2);
        let (place, after) = from.split_at(length);
        line += &match format {
            Some(format) => shown(place, format.trim_start_matches(':')),
            None => place.to_owned(),
        };
        rest = after;
    }
    line + rest
}

/// Tests for `:IPV4_ADDRESS` and the like, which elaboration wrote, unlike other text in braces.
fn is_format(inside: &str) -> bool {
    let name = inside.strip_prefix(':');
    name.is_some_and(|name| {
        [32, 48, 128]
            .iter()
            .any(|&width| Format::named(name, width).is_some())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_take_the_values_in_order() {
        let data = [Bits::new(8, 7u32), Bits::new(64, u64::MAX)];
        assert_eq!(format("a {} b {}", &data), "a 7 b 18446744073709551615");
        assert_eq!(format("{}{}{}", &data[..1]), "7{}{}");
        assert_eq!(format("plain", &data), "plain");
        assert_eq!(format("{a} {{}} {", &data), "{a} {7} {");
    }

    #[test]
    fn a_value_is_shown_as_its_declaration_says() {
        let text = "{:IPV4_ADDRESS} sent {} bytes at {:HEX_STRING}";
        let data = [(32, 0x0a00_0001u32), (16, 64), (16, 80)];
        let data = data.map(|(width, value)| Bits::new(width, value));
        assert_eq!(format(text, &data), "10.0.0.1 sent 64 bytes at 0x50");
        assert_eq!(
            format(text, &data[..1]),
            "10.0.0.1 sent {} bytes at {:HEX_STRING}"
        );
        assert_eq!(as_written(text), "{} sent {} bytes at {}");
        assert_eq!(
            format("{:IPV4_ADDRESS}", &data[1..2]),
            "64",
            "of another width"
        );
    }
}
