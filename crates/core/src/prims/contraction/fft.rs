//! Discrete Fourier transforms over the last axes.
//!
//! fft : x[..., lengths] -> [..., lengths]        types 0 and 1: complex, forward and inverse
//! fft : x[..., n] -> [..., n / 2 + 1] and back        types 2 and 3: real to half of a symmetric complex, and its inverse
//! Linear. Transforms are symmetric matrices; of the halves the transpose counts what stands for two.

use crate::prims::splits::leading;
use pullback_base::aval::tuple_text;
use pullback_base::{Aval, DType, Result, bail};
use pullback_ir::lower::CpuForm;
use pullback_ir::{
    Avals, Batching, Derivative, Emit, Hlo, Params, Prim, PrimRef, Sample, SampleIn, Splits, Transpose, Val,
};
use pullback_loops::{Body, Fft as FftBody, FftKind};
use smallvec::smallvec;

use crate::prims::{PadAxis, V, batch_to_front, zeros};

/// Params of `fft`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct Fft {
    /// 0 forward, 1 inverse, 2 of reals, 3 to reals.
    pub fft_type: usize,
    /// Sizes of the transformed axes in the longer array.
    pub fft_lengths: Vec<usize>,
}

struct FftPrim;

/// The primitive `fft`.
pub static FFT: PrimRef = PrimRef(&FftPrim);

const FORWARD: usize = 0;
const INVERSE: usize = 1;
const REAL_FORWARD: usize = 2;
const REAL_INVERSE: usize = 3;

fn fft<'e>(x: &V<'e>, fft_type: usize, lengths: &[usize]) -> V<'e> {
    x.bind(FFT, &Params::new(Fft { fft_type, fft_lengths: lengths.to_vec() }), &[])
}

fn halved(lengths: &[usize]) -> Vec<usize> {
    let mut sizes = lengths.to_vec();
    if let Some(last) = sizes.last_mut() {
        *last = *last / 2 + 1;
    }
    sizes
}

fn complex_of(dtype: DType) -> DType {
    if dtype == DType::F64 { DType::C128 } else { DType::C64 }
}

impl Prim for FftPrim {
    type Params = Fft;
    const NAME: &'static str = "fft";

    fn abstract_eval(&self, p: &Fft, ins: &[Aval]) -> Result<Avals> {
        let [x] = ins else { bail!(Type, "fft takes 1 operand, got {}", ins.len()) };
        let (lengths, rank) = (&p.fft_lengths, x.rank());
        if lengths.len() > rank {
            bail!(
                Value,
                "FFT input shape {} must have at least as many input dimensions as fft_lengths {}.",
                tuple_text(&x.shape),
                tuple_text(lengths)
            );
        }
        let (front, last) = x.shape.split_at(rank - lengths.len());
        let (is_right_dtype, expected, sizes, dtype) = match p.fft_type {
            FORWARD | INVERSE => (x.dtype.is_complex(), lengths.clone(), lengths.clone(), x.dtype),
            REAL_FORWARD => {
                (matches!(x.dtype, DType::F32 | DType::F64), lengths.clone(), halved(lengths), complex_of(x.dtype))
            }
            REAL_INVERSE => (x.dtype.is_complex(), halved(lengths), lengths.clone(), x.dtype.real()),
            other => bail!(Value, "Unknown FFT type {other}"),
        };
        if !is_right_dtype {
            let wanted = if p.fft_type == REAL_FORWARD { "float32 or float64" } else { "complex64 or complex128" };
            bail!(Value, "FFT of type {} requires a {wanted} operand, got {}", p.fft_type, x.dtype);
        }
        if last != expected {
            bail!(
                Value,
                "FFT of type {} with fft_lengths {} requires trailing dimensions {} of the operand, got shape {}.",
                p.fft_type,
                tuple_text(lengths),
                tuple_text(&expected),
                tuple_text(&x.shape)
            );
        }
        Ok(smallvec![Aval::new(&[front, &sizes].concat(), dtype)])
    }

    fn derivative(&self) -> Derivative<Fft> {
        Derivative::Linear(zeros)
    }

