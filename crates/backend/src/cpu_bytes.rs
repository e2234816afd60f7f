//! Compiled programs of the CPU as bytes, for the cache on disk.

use pullback_base::{DType, Result, Scalar, bail};
use pullback_compile::Output;
use pullback_ir::JaxprRef;
use pullback_runtime::Restart;

use crate::cpu::CpuCode;

/// Tags of outputs.
const PROGRAM: u64 = 0;
const INPUT: u64 = 1;
const LITERAL: u64 = 2;

/// The next number of what is left.
fn number(from: &mut &[u8]) -> Result<u64> {
    let Some((bytes, rest)) = from.split_first_chunk::<8>() else { bail!(Value, "the kept program is cut short") };
    *from = rest;
    Ok(u64::from_le_bytes(*bytes))
}

/// As many numbers as the first says.
fn numbers(from: &mut &[u8]) -> Result<Vec<u64>> {
    let n = number(from)?;
    if n > from.len() as u64 / 8 {
        bail!(Value, "the kept program is cut short");
    }
    (0..n).map(|_| number(from)).collect()
}

impl CpuCode {
    /// The code as bytes; `None` for what is not kept.
    pub(crate) fn to_bytes(&self) -> Option<Vec<u8>> {
        let native = self.native.as_ref()?.to_bytes()?;
        let mut outputs = vec![];
        for output in &self.outputs {
            match output {
                Output::Program(at) => outputs.extend([PROGRAM, *at as u64, 0, 0]),
                Output::Input(at) => outputs.extend([INPUT, *at as u64, 0, 0]),
                Output::Literal(scalar) => {
                    let dtype = DType::ALL.iter().position(|dtype| *dtype == scalar.dtype())? as u64;
                    outputs.extend([LITERAL, dtype, scalar.to_bits() as u64, (scalar.to_bits() >> 64) as u64]);
                }
                Output::Const(_) => return None,
            }
        }
        let filled = self.filled.iter().flat_map(|&(size, from)| [size as u64, from.map_or(u64::MAX, |at| at as u64)]);
        let taken = self.is_taken.iter().map(|&taken| u64::from(taken));
        let lists = [outputs, filled.collect(), taken.collect()];
        let head = lists.iter().flat_map(|list| std::iter::once(list.len() as u64).chain(list.iter().copied()));
        Some(head.flat_map(u64::to_le_bytes).chain(native).collect())
    }

    /// The code of bytes that [`CpuCode::to_bytes`] gave for the same jaxpr.
    ///
    /// # Errors
    /// When the bytes are not of this format, or do not fit the jaxpr.
    pub(crate) fn from_bytes(mut bytes: &[u8], jaxpr: &JaxprRef) -> Result<CpuCode> {
        let from = &mut bytes;
        let (outputs, filled, taken) = (numbers(from)?, numbers(from)?, numbers(from)?);
        let outputs = outputs.chunks(4).map(output).collect::<Result<Vec<_>>>()?;
        let place = |at: u64| usize::try_from(at).ok().filter(|&at| at < jaxpr.invars.len());
        let filled: Vec<(usize, Option<usize>)> =
            filled.chunks_exact(2).map(|pair| (pair[0] as usize, place(pair[1]))).collect();
        let native = pullback_codegen::Executable::from_bytes(from)?;
        let out_avals = jaxpr.out_avals();
        let fits = |(output, aval): (&Output, &pullback_base::Aval)| match output {
            Output::Program(at) => filled.get(*at).is_some_and(|(size, _)| *size == aval.size_bytes()),
            Output::Input(at) => *at < jaxpr.invars.len(),
            Output::Const(_) | Output::Literal(_) => true,
        };
        let all_fit = outputs.iter().zip(&out_avals).all(fits);
        if outputs.len() != out_avals.len() || taken.len() != jaxpr.invars.len() || !all_fit {
            bail!(Value, "the kept program is of another jaxpr");
        }
        let is_taken = taken.into_iter().map(|taken| taken != 0).collect();
        Ok(CpuCode { native: Some(native), outputs, out_avals, filled, is_taken, restart: Restart::Yes })
    }
}

fn output(words: &[u64]) -> Result<Output> {
    match *words {
        [PROGRAM, at, _, _] => Ok(Output::Program(at as usize)),
        [INPUT, at, _, _] => Ok(Output::Input(at as usize)),
        [LITERAL, dtype, low, high] if (dtype as usize) < DType::ALL.len() => {
            let bits = u128::from(low) | u128::from(high) << 64;
            Ok(Output::Literal(Scalar::from_bits(DType::ALL[dtype as usize], bits)))
        }
        _ => bail!(Value, "the kept program has an output that is not known"),
    }
}
