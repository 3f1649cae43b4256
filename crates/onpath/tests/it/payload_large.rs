//! Comparison of interpreter and kernel on payloads of up to 64 KB, which span several buffers: at XDP by test runs
//! and between devices, at traffic control between devices. Needs root.

use bpf::ParseRecord;
use bpf::abi::Hook;
use control::repeatable::SEED;
use diag::render_plain;
use driver::Input;
use driver::bpf_target::Reach;
use driver::stf::{Case, Prepared, StfTarget, TestResult};
use kernel::features::Kernel;
use payload::Pattern;
use std::fmt::Write;

/// Size of the headers before the payload, in bytes. The answer after the Ethernet header is as long as the question.
const FRONT: usize = 14 + 22;
/// Largest packet of a device, in bytes: an Ethernet header and an MTU of 65,535 bytes.
pub(crate) const LONGEST: usize = 14 + 65_535;
/// Last byte of a packet at which reading may begin.
pub(crate) const LAST_BEGIN: usize = 0xffff;
/// Number of bytes in which a value is searched.
const REACH: usize = 1 << 16;
/// Number of bytes that are copied to memory at once.
const AT_ONCE: usize = 16 << 10;
/// End of the bytes of a packet that are searched.
const END: usize = LAST_BEGIN + AT_ONCE;

const NEEDLE: &[u8] = b"needle";
const SENTENCE: &[u8; 64] = b"The quick brown fox jumps over the lazy dog and comes home again";
const PATTERN: &str = "[0-9]{3}-[0-9]{4}$|^zz+$";

/// A packet, with the offset and the length that its question is about.
struct Question {
    offset: u32,
    length: u32,
    payload: Vec<u8>,
}

impl Question {
    fn packet(&self) -> Vec<u8> {
        let mut packet = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x12, 0x34];
        packet.extend(self.offset.to_be_bytes());
        packet.extend(self.length.to_be_bytes());
        packet.resize(FRONT, 0);
        packet.extend(&self.payload);
        packet
    }

    /// Returns the expected first bytes of the packet that comes back.
    fn answer(&self, pattern: &Pattern) -> Vec<u8> {
        let (offset, packet) = (self.offset as usize, self.packet());
        let from = FRONT + offset;
        let rest = packet.get(from..).filter(|_| from <= LAST_BEGIN);
        let rest = rest.unwrap_or_default();
        let near = END.saturating_sub(from).min(REACH);
        let seen = &rest[..rest.len().min(near)];
        let place = |value: &[u8]| {
            let found = seen.windows(value.len()).position(|w| w == value);
            found.map_or(u32::MAX, |at| (offset + at) as u32)
        };
        let mut answer = packet[..14].to_vec();
        answer.extend((self.payload.len() as u32).to_be_bytes());
        answer.push(u8::from(rest.len() >= 4));
        answer.extend(rest.first_chunk::<4>().unwrap_or(&[0; 4]));
        answer.extend(place(NEEDLE).to_be_bytes());
        answer.extend(place(SENTENCE).to_be_bytes());
        let host = rest.get(..5).unwrap_or_default();
        answer.push(u8::from(host.eq_ignore_ascii_case(b"host:")));
        let looked_at = &seen[..seen.len().min(self.length as usize)];
        answer.push(u8::from(pattern.is_in(looked_at)));
        answer.extend([0; 3]);
        answer
    }
}

/// Returns questions about values at the boundaries of the pieces in memory and of buffers, and elsewhere.
fn questions() -> Vec<Question> {
    let mut state = 1u64;
    let mut below = |most: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as usize % most
    };
    let most = LONGEST - FRONT;
    let sizes = [
        0,
        5,
        3_400,
        3_484,
        3_485,
        9_000,
        16_384,
        16_385,
        32_705,
        most - 1,
        most,
    ];
    let mut all = Vec::new();
    for round in 0..60 {
        let size = match sizes.get(round) {
            Some(size) => *size,
            None => below(most + 1),
        };
        let mut payload: Vec<u8> = (0..size).map(|_| b"xyz \0en"[below(7)]).collect();
        let piece = 16_384 - [0, 5, 63][below(3)];
        let offset = match below(5) {
            0 => below(size + 10),
            1 => LAST_BEGIN - FRONT + below(2),
            2 => size.saturating_sub(below(100)),
            _ => below(200).min(size),
        };
        let mut put = |value: &[u8], at: usize| {
            if let Some(place) = payload.get_mut(at..at + value.len()) {
                place.copy_from_slice(value);
            }
        };
        for (value, near) in [(NEEDLE, 70), (&SENTENCE[..], 130)] {
            // A truncated value must not hide a complete one.
            put(&value[..value.len() - 1], below(size + 1));
            let at = match below(4) {
                0 => size.saturating_sub(value.len()),
                1 => below(size + 1),
                _ => offset + (1 + below(4)) * piece + below(near) - near / 2,
            };
            put(value, at);
        }
        if below(2) == 0 {
            put(b"HoSt:", offset);
        }
        let length = match below(3) {
            0 => u32::MAX,
            _ => below(size + 1) as u32,
        };
        let end = (offset + length as usize).min(size);
        match below(3) {
            0 => {}
            _ => put(b"555-1234", end.saturating_sub(8)),
        }
        all.push(Question {
            offset: offset as u32,
            length,
            payload,
        });
    }
    all
}

