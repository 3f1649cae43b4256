//! The payload: the bytes of a packet after the parser (`p4include/payload.p4`).
//!
//! ```p4
//! extern bit<32> payload_length();
//! extern bool payload_read<T>(in bit<32> offset, out T value);
//! extern bool payload_write<T>(in bit<32> offset, in T value);
//! extern void payload_truncate(in bit<32> bytes);
//! extern void packet_unchanged();
//! extern bit<16> payload_sum(in bit<32> bytes);
//! extern bool payload_matches_ignore_case<T>(in bit<32> offset, in T value);
//! extern bit<32> payload_find<T>(in bit<32> offset, in T value);
//! extern bool payload_matches(in bit<32> offset, in bit<32> length, string pattern);
//! extern bit<64> payload_chunks(in bit<32> offset, in bit<32> length, in bit<64> state);
//! ```

use crate::call::{Arg, Effect, Env, Fault, LAST_BEGIN, Reply, index, scalar};
use crate::message::{MOST_BYTES, width};
use crate::{Extern, Meaning};
use ir::Bits;
use payload::{Pattern, chunks as body};

/// Extern function that returns the payload's length.
pub const LENGTH: &str = "payload_length";
/// Extern function that reads bytes.
pub const READ: &str = "payload_read";
/// Extern function that replaces bytes.
pub const WRITE: &str = "payload_write";
/// Extern function that truncates the payload of the packet that leaves.
pub const TRUNCATE: &str = "payload_truncate";
/// Extern function that lets the packet leave as it came in.
pub const UNCHANGED: &str = "packet_unchanged";
/// Extern function that sums the payload.
pub const SUM: &str = "payload_sum";
/// Extern function that compares bytes without case.
pub const MATCHES: &str = "payload_matches_ignore_case";
/// Extern function that searches for bytes.
pub const FIND: &str = "payload_find";
/// Extern function that searches for a regular expression.
pub const PATTERN: &str = "payload_matches";

/// Extern function that passes over a body in chunks.
pub const CHUNKS: &str = "payload_chunks";

/// `payload_length`
pub(crate) const LENGTH_OF: Extern = function(LENGTH, length);
/// `payload_read`
pub(crate) const READING: Extern = function(READ, read);
/// `payload_write`
pub(crate) const WRITING: Extern = function(WRITE, write);
/// `payload_truncate`
pub(crate) const TRUNCATING: Extern = function(TRUNCATE, truncate);
/// `packet_unchanged`
pub(crate) const RESTORING: Extern = function(UNCHANGED, unchanged);
/// `payload_sum`
pub(crate) const SUMMING: Extern = function(SUM, sum);
/// `payload_matches_ignore_case`
pub(crate) const MATCHING: Extern = function(MATCHES, matches);
/// `payload_find`
pub(crate) const FINDING: Extern = function(FIND, find);
/// `payload_matches`
pub(crate) const MATCHING_PATTERN: Extern = function(PATTERN, matches_pattern);

/// `payload_chunks`
pub(crate) const PASSING_CHUNKS: Extern = function(CHUNKS, chunks);

/// Largest number of bytes that are searched from an offset on: the size of the largest payload of IP.
pub const REACH: u32 = 64 << 10;

const NOT_FOUND: u32 = u32::MAX;

const fn function(name: &'static str, does: crate::Function) -> Extern {
    Extern {
        name,
        meaning: Meaning::Function(does),
    }
}

/// Returns the payload from an offset on, which is the first argument.
fn from<'e>(args: &[Arg], env: &'e Env<'_>) -> Result<&'e [u8], Fault> {
    Ok(env.payload_from(index(args, 0)?))
}

/// Returns the bytes from there on that are searched: at most [`REACH`], and none beyond the range that can be read
/// from [`LAST_BEGIN`].
fn searched<'e>(args: &[Arg], env: &'e Env<'_>) -> Result<&'e [u8], Fault> {
    let here = from(args, env)?;
    let begin = env.packet.len() - here.len();
    let end = LAST_BEGIN as usize + MOST_BYTES as usize;
    let near = end.saturating_sub(begin).min(REACH as usize);
    Ok(&here[..here.len().min(near)])
}

