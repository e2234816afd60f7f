//! Batches: functions of one example run for all at once.

use std::cell::RefCell;
use std::panic::Location;

use pullback_base::{Error, Result, Span, bail};
use pullback_ir::{Batch, Val};

use super::{Output, call_flat, rebuild, vals};
use crate::array::caught;
use crate::tree::{Tree, leaves_of};

/// Where the batch axis of a tree `T` is: a number for all of its arrays, counted from the end when negative, `None` for
/// what all examples share, or for tuples and `Vec`s one of these for each entry. That there are as many as entries is seen
/// when the program is compiled.
pub trait AxesOf<T: Tree> {
    /// Appends the axis of each leaf.
    ///
    /// # Errors
    /// A `Value` error when there are not as many axes as entries.
    fn axes(&self, tree: &T, into: &mut Vec<Option<i64>>) -> Result<()>;
}

impl<T: Tree> AxesOf<T> for i64 {
    fn axes(&self, tree: &T, into: &mut Vec<Option<i64>>) -> Result<()> {
        Some(*self).axes(tree, into)
    }
}

impl<T: Tree> AxesOf<T> for Option<i64> {
    fn axes(&self, tree: &T, into: &mut Vec<Option<i64>>) -> Result<()> {
        into.extend(leaves_of(tree).iter().map(|_| *self));
        Ok(())
    }
}

impl<T: Tree, X: AxesOf<T>> AxesOf<Vec<T>> for Vec<X> {
    fn axes(&self, tree: &Vec<T>, into: &mut Vec<Option<i64>>) -> Result<()> {
        if self.len() != tree.len() {
            bail!(Value, "vmap got {} axes for {} entries", self.len(), tree.len());
        }
        self.iter().zip(tree).try_for_each(|(axes, item)| axes.axes(item, into))
    }
}

/// One axis for each leaf, in the order of the leaves.
pub struct EachLeaf(pub Vec<Option<i64>>);

impl<T: Tree> AxesOf<T> for EachLeaf {
    fn axes(&self, tree: &T, into: &mut Vec<Option<i64>>) -> Result<()> {
        let (have, want) = (self.0.len(), leaves_of(tree).len());
        if have != want {
            bail!(Value, "vmap got {have} axes for {want} leaves");
        }
        into.extend(&self.0);
        Ok(())
    }
}

/// An axis by the name of the leaf, as [`Tree::names`] gives it.
pub struct ByName<F>(pub F);

impl<T: Tree, F: Fn(&str) -> Option<i64>> AxesOf<T> for ByName<F> {
    fn axes(&self, tree: &T, into: &mut Vec<Option<i64>>) -> Result<()> {
        let mut names = vec![];
        tree.names("", &mut names);
        into.extend(names.iter().map(|name| (self.0)(name)));
        Ok(())
    }
}

macro_rules! tuples {
    ($(($($T:ident $X:ident $i:tt),+);)*) => {$(
        impl<$($T: Tree, $X: AxesOf<$T>),+> AxesOf<($($T,)+)> for ($($X,)+) {
            fn axes(&self, tree: &($($T,)+), into: &mut Vec<Option<i64>>) -> Result<()> {
                $(self.$i.axes(&tree.$i, into)?;)+
                Ok(())
            }
        }
    )*};
}
tuples! {
    (A X0 0);
    (A X0 0, B X1 1);
    (A X0 0, B X1 1, C X2 2);
    (A X0 0, B X1 1, C X2 2, D X3 3);
    (A X0 0, B X1 1, C X2 2, D X3 3, E X4 4);
    (A X0 0, B X1 1, C X2 2, D X3 3, E X4 4, F X5 5);
}

type Axes<T> = Box<dyn Fn(&T) -> Result<Vec<Option<i64>>> + Send + Sync>;

fn boxed<T: Tree>(axes: impl AxesOf<T> + Send + Sync + 'static) -> Axes<T> {
    Box::new(move |tree| {
        let mut found = vec![];
        axes.axes(tree, &mut found)?;
        Ok(found)
    })
}

/// How [`vmap_with`] forms batches of arguments `A` to results `B`.
pub struct Batching<A, B> {
    ins: Axes<A>,
    outs: Axes<B>,
    size: Option<usize>,
}

impl<A: Tree, B: Tree> Batching<A, B> {
    fn new() -> Batching<A, B> {
        Batching { ins: boxed(0), outs: boxed(0), size: None }
    }

    /// The batch axes of the argument; the first ones if nothing is said.
    #[must_use]
    pub fn in_axes(self, axes: impl AxesOf<A> + Send + Sync + 'static) -> Batching<A, B> {
        Batching { ins: boxed(axes), ..self }
    }

    /// The batch axes of the result; the first ones if nothing is said.
    #[must_use]
    pub fn out_axes(self, axes: impl AxesOf<B> + Send + Sync + 'static) -> Batching<A, B> {
        Batching { outs: boxed(axes), ..self }
    }

    /// The number of examples, for arguments of which none has a batch axis.
    #[must_use]
    pub fn size(self, size: usize) -> Batching<A, B> {
        Batching { size: Some(size), ..self }
    }

