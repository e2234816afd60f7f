//! The laws of a primitive, checked on its samples.
//!
//! - structure: what every rule makes holds to the laws of jaxprs, and its text parses back to itself;
//! - derivative: the tangent is the central difference, in double width;
//! - transpose: it is the adjoint of the derivative;
//! - batching: it is the loop over slices, at every axis and for 0, 1 and 3 examples;
//! - engines: all engines agree.

use std::sync::Arc;

use pullback_base::{Array, Aval, DType, Error, ErrorKind, Result};
use pullback_core::transforms::{BatchEmit, jvp_jaxpr, transpose_jaxpr};
use pullback_core::{find_primitive, prims};
use pullback_ir::{
    Batch, Builder, Dialect, Emit, JaxprRef, PrimRef, Sample, SampleIn, Val, check_jaxpr, jaxpr_text, parse_jaxpr,
};

use crate::Engine;
use crate::elements::{Rng, element, random, random_with_specials, widened};
use crate::host::{difference, is_close, mismatch, moved, pairing, parts, take};

/// One application of a primitive.
pub struct Case {
    /// The primitive.
    pub prim: PrimRef,
    /// Its params and operands.
    pub sample: Sample,
    /// Number of the sample.
    pub number: usize,
}

/// What a check found: nothing, a hole (something not written, with its error), or failures.
#[derive(Debug, Default)]
pub struct Found {
    /// Laws that do not hold.
    pub failures: Vec<String>,
    /// What is not written, as its error says.
    pub holes: Vec<String>,
}

/// Primitives whose derivative is by convention another than that of what they compute.
const CONVENTIONS: &[(&str, &str)] = &[
    ("stop_gradient", "its purpose is to have no derivative"),
    ("reduce_precision", "rounding counts as the identity, and rounds tangents too"),
    (
        "random_gamma",
        "a sample moves with its parameter at a fixed value of the distribution function, whatever was rejected",
    ),
];

/// Derivatives that the reference refuses, by how the error it raises begins; as good as not written.
const REFUSED: &[&str] = &[
    // Of greatest and least complex numbers: which is chosen cannot be asked.
    "gt does not accept dtype complex",
    "Gradient of betainc with respect to a and b not supported.",
    "polygamma gradient with respect to m is not supported",
];

fn is_convention(prim: PrimRef) -> bool {
    CONVENTIONS.iter().any(|(name, _)| *name == prim.name())
}

/// All samples of a primitive.
pub fn cases(prim: PrimRef) -> Vec<Case> {
    prim.samples().into_iter().enumerate().map(|(number, sample)| Case { prim, sample, number }).collect()
}

impl Case {
    fn name(&self) -> String {
        let ins: Vec<String> = self.sample.ins.iter().map(|input| input.aval.to_string()).collect();
        format!("{} sample {} ({})", self.prim.name(), self.number, ins.join(", "))
    }

    /// The jaxpr of the application alone.
    ///
    /// # Errors
    /// What abstract evaluation raises.
    pub fn jaxpr(&self) -> Result<JaxprRef> {
        self.jaxpr_of(&self.avals())
    }

    fn avals(&self) -> Vec<Aval> {
        self.sample.ins.iter().map(|input| input.aval).collect()
    }

    fn jaxpr_of(&self, avals: &[Aval]) -> Result<JaxprRef> {
        let builder = Builder::new();
        let ins: Vec<Val> = avals.iter().map(|&aval| builder.input(aval)).collect();
        let outs = builder.bind(self.prim, &self.sample.params, &ins)?;
        Ok(JaxprRef::new(builder.finish(&outs, None).0))
    }

    /// The jaxpr of the application over a batch at the given axes.
    fn batched(&self, size: usize, dims: &[Option<usize>]) -> Result<(JaxprRef, Vec<Aval>)> {
        let builder = Arc::new(Builder::new());
        let emit = BatchEmit::new(builder.clone(), Batch { size, name: None, split: None });
        let (mut args, mut avals) = (vec![], vec![]);
        for (input, &dim) in self.sample.ins.iter().zip(dims) {
            let aval = dim.map_or(input.aval, |dim| with_axis(input.aval, dim, size));
            avals.push(aval);
            args.push(emit.pack(builder.input(aval), dim));
        }
        let mut outs = vec![];
        for out in emit.bind(self.prim, &self.sample.params, &args)? {
            let (value, dim) = emit.unpack(&out);
            outs.push(prims::batch_to_front(&*builder, &value, dim, size)?);
        }
        Ok((JaxprRef::new(builder.finish(&outs, None).0), avals))
    }

