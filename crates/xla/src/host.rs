//! What programs on a plugin leave to this process: functions of the host, and primitives that XLA has nothing for, done by
//! our own engine. Only where the plugin's devices have the memory of the host.

use std::sync::{Arc, Mutex, PoisonError};

use pullback_backend::executable;
use pullback_base::{Array, Aval, DType, Error, Result};
use pullback_ir::{Builder, JaxprRef, Params, PrimRef, Val};
use pullback_loops::HostCall;
use pullback_pjrt::{HOST_CALL_TARGET, HostCode, HostFunction};
use pullback_stablehlo::{Calling, Host};

/// The functions that one program calls; they can be called while this lives.
#[derive(Default)]
pub(crate) struct HostFunctions {
    functions: Mutex<Vec<HostFunction>>,
}

impl HostFunctions {
    /// Whether the program calls none.
    pub(crate) fn is_empty(&self) -> bool {
        self.functions.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    fn add(&self, in_bytes: Vec<usize>, out_bytes: Vec<usize>, code: Box<HostCode>) -> i64 {
        let function = HostFunction::new(in_bytes, out_bytes, code);
        let number = function.number();
        self.functions.lock().unwrap_or_else(PoisonError::into_inner).push(function);
        number
    }
}

/// Bytes of values as the host has them.
fn sizes(avals: &[Aval]) -> Result<Vec<usize>> {
    let size = |aval: &Aval| match aval.dtype {
        DType::I2 | DType::I4 | DType::U2 | DType::U4 | DType::F4E2M1FN => Err(Error::not_implemented(format!(
            "functions of the host called by a program on a device of a plugin take no {}, which may be packed there; \
             convert it before",
            aval.dtype
        ))),
        _ => Ok(aval.size_bytes()),
    };
    avals.iter().map(size).collect()
}

/// Bytes of a token, and of the number of a device.
const TOKEN: usize = 4;

impl Host for HostFunctions {
    fn target(&self) -> &str {
        HOST_CALL_TARGET
    }

    fn function(&self, function: &Arc<dyn HostCall>, calling: Calling, ins: &[Aval], outs: &[Aval]) -> Result<i64> {
        let function = function.clone();
        let (mut in_bytes, mut out_bytes) = (sizes(ins)?, sizes(outs)?);
        let (n_ins, n_outs) = (ins.len(), outs.len());
        if calling != Calling::Plain {
            in_bytes.push(TOKEN);
            out_bytes.push(TOKEN);
        }
        let code = move |ins: &[&[u8]], outs: &mut [&mut [u8]]| {
            outs[n_outs..].iter_mut().for_each(|token| token.fill(0));
            if calling == Calling::ByFirst && ins[n_ins].iter().any(|&byte| byte != 0) {
                return Ok(());
            }
            function.call(&ins[..n_ins], &mut outs[..n_outs])
        };
        Ok(self.add(in_bytes, out_bytes, Box::new(code)))
    }

    fn primitive(&self, prim: PrimRef, params: &Params, ins: &[Aval], outs: &[Aval]) -> Result<i64> {
        let builder = Builder::new();
        let args: Vec<Val> = ins.iter().map(|&aval| builder.input(aval)).collect();
        let results = builder.record(prim, params, &args, outs);
        let code = executable(&JaxprRef::new(builder.finish(&results, None).0))?;
        let avals = ins.to_vec();
        let run = move |ins: &[&[u8]], outs: &mut [&mut [u8]]| {
            let array = |(&aval, bytes): (&Aval, &&[u8])| Array::from_bytes(aval, bytes);
            let args = avals.iter().zip(ins).map(array).collect::<Result<Vec<Array>>>()?;
            for (result, out) in code.run(&args, &[])?.iter().zip(outs) {
                out.copy_from_slice(&result.buffer()?.bytes()[..out.len()]);
            }
            Ok(())
        };
        Ok(self.add(sizes(ins)?, sizes(outs)?, Box::new(run)))
    }
}