    fn run(&self, arg: &A, f: &mut dyn FnMut(&[Val]) -> Result<(Vec<Val>, B)>) -> Result<B> {
        let (flat, axes) = (vals(arg)?, (self.ins)(arg)?);
        let mut args = vec![];
        for (val, axis) in flat.into_iter().zip(axes) {
            let axis = axis.map(|axis| counted(&val, axis)).transpose()?;
            args.push((val, axis));
        }
        let batch = Batch { size: batch_size(&args, self.size)?, name: None, split: None };
        let structure = RefCell::new(None);
        let mut run = |args: &[Val]| {
            let (outs, out) = f(args)?;
            structure.replace(Some(out));
            Ok(outs)
        };
        let missing = || Error::internal("the function ran");
        let mut places = |_| structure.borrow().as_ref().ok_or_else(missing).and_then(|out| (self.outs)(out));
        let outs = pullback_trace::vmap(&mut run, &batch, &args, &mut places)?;
        Ok(rebuild(&structure.take().ok_or_else(missing)?, outs))
    }
}

/// The function that runs `f` for all examples at once: every leaf of the argument and of the result has the batch in
/// front.
///
/// ```
/// use pullback::prelude::*;
///
/// let norms = vmap(|row: &Array| row.square().sum().sqrt());
/// assert_eq!(norms(&arr![[3.0, 4.0], [6.0, 8.0]])?, arr![5.0, 10.0]);
/// # Ok::<(), pullback::Error>(())
/// ```
///
/// # Errors
/// The returned function gives a `Value` error when leaves differ in length or have no axis, and what waits in an
/// operation of `f`.
#[track_caller]
pub fn vmap<A: Tree, R: Output>(f: impl Fn(&A) -> R) -> impl Fn(&A) -> Result<R::Tree> {
    vmap_with(f, |batching| batching)
}

/// As [`vmap`], with the batch axes of arguments and results.
///
/// ```
/// use pullback::prelude::*;
///
/// let predict = |(w, x): &(Array, Array)| w.matmul(x);
/// let batched = vmap_with(predict, |v| v.in_axes((None, 0)).out_axes(1));
/// let (w, xs) = (ones(&[3, 2]), ones(&[5, 2]));
/// assert_eq!(batched(&(w, xs))?.shape(), [3, 5]);
/// # Ok::<(), pullback::Error>(())
/// ```
///
/// Axes for another number of arguments do not compile:
/// ```compile_fail
/// use pullback::prelude::*;
/// let predict = |(w, x): &(Array, Array)| w.matmul(x);
/// let batched = vmap_with(predict, |v| v.in_axes((None, 0, 0)));
/// ```
///
/// # Errors
/// As [`vmap`]; the returned function gives a `Value` error for axes that do not exist.
#[track_caller]
pub fn vmap_with<A: Tree, R: Output>(
    f: impl Fn(&A) -> R,
    batching: impl FnOnce(Batching<A, R::Tree>) -> Batching<A, R::Tree>,
) -> impl Fn(&A) -> Result<R::Tree> {
    let span = Span::of(Location::caller());
    let batching = batching(Batching::new());
    move |arg| {
        let mut flat = |args: &[Val]| {
            let mut structure = None;
            let outs = call_flat(&f, arg, args, &mut structure)?;
            Ok((outs, structure.ok_or_else(|| Error::internal("the function ran"))?))
        };
        span.scope(|| batching.run(arg, &mut flat))
    }
}

/// As [`vmap`] for a function that takes its argument: the way to give each example a key of its own.
///
/// ```
/// use pullback::prelude::*;
///
/// let noisy = vmap_owned(|(key, x): (Key, Array)| key.normal(&[]) * 0.1 + x);
/// assert_eq!(noisy((Key::seed(0).split_many(3), arr![1.0, 2.0, 3.0]))?.shape(), [3]);
/// # Ok::<(), pullback::Error>(())
/// ```
///
/// # Errors
/// As [`vmap`].
#[track_caller]
pub fn vmap_owned<A: Tree, R: Output>(f: impl Fn(A) -> R) -> impl Fn(A) -> Result<R::Tree> {
    let span = Span::of(Location::caller());
    let batching = Batching::<A, R::Tree>::new();
    move |arg| {
        let mut flat = |args: &[Val]| {
            let out = caught(|| f(rebuild(&arg, args.iter().cloned())).into_result())?;
            Ok((vals(&out)?, out))
        };
        span.scope(|| batching.run(&arg, &mut flat))
    }
}

/// A batch axis from the front.
fn counted(val: &Val, axis: i64) -> Result<usize> {
    let shape = &val.aval().data().shape;
    let from_front = if axis < 0 { axis + shape.len() as i64 } else { axis };
    match usize::try_from(from_front) {
        Ok(axis) if axis < shape.len() => Ok(axis),
        _ => bail!(Value, "vmap was requested to map its argument along axis {axis}, but its shape is {shape:?}"),
    }
}

fn batch_size(args: &[(Val, Option<usize>)], given: Option<usize>) -> Result<usize> {
    let mut size = given;
    for (val, axis) in args {
        let Some(axis) = *axis else { continue };
        let here = val.aval().shape[axis];
        let known = *size.get_or_insert(here);
        if known != here {
            bail!(Value, "vmap got inconsistent sizes for array axes to be mapped: {here} and {known}");
        }
    }
    size.ok_or_else(|| Error::value_error("vmap must have at least one leaf with a batch axis, or be told the size"))
}
