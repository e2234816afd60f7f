//! Sums of products written with subscripts.
//!
//! Subscripts are parsed to one letter per axis; operands are contracted in pairs, the cheapest first.

use std::collections::BTreeMap;

use pullback_base::{DType, Error, Result, bail};
use pullback_core::prims::DotDimensions;
use pullback_ir::Val;

use super::contraction::contract;
use crate::convert::{convert, number};
use crate::lax;
use crate::promotion::result_type_of;

type Labels = Vec<char>;

struct Term {
    val: Val,
    labels: Labels,
}

/// How a pair of operands is contracted: their axes, and the dtype of the sums.
pub type Contraction<'a> = &'a dyn Fn(&Val, &Val, DotDimensions, DType) -> Result<Val>;

/// The sum of products that `subscripts` describe, for example `ij,jk->ik`.
///
/// # Errors
/// A `Value` error for subscripts that do not fit the operands.
pub fn einsum(subscripts: &str, operands: &[Val], dtype: Option<DType>) -> Result<Val> {
    einsum_by(subscripts, operands, dtype, &|x, y, dims, dtype| contract(x, y, dims, Some(dtype)))
}

/// As [`einsum`], with pairs contracted by a function of the caller.
///
/// # Errors
/// A `Value` error for subscripts that do not fit the operands, and what the contraction gives.
pub fn einsum_by(
    subscripts: &str,
    operands: &[Val],
    dtype: Option<DType>,
    contraction: Contraction<'_>,
) -> Result<Val> {
    let (inputs, output) = parse(subscripts, operands)?;
    let natural = result_type_of(operands)?;
    let preferred = dtype.unwrap_or(natural.dtype);
    let mut terms: Vec<Term> = vec![];
    for (val, labels) in operands.iter().zip(inputs) {
        terms.push(Term { val: broadcast_checked(val, &labels)?, labels });
    }
    check_sizes(&terms)?;
    while terms.len() > 2 {
        let (a, b) = cheapest_pair(&terms, &output);
        let (second, first) = (terms.remove(b), terms.remove(a));
        let kept = kept_labels(&second, &first, &terms, &output);
        terms.push(contract_pair(second, first, &kept, preferred, contraction)?);
    }
    let result = match terms.len() {
        1 => alone(terms.swap_remove(0), &output)?,
        _ => {
            let second = terms.pop().expect("two terms");
            let first = terms.pop().expect("two terms");
            contract_pair(second, first, &output, preferred, contraction)?
        }
    };
    let ordered = transpose_to(result, &output)?;
    convert(&ordered, preferred, dtype.is_none() && natural.weak_type)
}

/// Labels of each operand and of the result, with ellipses spelled out by letters of their own.
fn parse(subscripts: &str, operands: &[Val]) -> Result<(Vec<Labels>, Labels)> {
    let text: String = subscripts.chars().filter(|c| !c.is_whitespace()).collect();
    let (left, right) = match text.split_once("->") {
        Some((left, right)) => (left.to_string(), Some(right.to_string())),
        None => (text.clone(), None),
    };
    let terms: Vec<&str> = left.split(',').collect();
    if terms.len() != operands.len() {
        bail!(
            Value,
            "Number of einsum subscripts, {}, must be equal to the number of operands, {}.",
            terms.len(),
            operands.len()
        );
    }
    let mut n_hidden = 0;
    for (term, operand) in terms.iter().zip(operands) {
        let named = term.replace("...", "").chars().count();
        if term.contains("...") {
            let rank = operand.aval().rank();
            n_hidden = n_hidden.max(rank.checked_sub(named).ok_or_else(|| rank_error(term, operand))?);
        }
    }
    let inputs: Result<Vec<Labels>> = terms
        .iter()
        .zip(operands)
        .map(|(term, operand)| expand(term, operand.aval().rank(), n_hidden, operand))
        .collect();
    let inputs = inputs?;
    let output = match right {
        Some(right) => explicit_output(&right, n_hidden, &inputs)?,
        None => implicit_output(&inputs),
    };
    Ok((inputs, output))
}

/// Letters that stand for the axes under an ellipsis, the last axis last.
fn hidden(index: usize) -> char {
    char::from_u32(0xE000 + index as u32).expect("a private letter")
}

fn is_hidden(label: char) -> bool {
    ('\u{E000}'..='\u{F8FF}').contains(&label)
}

fn rank_error(term: &str, operand: &Val) -> Error {
    Error::value_error(format!(
        "Einstein sum subscript {term} does not contain the correct number of indices for operand of shape {}.",
        pullback_base::aval::tuple_text(&operand.aval().shape)
    ))
}

