//! What each operation does with marks.
//!
//! In a linear program a plain operand that is added to a linear one, selected instead of it or put around it is a zero, or
//! the program would not be linear. So such an operand is dead where it is zero, which is looked at, not believed.

use pullback_base::{Result, Scalar};
use pullback_ir::{Emit, Params, PrimRef, Val};

use super::{Marked, Marks, contraction, control};
use crate::prims::*;
use crate::transforms::is_edge_divisor;

/// The results of an application with at least one linear operand.
pub(super) fn apply(e: &dyn Emit, prim: PrimRef, params: &Params, ins: &[Marked]) -> Result<Vec<Marked>> {
    if let Some(outs) = control::apply(e, prim, params, ins)? {
        return Ok(outs);
    }
    let one = |out: Result<Marked>| out.map(|out| vec![out]);
    match prim {
        _ if prim == MUL => one(product(e, ins)),
        _ if prim == DIV && ins[1].1.is_none() => one(quotient(e, ins)),
        _ if prim == ADD || prim == ADD_ANY || prim == SUB || prim == COMPLEX => one(sum(e, prim, params, ins)),
        _ if prim == SELECT_N && ins[0].1.is_none() => one(choice(e, params, ins)),
        _ if prim == REDUCE_SUM => one(reduction(e, prim, params, ins)),
        _ if prim == DOT_GENERAL => one(contraction::dot(e, prim, params, ins)),
        _ if prim == CONV_GENERAL_DILATED => one(contraction::convolution(e, prim, params, ins)),
        _ if prim == OPTIMIZATION_BARRIER => unchanged(e, prim, params, ins),
        _ if KEEPING.contains(&prim) => unchanged(e, prim, params, ins),
        _ => match data_operands(prim, ins.len()) {
            Some((data, Moves::Elements)) if indices_are_plain(ins, &data) => moved(e, prim, params, ins, &data),
            Some((data, Moves::Sums)) if indices_are_plain(ins, &data) => one(summed(e, prim, params, ins, &data)),
            _ => unmarked(e, prim, params, ins),
        },
    }
}

/// Elementwise operations that are zero where their operand is, and infinite where it is.
const KEEPING: &[PrimRef] =
    &[NEG, CONVERT_ELEMENT_TYPE, COPY, CONJ, REAL, IMAG, REDUCE_PRECISION, NAME, PVARY, STOP_GRADIENT];

enum Moves {
    /// Each element of the result is one of an operand.
    Elements,
    /// Each element of the result is a sum of some.
    Sums,
}

/// Which operands are data; the others are positions.
fn data_operands(prim: PrimRef, n: usize) -> Option<(Vec<usize>, Moves)> {
    const ALL_OPERANDS: &[PrimRef] =
        &[REV, TILE, BROADCAST_IN_DIM, RESHAPE, SQUEEZE, SLICE, SPLIT, TRANSPOSE, UNSTACK, CONCATENATE, STACK, PAD];
    match prim {
        _ if ALL_OPERANDS.contains(&prim) => Some(((0..n).collect(), Moves::Elements)),
        _ if prim == DYNAMIC_SLICE => Some((vec![0], Moves::Elements)),
        _ if prim == DYNAMIC_UPDATE_SLICE => Some((vec![0, 1], Moves::Elements)),
        _ if prim == GATHER || prim == CUMSUM || prim == REDUCE_WINDOW_SUM => Some((vec![0], Moves::Sums)),
        _ if prim == SCATTER || prim == SCATTER_ADD => Some((vec![0, 2], Moves::Sums)),
        _ => None,
    }
}

fn indices_are_plain(ins: &[Marked], data: &[usize]) -> bool {
    ins.iter().enumerate().all(|(i, (_, marks))| marks.is_none() || data.contains(&i))
}

fn values(ins: &[Marked]) -> Vec<Val> {
    ins.iter().map(|(value, _)| value.clone()).collect()
}

/// Ordinary differentiation: results that can be linear are, without marks.
pub(super) fn unmarked(e: &dyn Emit, prim: PrimRef, params: &Params, ins: &[Marked]) -> Result<Vec<Marked>> {
    let outs = e.bind(prim, params, &values(ins))?;
    let mark = |out: Val| {
        let marks = out.aval().dtype.is_inexact().then(Marks::default);
        (out, marks)
    };
    Ok(outs.into_iter().map(mark).collect())
}

fn unchanged(e: &dyn Emit, prim: PrimRef, params: &Params, ins: &[Marked]) -> Result<Vec<Marked>> {
    let outs = unmarked(e, prim, params, ins)?;
    let keep = |((out, own), (_, marks)): (Marked, &Marked)| (out, own.and(marks.clone()));
    Ok(outs.into_iter().zip(ins).map(keep).collect())
}

