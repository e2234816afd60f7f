//! `float64`: many arguments against a library of the same precision, and against many digits those where the two differ
//! most and as many of the rest as time allows.
//!
//! The library's functions are within a few units, so no error that matters hides where the two agree.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::OnceLock;

use pullback_base::DType;
use pullback_codegen::Executable;

use crate::exact::{Exact, Pair};
use crate::functions::Function;
use crate::inputs::arguments;
use crate::measure::{CHUNK, Found, over_chunks, program};
use crate::truth::distance;

/// How many of the most suspicious arguments are looked at.
const SUSPECTS: usize = 20_000;
/// Arguments that are looked at without suspicion.
const WITHOUT_SUSPICION: u64 = 50_000;

/// An argument with its result, by how far the library's is.
struct Suspect {
    apart: f64,
    at: [f64; 2],
    got: f64,
}

impl PartialEq for Suspect {
    fn eq(&self, other: &Suspect) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Suspect {}

impl PartialOrd for Suspect {
    fn partial_cmp(&self, other: &Suspect) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Suspect {
    fn cmp(&self, other: &Suspect) -> std::cmp::Ordering {
        self.apart.total_cmp(&other.apart)
    }
}

#[derive(Default)]
struct Seen {
    counted: u64,
    chosen: Vec<Suspect>,
    most: BinaryHeap<Reverse<Suspect>>,
}

impl Seen {
    fn suspect(&mut self, suspect: Suspect) {
        if self.most.len() < SUSPECTS {
            self.most.push(Reverse(suspect));
        } else if self.most.peek().is_some_and(|Reverse(least)| least.apart < suspect.apart) {
            self.most.pop();
            self.most.push(Reverse(suspect));
        }
    }
}

pub(crate) struct Checked {
    pub(crate) found: Found,
    /// How many were held against many digits.
    pub(crate) exact: u64,
}

fn run(function: &Function, code: &Executable, points: &[[f64; 2]]) -> Vec<f64> {
    let column = |which: usize| points.iter().flat_map(|point| point[which].to_le_bytes()).collect::<Vec<u8>>();
    let ins: Vec<Vec<u8>> = (0..function.n_ins()).map(column).collect();
    let views: Vec<&[u8]> = ins.iter().map(Vec::as_slice).collect();
    let mut out = vec![0; 8 * CHUNK];
    code.run_on(&[], &views, &mut [&mut out]).expect("it runs");
    out.chunks_exact(8).map(|x| f64::from_le_bytes(x.try_into().expect("eight bytes"))).collect()
}

/// Subnormal arguments count as zero.
fn seen(x: f64) -> f64 {
    if x.is_subnormal() { 0f64.copysign(x) } else { x }
}

/// The distance from a value known to twice the digits, the sign of zero being part of the value.
fn exact_distance(got: f64, Pair { high, low }: Pair) -> f64 {
    let vanishes = high.abs() < f64::MIN_POSITIVE && got == 0.0;
    if vanishes && got.is_sign_negative() != high.is_sign_negative() {
        return f64::INFINITY;
    }
    let rough = distance(DType::F64, got, high);
    if rough == 0.0 && got != high || !rough.is_finite() || high == 0.0 || got.is_nan() || got.is_infinite() {
        return rough;
    }
    ((got - high) - low).abs() / libm::scalbn(1.0, (libm::frexp(high).1 - 53).max(-1074))
}

fn look(function: &Function, exact: &Exact, suspect: &Suspect) -> f64 {
    let near = (function.truth.near)(suspect.at);
    // Where a value has no digits, or is a limit, the library knows it all.
    let is_limit = |x: &f64| !x.is_finite() || function.n_ins() == 2 && *x == 0.0;
    let is_plain = near.is_nan() || near.is_infinite() || near == 0.0 || suspect.at.iter().any(is_limit);
    let pair =
        if is_plain { Pair { high: near, low: 0.0 } } else { Pair::of(&(function.truth.exact)(exact, suspect.at)) };
    exact_distance(suspect.got, pair)
}

fn gather(function: &Function, points: u64) -> Vec<Seen> {
    let code = program(function, DType::F64, None);
    let n_chunks = points.div_ceil(CHUNK as u64);
    let chosen_of_chunk = WITHOUT_SUSPICION.div_ceil(n_chunks) as usize;
    over_chunks(n_chunks, |number, state: &mut Seen| {
        let points = arguments(function, number, CHUNK);
        let got = run(function, &code, &points);
        for (i, (&point, got)) in points.iter().zip(got).enumerate() {
            let at = point.map(seen);
            let apart = distance(DType::F64, got, (function.truth.near)(at));
            let suspect = Suspect { apart, at, got };
            if i % (CHUNK / chosen_of_chunk.min(CHUNK)) == 0 {
                state.chosen.push(suspect);
            } else {
                state.suspect(suspect);
            }
        }
        state.counted += CHUNK as u64;
    })
}

pub(crate) fn measure(function: &Function, points: u64) -> Checked {
    let states = gather(function, points);
    let counted = states.iter().map(|state| state.counted).sum();
    let mut suspects: Vec<Suspect> = vec![];
    for state in states {
        suspects.extend(state.chosen);
        suspects.extend(state.most.into_iter().map(|Reverse(suspect)| suspect));
    }
    let exact = OnceLock::new();
    let exact = exact.get_or_init(Exact::new);
    const BLOCK: usize = 64;
    let found = over_chunks(suspects.len().div_ceil(BLOCK) as u64, |number, found: &mut Found| {
        let first = number as usize * BLOCK;
        for suspect in &suspects[first..(first + BLOCK).min(suspects.len())] {
            found.take(look(function, exact, suspect), suspect.at, function.bounds[1]);
        }
    });
    let found = found.into_iter().fold(Found::default(), Found::join);
    Checked { found: Found { counted, ..found }, exact: suspects.len() as u64 }
}
