//! `v1model`: a line in the log.
//!
//! ```p4
//! extern void log_msg(string msg);
//! extern void log_msg<T>(string msg, in T data);
//! ```
//!
//! Every `{}` is the next value in decimal; one without a value stays as it is written.

use crate::call::{Arg, Effect, Env, Fault, Reply};
use crate::{Extern, Meaning};
use ir::Bits;

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

/// A message with its values.
pub fn format(message: &str, data: &[Bits]) -> String {
    let mut values = data.iter();
    let mut pieces = message.split("{}");
    let mut line = String::from(pieces.next().unwrap_or(""));
    for piece in pieces {
        match values.next() {
            Some(value) => line += &value.value().to_string(),
            None => line += "{}",
        }
        line += piece;
    }
    line
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
    }
}