fn length(_: &[Arg], env: &mut Env<'_>) -> Result<Reply, Fault> {
    Ok(Reply::value(Bits::new(32, env.payload().len() as u64)))
}

fn read(args: &[Arg], env: &mut Env<'_>) -> Result<Reply, Fault> {
    let width = width(args, 1)?;
    let bytes = from(args, env)?.get(..width as usize / 8);
    let value = bytes.map_or(Bits::new(width, 0u32), |b| Bits::from_bytes(width, b));
    Ok(Reply {
        result: vec![Bits::new(1, u32::from(bytes.is_some()))],
        outs: vec![(1, vec![value])],
    })
}

fn write(args: &[Arg], env: &mut Env<'_>) -> Result<Reply, Fault> {
    let bytes = scalar(args, 1)?.to_bytes();
    let is_there = from(args, env)?.len() >= bytes.len();
    if is_there {
        let at = env.parsed + usize::try_from(index(args, 0)?).unwrap_or(usize::MAX);
        env.effects.push(Effect::Write { at, bytes });
    }
    Ok(Reply::value(Bits::new(1, u32::from(is_there))))
}

fn truncate(args: &[Arg], env: &mut Env<'_>) -> Result<Reply, Fault> {
    env.effects.push(Effect::TruncatePayload(index(args, 0)?));
    Ok(Reply::none())
}

fn unchanged(_: &[Arg], env: &mut Env<'_>) -> Result<Reply, Fault> {
    env.effects.push(Effect::Unchanged);
    Ok(Reply::none())
}

fn sum(args: &[Arg], env: &mut Env<'_>) -> Result<Reply, Fault> {
    let most = usize::try_from(index(args, 0)?).unwrap_or(usize::MAX);
    let payload = env.payload();
    let words = payload[..payload.len().min(most)].chunks(2);
    let word = |word: &[u8]| u64::from(word[0]) << 8 | word.get(1).copied().map_or(0, u64::from);
    let mut sum: u64 = words.map(word).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    Ok(Reply::value(Bits::new(16, sum)))
}

fn matches(args: &[Arg], env: &mut Env<'_>) -> Result<Reply, Fault> {
    let wanted = scalar(args, 1)?.to_bytes();
    let here = from(args, env)?.get(..wanted.len());
    let is_there = here.is_some_and(|here| here.eq_ignore_ascii_case(&wanted));
    Ok(Reply::value(Bits::new(1, u32::from(is_there))))
}

fn find(args: &[Arg], env: &mut Env<'_>) -> Result<Reply, Fault> {
    let wanted = scalar(args, 1)?.to_bytes();
    let here = searched(args, env)?;
    let place = here.windows(wanted.len().max(1)).position(|w| w == wanted);
    let place = place.map_or(u64::from(NOT_FOUND), |at| {
        index(args, 0).unwrap_or(0) + at as u64
    });
    Ok(Reply::value(Bits::new(32, place)))
}

fn matches_pattern(args: &[Arg], env: &mut Env<'_>) -> Result<Reply, Fault> {
    let Some(Arg::String(text)) = args.get(2) else {
        return Err(Fault::Malformed);
    };
    let pattern = Pattern::new(text).map_err(|_| Fault::Malformed)?;
    let length = usize::try_from(index(args, 1)?).unwrap_or(usize::MAX);
    let here = searched(args, env)?;
    let here = &here[..here.len().min(length)];
    Ok(Reply::value(Bits::new(1, u32::from(pattern.is_in(here)))))
}