/// `false` or `true` everywhere.
pub(super) fn everywhere(e: &dyn Emit, value: bool, shape: &[usize]) -> Result<Val> {
    V::new(e, &Val::Literal(Scalar::bool(value))).broadcast_to(shape).done()
}

/// Where an operand is dead, of its shape or with size 1 along axes that do not matter; for a plain one where it is zero.
pub(super) fn dead_plane(e: &dyn Emit, (value, marks): &Marked) -> Result<Val> {
    let shape = value.aval().shape.to_vec();
    match (marks, value) {
        (Some(Marks { dead: Some(dead), .. }), _) => Ok(dead.clone()),
        (Some(_), _) => everywhere(e, false, &vec![1; shape.len()]),
        (None, Val::Literal(scalar)) => Ok(Val::Literal(Scalar::bool(!scalar.is_nonzero()))),
        (None, _) => {
            let value = V::new(e, value);
            value.eq(&value.number(0.0)).done()
        }
    }
}

fn edge_plane(e: &dyn Emit, (value, marks): &Marked) -> Result<Val> {
    match marks {
        Some(Marks { edge: Some(edge), .. }) => Ok(edge.clone()),
        _ => everywhere(e, false, &value.aval().shape),
    }
}

/// Whether some operand is dead or a plain zero somewhere.
fn may_be_dead((_, marks): &Marked) -> bool {
    marks.as_ref().is_none_or(|marks| marks.dead.is_some())
}

fn has_edge((_, marks): &Marked) -> bool {
    marks.as_ref().is_some_and(|marks| marks.edge.is_some())
}

/// The value with zeros where `dead` says.
pub(super) fn with_zeros<'e>(value: &V<'e>, dead: &V<'e>) -> V<'e> {
    dead.broadcast_to(&value.aval().shape).select(value, &value.full(0.0))
}

/// Two sets of one rank in the least shape that holds both.
fn alike<'e>(a: &V<'e>, b: &V<'e>) -> [V<'e>; 2] {
    let shape: Vec<usize> =
        a.aval().shape.iter().zip(b.aval().shape.iter()).map(|(&a, &b)| if a == 1 { b } else { a }).collect();
    [a.broadcast_to(&shape), b.broadcast_to(&shape)]
}

/// Either of two sets, each of which may be empty.
fn union<'e>(a: Option<V<'e>>, b: Option<V<'e>>) -> Option<V<'e>> {
    match (a, b) {
        (Some(a), Some(b)) => {
            let [a, b] = alike(&a, &b);
            Some(a.or(&b))
        }
        (a, b) => a.or(b),
    }
}

/// A set of a value that is repeated to `rank` axes as that value is: with size 1 where nothing is known to differ.
fn lifted<'e>(e: &'e dyn Emit, plane: &Val, rank: usize) -> V<'e> {
    let plane = V::new(e, plane);
    let own = plane.aval().shape.to_vec();
    if own.len() == rank {
        return plane;
    }
    let shape: Vec<usize> = std::iter::repeat_n(1, rank - own.len()).chain(own).collect();
    plane.reshape(&shape)
}

fn done(set: Option<V<'_>>) -> Result<Option<Val>> {
    set.map(V::done).transpose()
}

fn is_infinite<'e>(x: &V<'e>) -> V<'e> {
    x.abs().eq(&x.abs().number(f64::INFINITY))
}

/// The shape of two operands together.
fn joint_shape(a: &V<'_>, b: &V<'_>) -> Vec<usize> {
    let (a, b) = (a.aval().shape.to_vec(), b.aval().shape.to_vec());
    match (a.len(), b.len()) {
        (_, 0) => a,
        (0, _) => b,
        _ => a.iter().zip(&b).map(|(&a, &b)| if a == 1 { b } else { a }).collect(),
    }
}

/// A known factor or divisor with ones where the linear operand is dead: zero stays zero there, and nothing that is not finite
/// is met. A finite number needs no filter.
fn filtered<'e>(x: &V<'e>, val: &Val, dead: &V<'e>, shape: &[usize]) -> V<'e> {
    if matches!(val, Val::Literal(scalar) if scalar.is_nonzero() && scalar.as_f64().is_finite()) {
        return x.clone();
    }
    let whole = x.broadcast_to(shape);
    dead.broadcast_to(shape).select(&whole, &whole.full(1.0))
}

