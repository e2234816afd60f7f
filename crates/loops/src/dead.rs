//! Removal of instructions whose values nobody reads.

use crate::program::{Inst, Op, Program, ValueId};
use crate::visit::for_each_inst;

/// Drops every pure instruction and load whose value is not read. Loops, calls and stores stay.
pub fn remove_dead(program: &mut Program) {
    let mut uses = vec![0u32; program.values.len()];
    let mut makers: Vec<Option<&Op>> = vec![None; program.values.len()];
    for_each_inst(&program.body, &mut |inst| {
        inst.op.for_each_operand(|value| uses[value.index()] += 1);
        inst.op.for_each_yield(|value| uses[value.index()] += 1);
        if inst.op.has_value() {
            makers[inst.dst.index()] = Some(&inst.op);
        }
    });
    let is_dead = |uses: &[u32], index: usize| uses[index] == 0;
    let mut waiting: Vec<usize> = (0..uses.len()).filter(|&i| is_dead(&uses, i) && makers[i].is_some()).collect();
    let mut dead = vec![false; uses.len()];
    while let Some(index) = waiting.pop() {
        dead[index] = true;
        let Some(op) = makers[index] else { continue };
        op.for_each_operand(|value: ValueId| {
            uses[value.index()] -= 1;
            if uses[value.index()] == 0 && makers[value.index()].is_some() {
                waiting.push(value.index());
            }
        });
    }
    sweep(&mut program.body, &dead);
}

fn sweep(block: &mut Vec<Inst>, dead: &[bool]) {
    block.retain(|inst| !inst.op.has_value() || !dead[inst.dst.index()]);
    for inst in block {
        for inner in inst.op.blocks_mut() {
            sweep(inner, dead);
        }
    }
}
