//! Compiled functions of arrays.

use pullback_base::array::{Buffer, BufferMut};
use pullback_base::{Array, Aval, Result, Scalar, bail};
use pullback_runtime::Restart;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use crate::Code;

/// Where a result comes from.
#[derive(Clone, Debug)]
pub enum Output {
    /// The program fills it: its output with this number.
    Program(usize),
    /// It is the argument with this number.
    Input(usize),
    /// It was known when the function was compiled.
    Const(Array),
    /// As above.
    Literal(Scalar),
}

/// A compiled function of arrays: what runs, and where its results come from.
pub struct Compiled {
    pub(crate) in_avals: Vec<Aval>,
    pub(crate) out_avals: Vec<Aval>,
    pub(crate) code: Option<Code>,
    pub(crate) outputs: Vec<Output>,
    /// Bytes of each output that the program fills, and the argument whose memory it takes over.
    pub(crate) filled: Vec<(usize, Option<usize>)>,
    /// For each argument, whether an output takes over its memory.
    is_taken: Vec<bool>,
    pub(crate) restart: Restart,
}

impl Compiled {
    /// A function from arguments to results of these types. `taken` says, for each output that the code fills, whose memory
    /// it takes over, an argument's; there is no code where all results are known. `restart` says whether an interrupted run
    /// may begin again.
    pub fn new(
        [in_avals, out_avals]: [Vec<Aval>; 2],
        code: Option<Code>,
        outputs: Vec<Output>,
        taken: Vec<Option<usize>>,
        restart: Restart,
    ) -> Compiled {
        let mut filled: Vec<(usize, Option<usize>)> = taken.into_iter().map(|from| (0, from)).collect();
        for (output, aval) in outputs.iter().zip(&out_avals) {
            if let Output::Program(number) = *output {
                filled[number].0 = aval.size_bytes();
            }
        }
        let mut is_taken = vec![false; in_avals.len()];
        filled.iter().filter_map(|(_, from)| *from).for_each(|at| is_taken[at] = true);
        Compiled { in_avals, out_avals, code, outputs, filled, is_taken, restart }
    }

    /// Types of the arguments.
    pub fn in_avals(&self) -> &[Aval] {
        &self.in_avals
    }

    /// Types of the results.
    pub fn out_avals(&self) -> &[Aval] {
        &self.out_avals
    }

    /// Bytes of its machine code and constants; the rest is little beside them.
    pub fn size_bytes(&self) -> usize {
        self.code.as_ref().map_or(0, Code::size_bytes)
    }

    /// Runs on arrays of the types of the arguments.
    ///
    /// # Errors
    /// `Type` when the arguments do not fit; when one is deleted, memory cannot be had, or a kernel fails.
    ///
    /// # Examples
    /// A program that another process saved: `Compiled::load(&std::fs::read(path)?)?.run(&[x])`.
    pub fn run(&self, args: &[Array]) -> Result<Vec<Array>> {
        let fits = |(arg, aval): (&Array, &Aval)| arg.aval().shape == aval.shape && arg.aval().dtype == aval.dtype;
        if args.len() != self.in_avals.len() || !args.iter().zip(&self.in_avals).all(fits) {
            let given: Vec<Aval> = args.iter().map(Array::aval).collect();
            bail!(Type, "compiled for arguments {:?}, called with {given:?}", self.in_avals);
        }
        self.run_with(args, &[], |code, _, ins, outs| code.map_or(Ok(()), |code| code.run_on(&[], ins, outs)))
    }