    /// Seeded by name, so that a new primitive changes no other's elements.
    fn rng(&self, salt: u64) -> Rng {
        let hash =
            self.prim.name().bytes().fold(salt, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3));
        Rng::new(hash ^ self.number as u64)
    }

    /// The laws of structure.
    pub fn structure(&self) -> Found {
        self.collect(|found| {
            let jaxpr = self.jaxpr()?;
            self.check_text(&jaxpr, "the application", found);
            let is_inexact: Vec<bool> = self.avals().iter().map(|aval| aval.dtype.is_inexact()).collect();
            if is_inexact.contains(&true) {
                let force = vec![false; jaxpr.outs.len()];
                self.note(found, "derivative", |case, found| {
                    case.check_text(&jvp_jaxpr(&jaxpr, &is_inexact, &force)?.jaxpr, "the derivative", found);
                    Ok(())
                });
            }
            for dims in self.axes() {
                self.note(found, "batching", |case, found| {
                    case.check_text(&case.batched(3, &dims)?.0, &format!("the batch at {dims:?}"), found);
                    Ok(())
                });
            }
            Ok(())
        })
    }

    fn check_text(&self, jaxpr: &JaxprRef, what: &str, found: &mut Found) {
        let errors = check_jaxpr(jaxpr);
        if !errors.is_empty() {
            found.failures.push(format!("{}: {what}: {}\n{jaxpr}", self.name(), errors.join("\n")));
        }
        let text = jaxpr_text(jaxpr, Dialect::Full);
        match parse_jaxpr(&text, &find_primitive) {
            Ok(again) if jaxpr_text(&again, Dialect::Full) == text => {}
            Ok(again) => {
                let again = jaxpr_text(&again, Dialect::Full);
                found.failures.push(format!("{}: {what}: text changes\n{text}\n{again}", self.name()));
            }
            Err(error) => found.failures.push(format!("{}: {what}: {error}\n{text}", self.name())),
        }
    }

    /// That all engines give the same bits.
    pub fn engines(&self, engines: &[Engine<'_>]) -> Found {
        self.collect(|found| {
            let (jaxpr, mut rng) = (self.jaxpr()?, self.rng(1));
            let inputs: Vec<Array> =
                self.sample.ins.iter().map(|input| random_with_specials(&mut rng, input)).collect();
            let first = engines[0](&jaxpr, &inputs)?;
            for (number, engine) in engines.iter().enumerate().skip(1) {
                for (got, want) in engine(&jaxpr, &inputs)?.iter().zip(&first) {
                    if let Some(text) = mismatch(got, want, 0.0) {
                        found.failures.push(format!("{}: engine {number}: {text}", self.name()));
                    }
                }
            }
            Ok(())
        })
    }

    /// The tangent is the central difference.
    pub fn derivative(&self, run: Engine<'_>) -> Found {
        self.collect(|found| {
            if is_convention(self.prim) {
                return Ok(());
            }
            let Some((jaxpr, jvp, nonzero_out, primals, tangents)) = self.wide_jvp()? else { return Ok(()) };
            let args = [&primals[..], &self.inexact(&tangents)].concat();
            let results = run(&jvp, &args)?;
            let (outs, mut out_tangents) = (&results[..jaxpr.outs.len()], results[jaxpr.outs.len()..].iter());
            const STEP: f64 = 1e-6;
            let at = |factor: f64| -> Result<Vec<Array>> {
                let inputs: Vec<Array> = primals.iter().zip(&tangents).map(|(x, t)| moved(x, t, factor)).collect();
                run(&jaxpr, &inputs)
            };
            let (plain, high, low) = (at(0.0)?, at(STEP)?, at(-STEP)?);
            for (i, out) in outs.iter().enumerate() {
                if let Some(text) = mismatch(out, &plain[i], 1e-12) {
                    found.failures.push(format!("{}: value under differentiation: {text}", self.name()));
                }
                let want = difference(&high[i], &low[i], STEP);
                let got: Vec<(f64, f64)> = match nonzero_out[i].then(|| out_tangents.next()).flatten() {
                    Some(tangent) => tangent.elements()?.into_iter().map(parts).collect(),
                    None => vec![(0.0, 0.0); want.len()],
                };
                if !out.dtype().is_inexact() {
                    continue;
                }
                // Where the value is no number, as where a gather fills, there is no difference.
                let agrees = |(a, b): (&(f64, f64), &(f64, f64))| {
                    b.0.is_nan() || is_close(a.0, b.0, 2e-5) && is_close(a.1, b.1, 2e-5)
                };
                if !got.iter().zip(&want).all(agrees) {
                    found.failures.push(format!("{}: tangent of result {i}: got {got:?}, want {want:?}", self.name()));
                }
            }
            Ok(())
        })
    }

    /// The transpose is the adjoint of the derivative: `⟨J t, w⟩ = ⟨t, Jᵀ w⟩`.
    pub fn transpose(&self, run: Engine<'_>) -> Found {
        self.collect(|found| {
            if is_convention(self.prim) {
                return Ok(());
            }
            let Some((jaxpr, jvp, nonzero_out, primals, tangents)) = self.wide_jvp()? else { return Ok(()) };
            let tangents = self.inexact(&tangents);
            let is_tangent: Vec<bool> = (0..primals.len() + tangents.len()).map(|i| i >= primals.len()).collect();
            let n_tangents = nonzero_out.iter().filter(|nonzero| **nonzero).count();
            if n_tangents == 0 {
                return Ok(());
            }
            let nonzero_ct: Vec<bool> = (0..jaxpr.outs.len() + n_tangents).map(|i| i >= jaxpr.outs.len()).collect();
            let transposed = transpose_jaxpr(&jvp, &is_tangent, &nonzero_ct, true)?.jaxpr;
            self.check_text(&transposed, "the transpose", found);
            let forward = run(&jvp, &[&primals[..], &tangents].concat())?;
            let forward = &forward[jaxpr.outs.len()..];
            let mut rng = self.rng(4);
            let cts: Vec<Array> = forward
                .iter()
                .map(|out| random(&mut rng, &SampleIn { aval: out.aval(), domain: (-1.0, 1.0) }))
                .collect();
            let backward = run(&transposed, &[&primals[..], &cts].concat())?;
            let pair = |xs: &[Array], ys: &[Array]| xs.iter().zip(ys).map(|(x, y)| pairing(x, y)).sum::<f64>();
            let (left, right) = (pair(forward, &cts), pair(&tangents, &backward));
            if !is_close(left, right, 1e-9) {
                found.failures.push(format!("{}: ⟨J t, w⟩ = {left}, ⟨t, Jᵀ w⟩ = {right}\n{transposed}", self.name()));
            }
            Ok(())
        })
    }

    /// Batching is the loop over slices.
    pub fn batching(&self, run: Engine<'_>) -> Found {
        self.collect(|found| {
            let jaxpr = self.jaxpr()?;
            for size in [3, 1, 0] {
                for dims in self.axes() {
                    let (batched, avals) = self.batched(size, &dims)?;
                    let mut rng = self.rng(5);
                    let input = |(input, &aval): (&SampleIn, &Aval)| {
                        random_with_specials(&mut rng, &SampleIn { aval, domain: input.domain })
                    };
                    let inputs: Vec<Array> = self.sample.ins.iter().zip(&avals).map(input).collect();
                    let outs = run(&batched, &inputs)?;
                    self.check_shapes(&jaxpr, &outs, size, &dims, found);
                    if self.draws_at_once() {
                        continue;
                    }
                    for i in 0..size {
                        let slice =
                            |(x, dim): (&Array, &Option<usize>)| dim.map_or_else(|| x.clone(), |dim| take(x, dim, i));
                        let slices: Vec<Array> = inputs.iter().zip(&dims).map(slice).collect();
                        for (got, want) in outs.iter().zip(run(&jaxpr, &slices)?) {
                            if let Some(text) = mismatch(&take(got, 0, i), &want, 1e-5) {
                                let name = self.name();
                                found
                                    .failures
                                    .push(format!("{name}: example {i} of {size} at {dims:?}: {text}\n{batched}"));
                            }
                        }
                    }
                }
            }
            Ok(())
        })
    }

    /// Whether a batch draws its bits with its first state alone, as the reference does: examples are not slices then.
    fn draws_at_once(&self) -> bool {
        let has_wide_key = self.avals().iter().any(|aval| aval.dtype.is_key() && aval.dtype.size_bytes() > 8);
        self.prim.name() == "rng_bit_generator" || (self.prim.name() == "random_bits" && has_wide_key)
    }

    fn check_shapes(&self, jaxpr: &JaxprRef, outs: &[Array], size: usize, dims: &[Option<usize>], found: &mut Found) {
        for (out, aval) in outs.iter().zip(jaxpr.out_avals()) {
            let want = with_axis(aval, 0, size);
            if out.aval() != want {
                found.failures.push(format!(
                    "{}: batch of {size} at {dims:?} is {}, not {want}",
                    self.name(),
                    out.aval()
                ));
            }
        }
    }

    /// Where operands are batched: all in front, all at the last axis, then each alone at each axis.
    fn axes(&self) -> Vec<Vec<Option<usize>>> {
        let ranks: Vec<usize> = self.avals().iter().map(|aval| aval.rank()).collect();
        if ranks.is_empty() {
            return vec![];
        }
        let mut axes = vec![ranks.iter().map(|_| Some(0)).collect(), ranks.iter().map(|&rank| Some(rank)).collect()];
        for (i, &rank) in ranks.iter().enumerate() {
            axes.extend((0..=rank).map(|axis| (0..ranks.len()).map(|j| (i == j).then_some(axis)).collect()));
        }
        axes
    }

    fn inexact(&self, tangents: &[Array]) -> Vec<Array> {
        tangents.iter().filter(|t| t.dtype().is_inexact()).cloned().collect()
    }

    /// The application and its derivative in double width, with primals and tangents; `None` where nothing is inexact
    /// or the application does not exist in double width.
    #[allow(clippy::type_complexity)]
    fn wide_jvp(&self) -> Result<Option<(JaxprRef, JaxprRef, Vec<bool>, Vec<Array>, Vec<Array>)>> {
        let avals: Vec<Aval> = self.avals().into_iter().map(widened).collect();
        let nonzero: Vec<bool> = avals.iter().map(|aval| aval.dtype.is_inexact()).collect();
        let Ok(jaxpr) = self.jaxpr_of(&avals) else { return Ok(None) };
        let is_wide = |aval: &Aval| matches!(aval.dtype, DType::F64 | DType::C128);
        if !avals.iter().any(is_wide) || !jaxpr.out_avals().iter().any(is_wide) {
            return Ok(None);
        }
        let jvp = jvp_jaxpr(&jaxpr, &nonzero, &vec![false; jaxpr.outs.len()])?;
        let mut rng = self.rng(2);
        let inputs = self.sample.ins.iter().zip(&avals);
        let primals = inputs.map(|(input, &aval)| random(&mut rng, &SampleIn { aval, domain: input.domain })).collect();
        let tangents = avals.iter().map(|&aval| {
            let elements = (0..aval.size()).map(|_| element(&mut rng, aval.dtype, (-1.0, 1.0)));
            Array::from_scalars(&aval.shape, aval.dtype, elements)
        });
        let tangents = tangents.collect();
        Ok(Some((jaxpr, jvp.jaxpr, jvp.nonzero_out, primals, tangents)))
    }

    fn collect(&self, check: impl FnOnce(&mut Found) -> Result<()>) -> Found {
        let mut found = Found::default();
        if let Err(error) = check(&mut found) {
            self.sort_error(&mut found, "", &error);
        }
        found
    }

    fn note(&self, found: &mut Found, what: &str, check: impl FnOnce(&Case, &mut Found) -> Result<()>) {
        if let Err(error) = check(self, found) {
            self.sort_error(found, what, &error);
        }
    }

    /// What is not implemented is a hole; any other error a failure.
    fn sort_error(&self, found: &mut Found, what: &str, error: &Error) {
        let is_refused = REFUSED.iter().any(|start| error.message().starts_with(start));
        if error.kind() == ErrorKind::NotImplemented || is_refused {
            found.holes.push(error.message().to_string());
        } else {
            found.failures.push(format!("{}: {what} raised {error:?}", self.name()));
        }
    }
}

fn with_axis(aval: Aval, axis: usize, size: usize) -> Aval {
    let mut shape = aval.shape.clone();
    shape.insert(axis, size);
    aval.with_shape(&shape)
}
