//! Rules by which splits pass that several families share.

use pullback_base::Result;
use pullback_base::array::place::Spec;
use pullback_ir::Passing;

/// Every result is split as the operand of its number.
pub fn each<P>(_: &P, x: &Passing<'_>) -> Result<Vec<Spec>> {
    Ok((0..x.outs.len()).map(|i| x.specs[i].clone()).collect())
}

/// Every result is split as the first operand, as far as axes from the first on have the same sizes.
pub fn leading<P>(_: &P, x: &Passing<'_>) -> Result<Vec<Spec>> {
    let Some(shape) = x.ins.first().map(|aval| &aval.data().shape) else { return Ok(x.whole()) };
    let entry = |(axis, size): (usize, &usize)| {
        if shape.get(axis) == Some(size) { x.specs[0][axis].clone() } else { vec![] }
    };
    Ok(x.outs.iter().map(|out| out.shape.iter().enumerate().map(entry).collect()).collect())
}

/// Nothing is split in the results, whatever the operands are.
pub fn whole<P>(_: &P, x: &Passing<'_>) -> Result<Vec<Spec>> {
    Ok(x.whole())
}

/// Matrices: axes before the last two pass, these may not be split.
pub fn of_matrices<P>(_: &P, x: &Passing<'_>) -> Result<Vec<Spec>> {
    let rank = x.ins.iter().map(|aval| aval.rank()).max().unwrap_or(0);
    let n_batch = rank.saturating_sub(2);
    let mut batch: Spec = vec![vec![]; n_batch];
    for (aval, spec) in x.ins.iter().zip(x.specs) {
        if spec.iter().skip(n_batch).any(|names| !names.is_empty()) {
            return x
                .refuse(|| format!("{} takes matrices that are not sharded, got {}", x.name, aval.weak(false).long()));
        }
        for (joined, names) in batch.iter_mut().zip(spec).filter(|(joined, _)| joined.is_empty()) {
            joined.clone_from(names);
        }
    }
    let padded = |rank: usize| (0..rank).map(|axis| batch.get(axis).cloned().unwrap_or_default()).collect();
    Ok(x.outs.iter().map(|out| padded(out.rank())).collect())
}
