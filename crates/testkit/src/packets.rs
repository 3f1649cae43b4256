//! Random packets that a program's parser understands. They come from random walks through its states, which write the
//! values that selects test for. Some are mutated afterwards.

use ir::{
    Bits, Expr, ExprKind, HeaderRef, Keyset, Program, SelectCase, State, Stmt, StmtKind,
    Transition, TransitionTarget, Type, visit,
};
use rand::Rng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use std::collections::HashMap;

/// Length of the shortest packet that the kernel takes in a test run, in bytes.
const SHORTEST: usize = 14;
/// Greatest number of states in a walk; a parser may loop.
const LONGEST_WALK: usize = 48;

/// Greatest number of the interpreter's steps for a packet. It is small, so that a program that does not end costs
/// little.
pub const STEPS: u64 = 100_000;

/// Returns the number of packets to run for a program of the repository: `ONPATH_TEST_PACKETS`, or 60.
pub fn count() -> usize {
    let set = std::env::var("ONPATH_TEST_PACKETS").ok();
    set.map_or(60, |text| text.parse().expect("a number of packets"))
}

/// Generator of packets for a program.
pub struct Packets<'p> {
    program: &'p Program,
    /// Values that occur in the program or its entries, by width.
    named: HashMap<u32, Vec<Bits>>,
}

/// Range of a field in the packet: first bit, width.
type BitRange = (usize, usize);