/// Dead where a factor is; an edge times an exact zero is zero.
fn product(e: &dyn Emit, ins: &[Marked]) -> Result<Marked> {
    let [a, b] = [V::new(e, &ins[0].0), V::new(e, &ins[1].0)];
    let shape = joint_shape(&a, &b);
    let set = |plane: &Val| lifted(e, plane, shape.len());
    let dead_of = |i: usize| ins[i].1.as_ref().and_then(|marks| marks.dead.as_ref()).map(set);
    let is_both = ins.iter().all(|(_, marks)| marks.is_some());
    let plain = match (dead_of(0), dead_of(1)) {
        (Some(dead), None) if !is_both => &a * &filtered(&b, &ins[1].0, &dead, &shape),
        (None, Some(dead)) if !is_both => &filtered(&a, &ins[0].0, &dead, &shape) * &b,
        _ => &a * &b,
    };
    let plain = V::new(e, &plain.done()?);
    let dead = union(dead_of(0), dead_of(1));
    let (zero, edge) = edges_of_product(e, ins, &shape);
    let value = match if is_both { union(dead.clone(), zero) } else { zero } {
        Some(set) => with_zeros(&plain, &set),
        None => plain,
    };
    let edge = edge.map(|edge| edge.and(&is_infinite(&value)));
    Ok((value.done()?, Some(Marks { dead: done(dead)?, edge: done(edge)? })))
}

/// Where an edge meets an exact zero, and where the result may be an edge.
fn edges_of_product<'e>(e: &'e dyn Emit, ins: &[Marked], shape: &[usize]) -> (Option<V<'e>>, Option<V<'e>>) {
    let (mut zero, mut edge) = (None, None);
    for (own, other) in [(0, 1), (1, 0)] {
        let Some(own_edge) = ins[own].1.as_ref().and_then(|marks| marks.edge.as_ref()) else { continue };
        let other = V::new(e, &ins[other].0);
        let is_edge = V::new(e, own_edge).broadcast_to(shape);
        let other_is_zero = other.eq(&other.number(0.0)).broadcast_to(shape);
        zero = union(zero, Some(is_edge.and(&other_is_zero)));
        edge = union(edge, Some(is_edge));
    }
    (zero, edge)
}

/// Dead where the dividend is, whatever the divisor. A quotient by the edge divisor makes edges, and zero of an exact zero.
fn quotient(e: &dyn Emit, ins: &[Marked]) -> Result<Marked> {
    let [a, b] = [V::new(e, &ins[0].0), V::new(e, &ins[1].0)];
    let shape = joint_shape(&a, &b);
    let marks = ins[0].1.clone().unwrap_or_default();
    let dead = marks.dead.as_ref().map(|plane| lifted(e, plane, shape.len()));
    if is_edge_divisor(&ins[1].0) {
        return edge_quotient(e, &a, dead);
    }
    let value = match &dead {
        Some(dead) => &a / &filtered(&b, &ins[1].0, dead, &shape),
        None => &a / &b,
    };
    let value = V::new(e, &value.done()?);
    let edge = marks.edge.as_ref().map(|edge| V::new(e, edge).broadcast_to(&shape).and(&is_infinite(&value)));
    Ok((value.done()?, Some(Marks { dead: done(dead)?, edge: done(edge)? })))
}

/// Edges, but zero for exact zeros, of which the dead are some.
fn edge_quotient<'e>(e: &'e dyn Emit, a: &V<'e>, dead: Option<V<'e>>) -> Result<Marked> {
    let is_zero = a.eq(&a.number(0.0));
    let minus_zero = V::new(e, &a.number(-0.0).done()?).broadcast_to(&a.aval().shape);
    let value = a / &is_zero.select(&minus_zero, &minus_zero.full(1.0));
    let value = V::new(e, &value.done()?);
    let edge = is_infinite(&value).done()?;
    Ok((value.done()?, Some(Marks { dead: done(dead)?, edge: Some(edge) })))
}

/// Dead where all are; an edge where one is and all others are finite or edges.
fn sum(e: &dyn Emit, prim: PrimRef, params: &Params, ins: &[Marked]) -> Result<Marked> {
    let value = e.bind(prim, params, &values(ins))?.swap_remove(0);
    let shape = value.aval().shape.to_vec();
    let plane = |plane: Val| V::new(e, &plane).broadcast_to(&shape);
    let dead = match ins.iter().all(may_be_dead) {
        true => {
            let [a, b] = [dead_plane(e, &ins[0])?, dead_plane(e, &ins[1])?];
            let [a, b] = alike(&lifted(e, &a, shape.len()), &lifted(e, &b, shape.len()));
            Some(a.and(&b))
        }
        false => None,
    };
    let mut edge = None;
    if ins.iter().any(has_edge) && value.aval().dtype.is_float() {
        let [a, b] = [plane(edge_plane(e, &ins[0])?), plane(edge_plane(e, &ins[1])?)];
        let fine = |i: usize, edge: &V<'_>| -> Result<Val> {
            V::new(e, &ins[i].0).is_finite().broadcast_to(&shape).or(&V::new(e, &edge.clone().done()?)).done()
        };
        edge = Some(a.or(&b).and(&V::new(e, &fine(0, &a)?)).and(&V::new(e, &fine(1, &b)?)));
    }
    Ok((value, Some(Marks { dead: done(dead)?, edge: done(edge)? })))
}