fn expand(term: &str, rank: usize, n_hidden: usize, operand: &Val) -> Result<Labels> {
    let labels: Labels = if let Some((before, after)) = term.split_once("...") {
        let n = rank - before.chars().count() - after.chars().count();
        before.chars().chain((n_hidden - n..n_hidden).map(hidden)).chain(after.chars()).collect()
    } else {
        term.chars().collect()
    };
    if labels.contains(&'.') {
        bail!(Value, "Invalid Ellipses.");
    }
    // Any other character is a label, a digit too.
    if let Some(bad) = labels.iter().find(|label| matches!(label, '-' | '>')) {
        bail!(Value, "Character {bad} is not a valid symbol.");
    }
    if labels.len() != rank { Err(rank_error(term, operand)) } else { Ok(labels) }
}

fn explicit_output(right: &str, n_hidden: usize, inputs: &[Labels]) -> Result<Labels> {
    let output: Labels = match right.split_once("...") {
        Some((before, after)) => before.chars().chain((0..n_hidden).map(hidden)).chain(after.chars()).collect(),
        None => right.chars().collect(),
    };
    for (i, label) in output.iter().enumerate() {
        if output[..i].contains(label) {
            bail!(Value, "Output character {label} appeared more than once in the output.");
        }
        if !inputs.iter().any(|labels| labels.contains(label)) {
            bail!(Value, "Output character '{label}' did not appear in the input");
        }
    }
    Ok(output)
}

fn implicit_output(inputs: &[Labels]) -> Labels {
    let mut counts: BTreeMap<char, usize> = BTreeMap::new();
    for &label in inputs.iter().flatten() {
        *counts.entry(label).or_default() += 1;
    }
    let hidden = counts.keys().copied().filter(|&label| is_hidden(label));
    let once = counts.iter().filter(|(label, n)| **n == 1 && !is_hidden(**label)).map(|(label, _)| *label);
    hidden.chain(once).collect()
}

fn broadcast_checked(val: &Val, labels: &Labels) -> Result<Val> {
    if labels.len() == val.aval().rank() { Ok(val.clone()) } else { Err(rank_error("", val)) }
}

fn sizes_of(terms: &[Term]) -> BTreeMap<char, usize> {
    let mut sizes = BTreeMap::new();
    for term in terms {
        for (&label, &size) in term.labels.iter().zip(&term.val.aval().shape) {
            let known = sizes.entry(label).or_insert(size);
            *known = (*known).max(size);
        }
    }
    sizes
}

fn check_sizes(terms: &[Term]) -> Result<()> {
    let sizes = sizes_of(terms);
    for term in terms {
        for (label, &size) in term.labels.iter().zip(&term.val.aval().shape) {
            if size != sizes[label] && size != 1 {
                bail!(
                    Value,
                    "Size of label '{label}' for operand ({}) does not match previous terms ({size}).",
                    sizes[label]
                );
            }
        }
    }
    Ok(())
}

/// The pair whose contraction makes the smallest result for its work: the least number of multiplications, then the
/// smallest result, then the first.
fn cheapest_pair(terms: &[Term], output: &Labels) -> (usize, usize) {
    let sizes = sizes_of(terms);
    let volume = |labels: &mut dyn Iterator<Item = char>| labels.map(|label| sizes[&label]).product::<usize>();
    let mut best = ((usize::MAX, usize::MAX), (0, 1));
    for a in 0..terms.len() {
        for b in a + 1..terms.len() {
            let mut all: Labels = terms[a].labels.iter().chain(&terms[b].labels).copied().collect();
            all.sort_unstable();
            all.dedup();
            let others = |label: &char| {
                let elsewhere = (0..terms.len()).any(|i| i != a && i != b && terms[i].labels.contains(label));
                elsewhere || output.contains(label)
            };
            let work = volume(&mut all.iter().copied());
            let result = volume(&mut all.iter().copied().filter(others));
            if (work, result) < best.0 {
                best = ((work, result), (a, b));
            }
        }
    }
    best.1
}

fn kept_labels(second: &Term, first: &Term, rest: &[Term], output: &Labels) -> Labels {
    let mut kept: Labels = vec![];
    for &label in second.labels.iter().chain(&first.labels) {
        let needed = output.contains(&label) || rest.iter().any(|term| term.labels.contains(&label));
        if needed && !kept.contains(&label) {
            kept.push(label);
        }
    }
    kept
}

/// Sums over labels that nothing else has, after taking diagonals of repeated ones.
fn alone(term: Term, kept: &Labels) -> Result<Term> {
    let term = diagonal(term, kept)?;
    let gone: Vec<usize> = (0..term.labels.len()).filter(|&i| !kept.contains(&term.labels[i])).collect();
    if gone.is_empty() {
        return Ok(term);
    }
    let val = sum_over(&term.val, &gone)?;
    Ok(Term { val, labels: term.labels.into_iter().filter(|label| kept.contains(label)).collect() })
}