impl<'p> Packets<'p> {
    /// Makes a generator for a program whose tables have these values in their keys.
    pub fn new(program: &'p Program, keys: &[Bits]) -> Packets<'p> {
        let mut named: HashMap<u32, Vec<Bits>> = HashMap::new();
        let constants = program.exprs.values().filter_map(|e| match &e.kind {
            ExprKind::Const(value) => Some(value),
            _ => None,
        });
        let states = program.parsers.values().flat_map(|p| p.states.values());
        let selects = states.filter_map(|state| match &state.transition {
            Transition::Select { cases, .. } => Some(cases),
            Transition::To(_) => None,
        });
        let keysets = selects.flatten().flat_map(|case| &case.keysets);
        let asked = keysets.filter_map(|keyset| match keyset {
            Keyset::Value(value) | Keyset::Mask(value, _) => Some(value),
            _ => None,
        });
        for value in constants.chain(keys).chain(asked) {
            named.entry(value.width()).or_default().push(value.clone());
        }
        Packets { program, named }
    }

    /// Returns the next packet.
    pub fn packet(&self, random: &mut ChaCha8Rng) -> Vec<u8> {
        let mut walk = Walk {
            packets: self,
            random,
            bits: Vec::new(),
            headers: HashMap::new(),
        };
        walk.run();
        let bits = walk.bits;
        let mut bytes: Vec<u8> = bits
            .chunks(8)
            .map(|byte| {
                byte.iter()
                    .enumerate()
                    .fold(0, |sum, (i, &bit)| sum | u8::from(bit) << (7 - i))
            })
            .collect();
        let more = match random.random_range(0..8) {
            0 => 400,
            _ => 48,
        };
        let length = bytes.len() + random.random_range(0..more);
        while bytes.len() < length {
            self.more(&mut bytes, random);
        }
        if random.random_range(0..4) == 0 {
            mutate(&mut bytes, random);
        }
        while bytes.len() < SHORTEST {
            bytes.push(random.random());
        }
        bytes
    }

    /// Appends a byte, or a value that occurs in the program, or the beginning of one.
    fn more(&self, bytes: &mut Vec<u8>, random: &mut ChaCha8Rng) {
        let mut widths: Vec<u32> = self.named.keys().copied().filter(|&w| w >= 8).collect();
        widths.sort_unstable();
        let named = widths
            .choose(random)
            .and_then(|w| self.named[w].choose(random));
        match (random.random_range(0..4), named) {
            (0, Some(value)) => {
                let all = value.to_bytes();
                let part = random.random_range(0..2 * all.len()).clamp(1, all.len());
                bytes.extend(&all[..part]);
            }
            _ => bytes.push(random.random()),
        }
    }

    fn value(&self, ty: Type, random: &mut ChaCha8Rng) -> Bits {
        let width = ty.width();
        let named = self.named.get(&width).and_then(|all| all.choose(random));
        match (random.random_range(0..10), named) {
            (0..5, Some(value)) => value.clone(),
            (5, _) => Bits::zero(width),
            (6, _) => Bits::ones(width),
            (7, _) => Bits::new(width, random.random_range(0..4u32)),
            _ => {
                let bytes: Vec<u8> = (0..width.div_ceil(8)).map(|_| random.random()).collect();
                Bits::from_bytes(width, &bytes)
            }
        }
    }
}

/// Flips bits, replaces bytes, truncates, or repeats the end.
fn mutate(bytes: &mut Vec<u8>, random: &mut ChaCha8Rng) {
    for _ in 0..random.random_range(1..4) {
        if bytes.is_empty() {
            return;
        }
        let at = random.random_range(0..bytes.len());
        match random.random_range(0..4) {
            0 => bytes[at] ^= 1 << random.random_range(0..8),
            1 => bytes[at] = random.random(),
            2 => bytes.truncate(at.max(SHORTEST)),
            _ => {
                let again = bytes[at..].to_vec();
                bytes.extend(again);
                bytes.truncate(512);
            }
        }
    }
}

/// Random walk through the parser.
struct Walk<'a, 'p> {
    packets: &'a Packets<'p>,
    random: &'a mut ChaCha8Rng,
    bits: Vec<bool>,
    /// Offset in bits of each header, and of the last extracted element of each stack.
    headers: HashMap<Instance, usize>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Instance {
    Header(ir::Header),
    Stack(ir::Stack),
}

fn instance(header: HeaderRef) -> Instance {
    match header {
        HeaderRef::Header(header) => Instance::Header(header),
        HeaderRef::Element(stack, _) => Instance::Stack(stack),
    }
}

impl Walk<'_, '_> {
    fn run(&mut self) {
        let program = self.packets.program;
        let Some(parser) = program.parser_block(arch::PARSER) else {
            return;
        };
        let parser = &program.parsers[parser];
        let mut at: State = parser.start;
        for _ in 0..LONGEST_WALK {
            let state = &parser.states[at];
            self.statements(&state.body);
            let target = match &state.transition {
                Transition::To(target) => *target,
                Transition::Select { keys, cases } => match cases.choose(self.random) {
                    Some(case) => {
                        self.steer(keys, case);
                        case.target
                    }
                    None => return,
                },
            };
            let TransitionTarget::State(next) = target else {
                return;
            };
            at = next;
        }
    }

    fn statements(&mut self, body: &[Stmt]) {
        for stmt in body {
            match &stmt.kind {
                StmtKind::Extract { header, varbit } => self.extract(*header, varbit.is_some()),
                StmtKind::Advance(_) => self.fill(8),
                StmtKind::If {
                    then, otherwise, ..
                } => {
                    let block = if self.random.random() {
                        then
                    } else {
                        otherwise
                    };
                    self.statements(block);
                }
                StmtKind::Labeled(_, block) | StmtKind::Loop(_, block) => self.statements(block),
                kind => visit::in_place(kind)
                    .into_iter()
                    .for_each(|block| self.statements(block)),
            }
        }
    }

    fn layout(&self, header: HeaderRef) -> &ir::HeaderTypeData {
        let program = self.packets.program;
        let header = match header {
            HeaderRef::Header(header) => header,
            HeaderRef::Element(stack, _) => program.stacks[stack].elems[0],
        };
        &program.header_types[program.headers[header].ty]
    }