/// The marks are chosen as the values are.
fn choice(e: &dyn Emit, params: &Params, ins: &[Marked]) -> Result<Marked> {
    let value = e.bind(SELECT_N, params, &values(ins))?.swap_remove(0);
    let cases = &ins[1..];
    let chosen = |planes: Result<Vec<Val>>| -> Result<Val> {
        let mut all = vec![ins[0].0.clone()];
        all.extend(planes?);
        Ok(e.bind(SELECT_N, params, &all)?.swap_remove(0))
    };
    let dead = match cases.iter().any(may_be_dead) {
        true => Some(chosen(cases.iter().map(|case| full_plane(e, dead_plane(e, case)?, case)).collect())?),
        false => None,
    };
    let edge = match cases.iter().any(has_edge) {
        true => Some(chosen(cases.iter().map(|case| edge_plane(e, case)).collect())?),
        false => None,
    };
    Ok((value, Some(Marks { dead, edge })))
}

fn full_plane(e: &dyn Emit, plane: Val, (value, _): &Marked) -> Result<Val> {
    V::new(e, &plane).broadcast_to(&value.aval().shape).done()
}

/// Dead where all that is summed is.
fn reduction(e: &dyn Emit, prim: PrimRef, params: &Params, ins: &[Marked]) -> Result<Marked> {
    let value = e.bind(prim, params, &values(ins))?.swap_remove(0);
    let axes = &params.get::<ReduceSum>().expect("params of a sum").axes;
    let dead = ins[0].1.as_ref().and_then(|marks| marks.dead.as_ref());
    let dead = dead.map(|dead| V::new(e, dead).reduce_and(axes));
    Ok((value, Some(Marks { dead: done(dead)?, edge: None })))
}

/// Marks move as the elements do.
fn moved(e: &dyn Emit, prim: PrimRef, params: &Params, ins: &[Marked], data: &[usize]) -> Result<Vec<Marked>> {
    let outs = e.bind(prim, params, &values(ins))?;
    let follow = |has: &dyn Fn(&Marked) -> bool, plane: &dyn Fn(&Marked) -> Result<Val>| -> Result<Vec<Option<Val>>> {
        if !data.iter().any(|&i| has(&ins[i])) {
            return Ok(vec![None; outs.len()]);
        }
        let mut all = values(ins);
        for &i in data {
            all[i] = plane(&ins[i])?;
        }
        Ok(e.bind(prim, params, &all)?.into_iter().map(Some).collect())
    };
    let dead = match thin(e, prim, params, ins)? {
        Some(dead) => vec![Some(dead)],
        None => follow(&may_be_dead, &|x| full_plane(e, dead_plane(e, x)?, x))?,
    };
    let edge = follow(&has_edge, &|x| edge_plane(e, x))?;
    let marked = dead.into_iter().zip(edge).map(|(dead, edge)| Some(Marks { dead, edge }));
    Ok(outs.into_iter().zip(marked).collect())
}

/// The marks of a repetition or a permutation, as thin as they were.
fn thin(e: &dyn Emit, prim: PrimRef, params: &Params, ins: &[Marked]) -> Result<Option<Val>> {
    let Some(dead) = ins[0].1.as_ref().and_then(|marks| marks.dead.clone()) else { return Ok(None) };
    if prim == TRANSPOSE {
        return Ok(Some(e.bind(prim, params, &[dead])?.swap_remove(0)));
    }
    let Some(p) = params.get::<BroadcastInDim>().filter(|_| prim == BROADCAST_IN_DIM && ins.len() == 1) else {
        return Ok(None);
    };
    let mut shape = vec![1; p.shape.len()];
    for (&axis, &size) in p.broadcast_dimensions.iter().zip(dead.aval().shape.iter()) {
        shape[axis] = size;
    }
    V::new(e, &dead).reshape(&shape).done().map(Some)
}

/// The same sum of ones for what is alive says how many living ones each element has.
fn summed(e: &dyn Emit, prim: PrimRef, params: &Params, ins: &[Marked], data: &[usize]) -> Result<Marked> {
    let value = e.bind(prim, params, &values(ins))?.swap_remove(0);
    let dead = match data.iter().any(|&i| may_be_dead(&ins[i])) {
        true => {
            let mut all = values(ins);
            for &i in data {
                let dead = V::new(e, &full_plane(e, dead_plane(e, &ins[i])?, &ins[i])?);
                all[i] = dead.not().convert(ins[i].0.aval().dtype).done()?;
            }
            let alive = V::new(e, &e.bind(prim, params, &all)?.swap_remove(0));
            Some(alive.eq(&alive.number(0.0)))
        }
        false => None,
    };
    Ok((value, Some(Marks { dead: done(dead)?, edge: None })))
}
