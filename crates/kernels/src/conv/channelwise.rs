//! Convolutions whose every channel has a kernel of its own, with channels side by side: no matrix products, but windows
//! added up for all channels at once.

use pullback_base::Result;
use pullback_runtime::interrupt::shared_pieces;

use super::{Element, Plan, SHARED, grid_index, grid_offset, lines_of};
use crate::typed::Shared;

pub(super) fn fits(plan: &Plan) -> bool {
    let is_by_channel = plan.groups > 1 && plan.batch_groups == 1 && plan.features == [1, 1];
    is_by_channel && plan.lhs.strides[1] == 1 && plan.out.strides[1] == 1
}

pub(super) fn run<T: Element>(plan: &Plan, lhs: &[T], rhs: &[T], out: &mut [T]) -> Result<()> {
    let weights = weights_of(plan, rhs);
    let last = plan.axes.len() - 1;
    let n_lines = plan.out.n_places() / plan.out.space()[last];
    let n_tasks = plan.out.sizes[0] * n_lines;
    let shared = Shared::new(out);
    let work = |task: usize| line(plan, lhs, &weights, task / n_lines, task % n_lines, &shared);
    if plan.work() >= SHARED {
        return shared_pieces(n_tasks, &work);
    }
    (0..n_tasks).for_each(work);
    Ok(())
}

/// For each element of the window, the weights of all channels.
fn weights_of<T: Element>(plan: &Plan, rhs: &[T]) -> Vec<T> {
    let offsets = (0..plan.n_window).map(|window| grid_offset(plan.rhs.space(), &plan.rhs.strides[2..], window));
    offsets.flat_map(|offset| (0..plan.groups).map(move |c| rhs[offset + c * plan.rhs.strides[0]])).collect()
}

/// One line of the result along the last axis.
fn line<T: Element>(plan: &Plan, lhs: &[T], weights: &[T], example: usize, number: usize, out: &Shared<T>) {
    let last = plan.axes.len() - 1;
    let (axis, width, n) = (&plan.axes[last], plan.rhs.space()[last], plan.groups);
    let mut place = vec![0; last + 1];
    grid_index(&plan.out.space()[..last], number, &mut place[..last]);
    let mut lines = vec![];
    lines_of(plan, &place, example * plan.lhs.strides[0], &mut lines);
    let start = example * plan.out.strides[0]
        + place[..last].iter().zip(&plan.out.strides[2..]).map(|(at, stride)| at * stride).sum::<usize>();
    for at in 0..plan.out.space()[last] {
        // SAFETY: the channels of one place, which no other task writes.
        let to = unsafe { out.part(start + at * plan.out.strides[2 + last], n) };
        to.fill(T::ZERO);
        for (number, from) in lines.iter().enumerate().filter_map(|(number, from)| Some((number, (*from)?))) {
            for window in 0..width {
                let Some(position) = axis.position(at, window) else { continue };
                let x = &lhs[from + position * plan.lhs.strides[2 + last]..][..n];
                let weights = &weights[(number * width + window) * n..][..n];
                let terms = x.iter().zip(weights);
                to.iter_mut().zip(terms).for_each(|(to, (&x, &weight))| *to = to.plus(x.times(weight)));
            }
        }
    }
}
