//! Steps that are one call of a kernel on row-major memory: sorting, dense bodies and functions of the host.

use std::sync::Arc;

use pullback_base::Result;
use pullback_ir::VarId;
use pullback_ir::lower::{Index, values_per_element};
use pullback_loops::{Addr, Body, BufferId, Builder, Call, HostCall, Kernel, Op, Sort};

use super::Block;
use crate::view::{Value, View};

/// Buffers with the position of their first element.
type Args = Vec<(BufferId, Addr)>;

impl Block<'_, '_> {
    /// Row-major memory of all operands, then of all results.
    fn kernel_args(&mut self, loops: &mut Builder, number: usize) -> Result<(Args, Vec<(VarId, View)>)> {
        let graph = self.graph.clone();
        let (mut args, mut outs) = (vec![], vec![]);
        for &atom in &graph.eqn(number).ins {
            let view = self.memory(loops, atom)?;
            args.push(first_of(loops, &view));
        }
        for var in graph.eqn(number).outs() {
            let view = self.dest(loops, var);
            args.push(first_of(loops, &view));
            outs.push((var, view));
        }
        Ok((args, outs))
    }

    fn call(&mut self, loops: &mut Builder, number: usize, kernel: Kernel) -> Result<()> {
        let (args, outs) = self.kernel_args(loops, number)?;
        loops.push(Op::Call(Box::new(Call { kernel, args })));
        for (var, view) in outs {
            let aval = self.graph.jaxpr.vars[var.index()];
            self.values[var.index()] = Some(if aval.rank() == 0 {
                Value::Uniform(view.load(loops, &[], aval.dtype)?)
            } else {
                Value::Memory(view)
            });
        }
        Ok(())
    }

    pub(super) fn sort(&mut self, loops: &mut Builder, number: usize, axis: usize, n_keys: usize) -> Result<()> {
        let graph = self.graph.clone();
        let avals = graph.jaxpr.eqn_out_avals(graph.eqn(number));
        let shape = &avals[0].shape;
        let sizes = [shape[..axis].iter().product(), shape[axis], shape[axis + 1..].iter().product()];
        let dtypes = avals.iter().map(|aval| aval.dtype).collect();
        self.call(loops, number, Kernel::Sort(Sort { dtypes, sizes, n_keys }))
    }

    pub(super) fn host(&mut self, loops: &mut Builder, number: usize, host: &Arc<dyn HostCall>) -> Result<()> {
        let (n_ins, lens) = self.argument_lens(number);
        self.call(loops, number, Kernel::Host(host.clone(), n_ins, lens))
    }

    pub(super) fn body(&mut self, loops: &mut Builder, number: usize, body: &Body) -> Result<()> {
        let (n_ins, lens) = self.argument_lens(number);
        self.call(loops, number, Kernel::Body(Box::new(body.clone()), n_ins, lens))
    }

    /// Number of operands, and the elements in the buffer of each operand and result.
    fn argument_lens(&self, number: usize) -> (usize, Vec<usize>) {
        let eqn = self.graph.eqn(number);
        let ins = eqn.ins.iter().map(|&atom| self.graph.aval(atom));
        let avals = ins.chain(self.graph.jaxpr.eqn_out_avals(eqn).iter().copied());
        (eqn.ins.len(), avals.map(|aval| aval.size() * values_per_element(aval.dtype)).collect())
    }
}

/// The buffer of a view with the address of its first element.
pub(super) fn first_of(loops: &mut Builder, view: &View) -> (BufferId, Addr) {
    let first = vec![Index::constant(0); view.strides.len()];
    (view.buffer, view.addr(loops, &first))
}