/// Returns questions about the largest packets, which end in the value that is searched. Their last piece begins
/// after the last byte that XDP can load from.
fn far_questions() -> Vec<Question> {
    let wanted = [(&b"555-1234"[..], 0), (NEEDLE, 5), (&SENTENCE[..], 63)];
    let all = [0, 3, 6].into_iter();
    let all = all.flat_map(|behind| wanted.map(|(value, overlap)| (behind, value, overlap)));
    let question = |(behind, value, overlap): (usize, &[u8], usize)| {
        let from = LAST_BEGIN + 1 + behind - 3 * (AT_ONCE - overlap);
        let mut payload = vec![b'.'; LONGEST - FRONT];
        let at = payload.len() - value.len();
        payload[at..].copy_from_slice(value);
        Question {
            offset: (from - FRONT) as u32,
            length: u32::MAX,
            payload,
        }
    };
    all.map(question).collect()
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[test]
fn payloads_of_64_kilobytes_are_read_alike_wherever_they_lie() {
    let pattern = Pattern::new(PATTERN).expect("an expression");
    let mut text = String::new();
    let (mut answers, mut found) = (Vec::new(), 0);
    for question in questions().into_iter().chain(far_questions()) {
        let answer = question.answer(&pattern);
        let _ = writeln!(text, "packet 0 {}", hex(&question.packet()));
        let _ = writeln!(text, "expect 0 {}", hex(&answer));
        found += usize::from(answer[23..27] != [0xff; 4]);
        answers.push(answer);
    }
    // Values must be found and not found often enough.
    let count = |is: &dyn Fn(&[u8]) -> bool| answers.iter().filter(|a| is(a)).count();
    let sentences = count(&|a| a[27..31] != [0xff; 4]);
    let far = count(&|a| {
        a[27..31] != [0xff; 4] && u32::from_be_bytes(a[27..31].try_into().expect("four")) > 32_768
    });
    let matched = count(&|a| a[32] == 1);
    assert!(
        found > 10 && sentences > 10 && far > 3 && matched > 5,
        "{found} {sentences} {far} {matched}"
    );

    let program = Input::file(testkit::files::root().join("tests/stf/payload/large.p4"));
    let targets = [
        INTERPRETER,
        kernel(Hook::Xdp, Reach::TestRun),
        kernel(Hook::Xdp, Reach::Veth),
        kernel(Hook::TcIngress, Reach::Veth),
    ];
    agree(&program, &text, &targets);
}

pub(crate) const INTERPRETER: StfTarget = StfTarget::Interp {
    seed: SEED,
    direction: arch::tc::Direction::Ingress,
};

/// Returns the kernel's target at a hook.
pub(crate) fn kernel(hook: Hook, reach: Reach) -> StfTarget {
    StfTarget::Kernel {
        hook,
        reach,
        kernel: Kernel::This,
        parse_record: ParseRecord::BySize,
        layout: None,
        outline: None,
    }
}

/// Checks that a program answers these packets as expected on each target.
pub(crate) fn agree(program: &Input, text: &str, targets: &[StfTarget]) {
    let case = Case {
        name: "large".into(),
        text: text.to_owned(),
    };
    for &target in targets {
        let elaborated = driver::elaborate(program).ok().expect("P4");
        let prepared = Prepared::new(elaborated, target, &[]);
        let mut prepared =
            prepared.unwrap_or_else(|u| panic!("{}", render_plain(&u.diagnostics, &u.map)));
        let result = prepared.run(&case, None);
        match &result {
            TestResult::Passed { .. } => {}
            TestResult::Failed { failures, .. } => {
                let first = failures.iter().map(|f| &f[..f.len().min(600)]);
                panic!("{target:?}: {:#?}", first.take(3).collect::<Vec<_>>())
            }
            TestResult::Refused(why) | TestResult::NotLoaded(why) => {
                panic!("{target:?}: {}", render_plain(why, prepared.map(&result)))
            }
        }
    }
}