    /// Runs on arrays, of which those marked are deleted; `run` runs the code, if there is any, on the bytes of its inputs and
    /// outputs.
    ///
    /// # Errors
    /// When an argument is deleted, memory cannot be had, or the run fails.
    pub fn run_with(
        &self,
        args: &[Array],
        donated: &[bool],
        run: impl FnOnce(Option<&Code>, Restart, &[&[u8]], &mut [&mut [u8]]) -> Result<()>,
    ) -> Result<Vec<Array>> {
        // Memory that others see is not given away, and its array stays.
        let given = args.iter().zip(donated).filter(|(arg, donated)| **donated && !arg.is_shared());
        let given: SmallVec<[&Array; 8]> = given.map(|(arg, _)| arg).collect();
        let (taken, mut filled) = self.outputs_of(args, donated)?;
        // What a taken argument held is overwritten: the run cannot begin again.
        let restart = if taken { Restart::No } else { self.restart };
        let in_place = |(arg, &is_taken): (&Array, &bool)| if is_taken { Ok(None) } else { arg.buffer().map(Some) };
        let ins = args.iter().zip(&self.is_taken).map(in_place).collect::<Result<SmallVec<[Option<Buffer>; 8]>>>()?;
        let operands: SmallVec<[&[u8]; 8]> =
            ins.iter().map(|ins| ins.as_ref().map_or(&[][..], Buffer::bytes)).collect();
        let mut outs: SmallVec<[&mut [u8]; 4]> = filled.iter_mut().map(BufferMut::bytes_mut).collect();
        run(self.code.as_ref(), restart, &operands, &mut outs)?;
        drop((operands, outs));
        let filled: SmallVec<[Buffer; 4]> = filled.into_iter().map(BufferMut::freeze).collect();
        let results = self.outputs.iter().zip(&self.out_avals);
        let results = results.map(|(output, &aval)| result(output, aval, &ins, &filled)).collect();
        given.into_iter().for_each(Array::delete);
        results
    }

    /// Memory for the outputs, and whether some argument's was taken over: that of donated ones that nobody else sees and
    /// that are one argument only, which are deleted by that. Of others that a program overwrites it is a copy.
    fn outputs_of(&self, args: &[Array], donated: &[bool]) -> Result<(bool, SmallVec<[BufferMut; 4]>)> {
        let mut taken = false;
        let takes = self.is_taken.contains(&true);
        let repeated = if takes { repeated(args) } else { FxHashSet::default() };
        if takes {
            // Before any is gone: all are there.
            args.iter().try_for_each(|arg| arg.buffer().map(drop))?;
        }
        let mut memory = |(size_bytes, from): &(usize, Option<usize>)| {
            let Some(at) = *from else { return Buffer::allocate(*size_bytes) };
            let may_take = donated.get(at) == Some(&true) && !repeated.contains(&args[at].address());
            let own = if may_take { args[at].donate() } else { None };
            taken |= own.is_some();
            own.map_or_else(|| copy_of(&args[at]), Ok)
        };
        let filled = self.filled.iter().map(&mut memory).collect::<Result<_>>()?;
        Ok((taken, filled))
    }
}

/// The addresses of arrays that are several arguments.
fn repeated(args: &[Array]) -> FxHashSet<usize> {
    let mut seen = FxHashSet::default();
    args.iter().map(Array::address).filter(|&address| !seen.insert(address)).collect()
}

fn copy_of(array: &Array) -> Result<BufferMut> {
    let from = array.buffer()?;
    let mut copy = Buffer::allocate(array.aval().size_bytes())?;
    let n = array.aval().size_bytes();
    copy.bytes_mut()[..n].copy_from_slice(&from.bytes()[..n]);
    Ok(copy)
}

fn result(output: &Output, aval: Aval, ins: &[Option<Buffer>], filled: &[Buffer]) -> Result<Array> {
    match output {
        Output::Program(number) => Ok(Array::new(aval, filled[*number].clone())),
        Output::Input(number) => {
            let kept = ins[*number].clone().expect("no result takes over what is a result itself");
            Ok(Array::new(aval, kept))
        }
        Output::Const(array) => array.reinterpret(aval)?.twin(),
        Output::Literal(scalar) => Array::scalar(*scalar).reinterpret(aval),
    }
}