    fn transpose(&self) -> Transpose<Fft> {
        Transpose::Rule(|p, e, cts, _ins| {
            Ok(smallvec![cts[0].as_ref().map(|ct| x_ct(p, &V::new(e, ct)).done()).transpose()?])
        })
    }

    fn splits(&self) -> Splits<Fft> {
        Splits::Rule(leading)
    }

    fn batching(&self) -> Batching<Fft> {
        Batching::Rule(|p, e: &dyn Emit, batch, ins, dims| {
            let x: Val = batch_to_front(e, &ins[0], dims[0], batch.size)?;
            Ok((e.bind(FFT, &Params::new(p.clone()), &[x])?, smallvec![Some(0)]))
        })
    }

    fn cpu(&self, p: &Fft, ins: &[Aval], outs: &[Aval]) -> CpuForm {
        let kind = match p.fft_type {
            FORWARD => FftKind::Forward,
            INVERSE => FftKind::Inverse,
            REAL_FORWARD => FftKind::RealForward,
            _ => FftKind::RealInverse,
        };
        let dtype = if ins[0].dtype.is_complex() { ins[0].dtype } else { outs[0].dtype };
        let batch = ins[0].shape[..ins[0].rank() - p.fft_lengths.len()].iter().product();
        CpuForm::Body(Box::new(Body::Fft(FftBody { kind, dtype, batch, lengths: p.fft_lengths.clone() })))
    }

    fn hlo(&self) -> Hlo<Fft> {
        Hlo::Attributes("stablehlo.fft", |p, _| {
            let name = ["FFT", "IFFT", "RFFT", "IRFFT"][p.fft_type.min(3)];
            format!("type = {name}, length = {:?}", p.fft_lengths)
        })
    }

    fn samples(&self) -> Vec<Sample> {
        let sample = |fft_type, lengths: &[usize], shape: &[usize], dtype| Sample {
            params: Params::new(Fft { fft_type, fft_lengths: lengths.to_vec() }),
            ins: vec![SampleIn { aval: Aval::new(shape, dtype), domain: (-2.0, 2.0) }],
        };
        vec![
            sample(FORWARD, &[5], &[2, 5], DType::C64),
            sample(INVERSE, &[4], &[4], DType::C64),
            sample(FORWARD, &[3, 4], &[2, 3, 4], DType::C64),
            sample(REAL_FORWARD, &[6], &[2, 6], DType::F32),
            sample(REAL_FORWARD, &[3, 5], &[3, 5], DType::F32),
            sample(REAL_INVERSE, &[6], &[2, 4], DType::C64),
            sample(REAL_INVERSE, &[3, 5], &[3, 3], DType::C64),
        ]
    }
}

fn x_ct<'e>(p: &Fft, ct: &V<'e>) -> V<'e> {
    let lengths = &p.fft_lengths;
    let Some(&n) = lengths.last() else { return ct.clone() };
    let half = n / 2 + 1;
    let last = ct.aval().rank() - 1;
    match p.fft_type {
        REAL_FORWARD => {
            // The other half of the result was not there: its cotangent is zero.
            let mut config: Vec<PadAxis> = vec![(0, 0, 0); last + 1];
            config[last].1 = (n - half) as i64;
            fft(&ct.pad(&ct.number(0.0), &config), FORWARD, lengths).real()
        }
        REAL_INVERSE => {
            // Elements inside stand for two; the ends for themselves.
            let size: usize = lengths.iter().product();
            let spectrum = fft(ct, REAL_FORWARD, lengths).conj() * (1.0 / size as f64);
            let n_inside = if n.is_multiple_of(2) { half.saturating_sub(2) } else { half - 1 };
            let ends = 1 + n_inside;
            let parts = [(0, 1, 1.0), (1, ends, 2.0), (ends, half, 1.0)].into_iter().filter(|(from, to, _)| from < to);
            let parts: Vec<V<'e>> =
                parts.map(|(from, to, factor)| spectrum.slice_axis(last, from, to, 1) * factor).collect();
            parts[0].concatenate(&parts[1..].iter().collect::<Vec<_>>(), last)
        }
        fft_type => fft(ct, fft_type, lengths),
    }
}