/// The sum over axes; of booleans whether any holds.
fn sum_over(x: &Val, axes: &[usize]) -> Result<Val> {
    if x.aval().dtype == DType::Bool { lax::reduce_or(x, axes) } else { lax::reduce_sum(x, axes) }
}

/// A term with a label twice keeps the elements where both positions are equal: others become 0, and all but the first
/// position are summed away. When the label is not kept, all positions are.
fn diagonal(mut term: Term, kept: &Labels) -> Result<Term> {
    while let Some(label) = repeated_label(&term.labels) {
        let at: Vec<usize> = (0..term.labels.len()).filter(|&i| term.labels[i] == label).collect();
        let shape = term.val.aval().shape.to_vec();
        let first = lax::broadcasted_iota(DType::U32, &shape, at[0])?;
        let mut mask: Option<Val> = None;
        for &other in &at[1..] {
            let is_same = lax::eq(&first, &lax::broadcasted_iota(DType::U32, &shape, other)?)?;
            mask = Some(match mask {
                Some(mask) => lax::bitwise_and(&mask, &is_same)?,
                None => is_same,
            });
        }
        let mask = mask.expect("a label that repeats");
        let zeros = lax::full(&shape, &number(&term.val, 0.0))?;
        let val = lax::select(&mask, &term.val, &zeros)?;
        let gone = if kept.contains(&label) { at[1..].to_vec() } else { at };
        let labels = term.labels.iter().enumerate().filter(|(i, _)| !gone.contains(i)).map(|(_, l)| *l).collect();
        term = Term { val: sum_over(&val, &gone)?, labels };
    }
    Ok(term)
}

fn repeated_label(labels: &Labels) -> Option<char> {
    labels.iter().enumerate().find(|(i, label)| labels[..*i].contains(label)).map(|(_, label)| *label)
}

/// Axes of size 1 whose label is longer on the other side go, as they would only repeat.
fn drop_ones(term: Term, sizes: &BTreeMap<char, usize>) -> Result<Term> {
    let shape = term.val.aval().shape.to_vec();
    let gone: Vec<usize> = (0..shape.len()).filter(|&i| shape[i] == 1 && sizes[&term.labels[i]] != 1).collect();
    let labels = term.labels.iter().enumerate().filter(|(i, _)| !gone.contains(i)).map(|(_, l)| *l).collect();
    Ok(Term { val: lax::squeeze_axes(&term.val, &gone)?, labels })
}

fn contract_pair(left: Term, right: Term, kept: &Labels, dtype: DType, contraction: Contraction<'_>) -> Result<Term> {
    let sizes = sizes_of(&[
        Term { val: left.val.clone(), labels: left.labels.clone() },
        Term { val: right.val.clone(), labels: right.labels.clone() },
    ]);
    let (left, right) = (drop_ones(left, &sizes)?, drop_ones(right, &sizes)?);
    let needed = |other: &Term| -> Labels { kept.iter().chain(&other.labels).copied().collect() };
    let (left_needs, right_needs) = (needed(&right), needed(&left));
    let (left, right) = (alone(left, &left_needs)?, alone(right, &right_needs)?);
    let shared = |label: &&char| right.labels.contains(label);
    let batch: Labels = left.labels.iter().filter(shared).filter(|l| kept.contains(l)).copied().collect();
    let summed: Labels = left.labels.iter().filter(shared).filter(|l| !kept.contains(l)).copied().collect();
    let free = |term: &Term| -> Labels {
        term.labels.iter().filter(|l| !batch.contains(l) && !summed.contains(l)).copied().collect()
    };
    let swapped: Labels = [batch.clone(), free(&right), free(&left)].concat();
    let (first, second) = if swapped == *kept { (right, left) } else { (left, right) };
    let labels: Labels = [batch.clone(), free(&first), free(&second)].concat();
    let position = |term: &Term, label: &char| term.labels.iter().position(|l| l == label).expect("a shared label");
    let axes = |of: &Labels| [&first, &second].map(|term| of.iter().map(|l| position(term, l)).collect::<Vec<_>>());
    // Contracted axes are listed in the order of the first operand.
    let mut summed = summed;
    summed.sort_by_key(|label| position(&first, label));
    let dims = DotDimensions { contract: axes(&summed), batch: axes(&batch) };
    Ok(Term { val: contraction(&first.val, &second.val, dims, dtype)?, labels })
}

fn transpose_to(term: Term, output: &Labels) -> Result<Val> {
    let position = |label: &char| term.labels.iter().position(|l| l == label);
    let order: Option<Vec<usize>> = output.iter().map(position).collect();
    let order = order.ok_or_else(|| Error::internal("einsum lost a label on the way"))?;
    lax::transpose(&term.val, &order)
}