fn chunks(args: &[Arg], env: &mut Env<'_>) -> Result<Reply, Fault> {
    let length = usize::try_from(index(args, 1)?).unwrap_or(usize::MAX);
    let here = from(args, env)?;
    let begin = env.packet.len() - here.len();
    let here = &here[..here.len().min(length)];
    // After the last byte at which reading may begin, there can only be data.
    let near = (LAST_BEGIN as usize + 1).saturating_sub(begin);
    let (seen, unseen) = here.split_at(here.len().min(near));
    let state = body::pass(seen, index(args, 2)?);
    let state = body::pass_unseen(unseen.len() as u64, state);
    Ok(Reply::value(Bits::new(64, state)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::testing::{arg, with_env};

    const PACKET: &[u8] = b"??Host: A";

    fn of(does: crate::Function, args: &[Arg]) -> Reply {
        let (reply, _) = with_env(PACKET, 2, |env| does(args, env));
        reply.expect("a reply")
    }

    fn text(text: &[u8]) -> Arg {
        Arg::Values(vec![Bits::from_bytes(8 * text.len() as u32, text)])
    }

    #[test]
    fn the_payload_begins_behind_the_parser() {
        assert_eq!(of(length, &[]), Reply::value(Bits::new(32, 7u32)));
        let reply = of(read, &[arg(32, 4), arg(24, 0)]);
        assert_eq!(reply.result, [Bits::new(1, 1u32)]);
        assert_eq!(reply.outs, [(1, vec![Bits::from_bytes(24, b": A")])]);
        let reply = of(read, &[arg(32, 5), arg(24, 0)]);
        assert_eq!(reply.result, [Bits::new(1, 0u32)]);
        assert_eq!(reply.outs, [(1, vec![Bits::new(24, 0u32)])]);
    }

    #[test]
    fn bytes_are_compared_without_case_and_found_with_it() {
        let one = |bit: u32| Reply::value(Bits::new(1, bit));
        assert_eq!(of(matches, &[arg(32, 0), text(b"hOST:")]), one(1));
        assert_eq!(of(matches, &[arg(32, 1), text(b"hOST:")]), one(0));
        assert_eq!(of(matches, &[arg(32, 6), text(b"ab")]), one(0));
        let at = |place: u32| Reply::value(Bits::new(32, place));
        assert_eq!(of(find, &[arg(32, 1), text(b": ")]), at(4));
        assert_eq!(of(find, &[arg(32, 5), text(b": ")]), at(NOT_FOUND));
        assert_eq!(
            of(find, &[arg(32, u64::from(u32::MAX)), text(b"A")]),
            at(NOT_FOUND)
        );
    }

    #[test]
    fn a_search_ends_where_reading_may_no_longer_go() {
        let end = LAST_BEGIN as usize + MOST_BYTES as usize;
        let mut packet = vec![b'.'; end + 10];
        packet[end - 3..].copy_from_slice(b"abcdefghijklm");
        let offset = end as u64 - 60_000;
        let of = |does: crate::Function, args: &[Arg]| {
            let (reply, _) = with_env(&packet, 0, |env| does(args, env));
            reply.expect("a reply")
        };
        let at = |wanted: &[u8]| of(find, &[arg(32, offset), text(wanted)]);
        assert_eq!(at(b"abc"), Reply::value(Bits::new(32, end as u64 - 3)));
        assert_eq!(at(b"bcd"), Reply::value(Bits::new(32, NOT_FOUND)));
        let matched = |pattern: &str| {
            let args = [
                arg(32, offset),
                arg(32, 70_000),
                Arg::String(pattern.into()),
            ];
            of(matches_pattern, &args)
        };
        assert_eq!(matched("abc$"), Reply::value(Bits::new(1, 1u32)));
        assert_eq!(matched("d"), Reply::value(Bits::new(1, 0u32)));
    }

    #[test]
    fn an_expression_is_looked_for_in_as_many_bytes_as_there_are() {
        let is_in = |offset, length, pattern: &str| {
            let args = [
                arg(32, offset),
                arg(32, length),
                Arg::String(pattern.into()),
            ];
            of(matches_pattern, &args)
        };
        let one = |bit: u32| Reply::value(Bits::new(1, bit));
        assert_eq!(is_in(0, 7, "^Host: [A-Z]$"), one(1));
        assert_eq!(is_in(0, 6, "^Host: $"), one(1));
        assert_eq!(is_in(1, 100, "^ost: A$"), one(1));
        assert_eq!(is_in(0, 3, "t"), one(0));
        assert_eq!(is_in(100, 100, "^$"), one(1));
    }
}