    fn extract(&mut self, header: HeaderRef, varbit: bool) {
        let from = self.bits.len();
        self.headers.insert(instance(header), from);
        let fields: Vec<Type> = self.layout(header).fields.iter().map(|f| f.ty).collect();
        for ty in &fields {
            if matches!(ty, Type::Varbit(_)) {
                if varbit {
                    let words = self.random.random_range(0..4);
                    self.fill(words * 32);
                }
            } else {
                let value = self.packets.value(*ty, self.random);
                self.append(&value);
            }
        }
        let nibbles = fields.iter().take(2).all(|ty| ty.width() == 4);
        if nibbles && self.layout(header).fixed_width() == 160 && self.random.random_range(0..4) > 0
        {
            self.make_ipv4(from);
        }
    }

    /// Makes a header of two nibbles and 20 bytes in all a valid IPv4 header: version, length, checksum.
    fn make_ipv4(&mut self, from: usize) {
        self.write((from, 8), &Bits::new(8, 0x45u32));
        self.write((from + 80, 16), &Bits::zero(16));
        let mut sum = 0u32;
        for word in 0..10 {
            let bits = &self.bits[from + word * 16..from + word * 16 + 16];
            sum += bits
                .iter()
                .fold(0, |value, &bit| value << 1 | u32::from(bit));
        }
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        self.write((from + 80, 16), &Bits::new(16, !sum & 0xffff));
    }

    fn fill(&mut self, bits: usize) {
        for _ in 0..bits {
            let bit = self.random.random();
            self.bits.push(bit);
        }
    }

    fn append(&mut self, value: &Bits) {
        let range = (self.bits.len(), value.width() as usize);
        self.bits.resize(range.0 + range.1, false);
        self.write(range, value);
    }

    fn write(&mut self, (from, width): BitRange, value: &Bits) {
        for bit in 0..width {
            if let Some(target) = self.bits.get_mut(from + width - 1 - bit) {
                *target = value.value().bit(bit as u64);
            }
        }
    }

    /// Writes values that a case selects into the packet, for keys that were read from it.
    fn steer(&mut self, keys: &[Expr], case: &SelectCase) {
        for (key, keyset) in keys.iter().zip(&case.keysets) {
            let Some(range) = self.range(*key) else {
                continue;
            };
            match keyset {
                Keyset::Value(value) => self.write(range, value),
                Keyset::Mask(value, mask) => {
                    let noise = self.packets.value(Type::bit(value.width()), self.random);
                    let kept = noise.value() & Bits::new(mask.width(), !low_mask(mask)).value();
                    self.write(
                        range,
                        &Bits::new(value.width(), value.value() & mask.value() | kept),
                    );
                }
                Keyset::Range(low, high) => {
                    let end = if self.random.random() { low } else { high };
                    self.write(range, end);
                }
                Keyset::Any => {}
                // It covers as many keys as it has fields, so the positions of later keys are unknown.
                Keyset::ValueSet(_) => return,
            }
        }
    }

    /// Returns the position of a key's bits in the packet, if it is a field or a slice of one.
    fn range(&self, key: Expr) -> Option<BitRange> {
        let data = &self.packets.program.exprs[key];
        match &data.kind {
            ExprKind::Field(header, index) => {
                let from = *self.headers.get(&instance(*header))?;
                let fields = &self.layout(*header).fields;
                let before: u32 = fields[..*index as usize].iter().map(|f| f.ty.width()).sum();
                Some((
                    from + before as usize,
                    fields[*index as usize].ty.width() as usize,
                ))
            }
            ExprKind::Slice { base, hi, lo } => {
                let (from, width) = self.range(*base)?;
                Some((from + width - 1 - *hi as usize, (hi - lo + 1) as usize))
            }
            ExprKind::Cast(inner) => {
                let (from, width) = self.range(*inner)?;
                let kept = width.min(data.ty.width() as usize);
                Some((from + width - kept, kept))
            }
            _ => None,
        }
    }
}

/// The mask's low 64 bits; wider keysets get no noise.
fn low_mask(mask: &Bits) -> u64 {
    mask.to_u64().unwrap_or(u64::MAX)
}
