//! Times on the command line.

use std::time::Duration;

/// Parses a time: a number with `ms`, `s`, `m` or `h`, from a millisecond to a year.
pub(crate) fn time(text: &str) -> Result<Duration, String> {
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let milliseconds = match unit {
        "ms" => 1.0,
        "s" => 1e3,
        "m" => 60e3,
        "h" => 3600e3,
        _ => 0.0,
    };
    let number = text[..text.len() - unit.len()].parse::<f64>().ok();
    number
        .map(|number| number * milliseconds)
        .filter(|time| (1.0..=31_536_000e3).contains(time))
        .map(|time| Duration::from_secs_f64(time / 1e3))
        .ok_or_else(|| {
            "write a number and ms, s, m or h, such as 500ms or 10s, up to a year".into()
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_unit() {
        for (text, milliseconds) in [
            ("1ms", 1),
            ("0.5s", 500),
            ("10s", 10_000),
            ("5m", 300_000),
            ("2h", 7_200_000),
        ] {
            assert_eq!(time(text), Ok(Duration::from_millis(milliseconds)));
        }
        for text in [
            "", "1", "s", "-1s", "0s", "0.5ms", "1d", "1e3s", "9000h", "1 s", "inf s",
        ] {
            assert!(time(text).is_err(), "{text}");
        }
    }
}
