//! Inputs that are nearly right.

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

/// Longest input, bytes.
const LENGTH_MAX: usize = 256 << 10;
/// Inputs that break parsers.
const WORDS: [&str; 32] = [
    "0",
    "-1",
    "1e999",
    "-1e-999",
    "nan",
    "inf",
    "18446744073709551615",
    "9223372036854775808",
    "4294967296",
    "0x7fffffffffffffff",
    "1.7976931348623157e308",
    "\"",
    "'",
    "\\",
    "\0",
    "\u{1b}[2J",
    "[",
    "]]",
    "{",
    "}",
    "(",
    "=",
    ",",
    ":",
    "%",
    "\n",
    "\r\n",
    "\u{feff}",
    "9999999999EiB",
    "null",
    "true",
    "ééé",
];

/// A stream of alterations, the same for the same seed.
#[derive(Debug)]
pub(super) struct Alterations {
    random: Xoshiro256PlusPlus,
}

impl Alterations {
    /// From this seed.
    pub(super) fn new(seed: u64) -> Self {
        Self { random: Xoshiro256PlusPlus::seed_from_u64(seed) }
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.random.next_u64() % limit.max(1) as u64) as usize
    }

    /// One of the inputs, altered once or several times.
    pub(super) fn next(&mut self, inputs: &[Vec<u8>]) -> Vec<u8> {
        let which = self.below(inputs.len());
        let mut input = inputs.get(which).cloned().unwrap_or_default();
        for _ in 0..=self.below(6) {
            self.alter(&mut input, inputs);
        }
        input.truncate(LENGTH_MAX);
        input
    }

    fn alter(&mut self, input: &mut Vec<u8>, inputs: &[Vec<u8>]) {
        let at = self.below(input.len() + 1);
        let end = (at + self.below(32)).min(input.len());
        match self.below(10) {
            0 if at < input.len() => input[at] ^= 1_u8 << self.below(8),
            1 if at < input.len() => input[at] = self.random.next_u64() as u8,
            2 => drop(input.drain(at..end)),
            3 => input.truncate(at),
            4 => {
                let word = WORDS[self.below(WORDS.len())];
                let end = end.min(at + self.below(8));
                drop(input.splice(at..end, word.bytes()));
            }
            5 => {
                let piece = input[at..end].to_vec();
                let most = if self.below(50) == 0 { 20_000 } else { 8 };
                let times = 1 + self.below(most);
                drop(input.splice(at..at, piece.repeat(times)));
            }
            6 => {
                let which = self.below(inputs.len());
                let other = inputs.get(which).map_or(&[][..], Vec::as_slice);
                let from = self.below(other.len() + 1);
                let to = (from + self.below(400)).min(other.len());
                drop(input.splice(at..end, other[from..to].iter().copied()));
            }
            7 => self.number(input, at),
            8 => {
                let other = self.below(input.len() + 1);
                let (first, second) = (at.min(other), at.max(other));
                input[first..second].reverse();
            }
            _ => input.insert(at, self.random.next_u64() as u8),
        }
    }

    /// Another number in place of the next one.
    fn number(&mut self, input: &mut Vec<u8>, at: usize) {
        let is_digit = |byte: &u8| byte.is_ascii_digit();
        let Some(start) = input[at..].iter().position(is_digit).map(|p| at + p) else { return };
        let length = input[start..].iter().take_while(|byte| is_digit(byte)).count();
        let number = match self.below(4) {
            0 => self.random.next_u64().to_string(),
            1 => (1_u64 << self.below(64)).to_string(),
            2 => ((1_u128 << self.below(64)) - 1).to_string(),
            _ => self.below(20).to_string(),
        };
        drop(input.splice(start..start + length, number.bytes()));
    }
}
