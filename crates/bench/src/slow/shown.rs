//! Payloads as text, with repetitions abbreviated.

/// Returns a short description of a payload, such as `"GET /?" + 1423 × "\r"`.
pub(super) fn shown(payload: &[u8]) -> String {
    let mut parts = Vec::new();
    let mut at = 0;
    let mut plain = 0;
    while at < payload.len() {
        match repeated(&payload[at..]) {
            Some((piece, times)) => {
                if plain < at {
                    parts.push(text(&payload[plain..at]));
                }
                parts.push(format!("{times} × {}", text(piece)));
                at += piece.len() * times;
                plain = at;
            }
            None => at += 1,
        }
    }
    if plain < payload.len() {
        parts.push(text(&payload[plain..]));
    }
    const MOST: usize = 6;
    let more = parts.len().saturating_sub(MOST);
    parts.truncate(MOST);
    let rest = if more > 0 {
        format!(" + {more} parts more")
    } else {
        String::new()
    };
    parts.join(" + ") + &rest
}

/// Returns the piece that a payload begins with several times, and the number of times. Of several such pieces, the one
/// that covers most wins.
fn repeated(payload: &[u8]) -> Option<(&[u8], usize)> {
    let candidates = (1..=16).filter_map(|size| {
        let piece = payload.get(..size)?;
        let times = payload
            .chunks_exact(size)
            .take_while(|c| *c == piece)
            .count();
        (times > 3 && size * times > 24).then_some((piece, times))
    });
    candidates.max_by_key(|(piece, times)| (piece.len() * times, usize::MAX - piece.len()))
}

/// Returns bytes between quotes; of many, only the first ones.
fn text(bytes: &[u8]) -> String {
    const MOST: usize = 32;
    let shown = bytes[..bytes.len().min(MOST)].escape_ascii();
    match bytes.len() {
        0..=MOST => format!("\"{shown}\""),
        all => format!("\"{shown}…\" ({all} bytes)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_repeated_stands_once() {
        let payload = [b"GET /?".to_vec(), b"a&".repeat(100), b" x".to_vec()].concat();
        assert_eq!(shown(&payload), r#""GET /?" + 100 × "a&" + " x""#);
        assert_eq!(shown(&[13; 1423]), r#"1423 × "\r""#);
        assert_eq!(shown(b"abc"), r#""abc""#);
    }
}
