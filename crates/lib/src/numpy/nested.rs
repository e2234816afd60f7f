//! Arguments that are arrays in sequences of any depth, some of which may be left out.

use pullback_base::tree::{Node, TreeDef};
use pullback_base::{Error, Result, bail};
use pullback_ir::Val;

use crate::declare::{Argument, Arguments, Constant, Tree, Type};

/// An array, nothing, or a sequence of such.
#[derive(Clone, Debug)]
pub enum Nest {
    /// Nothing.
    None,
    /// An array or number.
    Leaf(Val),
    /// A list.
    List(Vec<Nest>),
    /// A tuple.
    Tuple(Vec<Nest>),
}

impl Nest {
    fn of(structure: &TreeDef, leaves: &mut impl Iterator<Item = Val>) -> Result<Nest> {
        let mut each = || structure.children().iter().map(|child| Nest::of(child, leaves)).collect::<Result<Vec<_>>>();
        Ok(match structure.node() {
            Node::Leaf => Nest::Leaf(leaves.next().ok_or_else(|| Error::internal("a tree lacks a leaf"))?),
            Node::None => Nest::None,
            Node::Tuple => Nest::Tuple(each()?),
            Node::List => Nest::List(each()?),
            Node::Dict(_) | Node::Custom(_) => bail!(Type, "numbers in lists or tuples are expected here"),
        })
    }

    /// The items of a sequence.
    pub(crate) fn items(&self) -> Option<&[Nest]> {
        match self {
            Nest::List(items) | Nest::Tuple(items) => Some(items),
            Nest::None | Nest::Leaf(_) => None,
        }
    }

    /// The arrays of a sequence, or the slices of an array.
    pub(crate) fn arrays(&self, what: &str) -> Result<Vec<Val>> {
        match self {
            Nest::Leaf(rows) if rows.aval().rank() > 0 => {
                (0..rows.aval().shape[0]).map(|i| super::parts::slice_at(rows, 0, i as i64)).collect()
            }
            Nest::Leaf(_) | Nest::None => bail!(Type, "{what} are not a sequence"),
            Nest::List(items) | Nest::Tuple(items) => items.iter().map(Nest::stacked).collect(),
        }
    }

    /// The array that `array` makes of it.
    pub(crate) fn stacked(&self) -> Result<Val> {
        match self {
            Nest::Leaf(val) => Ok(val.clone()),
            Nest::None => bail!(Type, "None is no number"),
            Nest::List(items) | Nest::Tuple(items) => {
                let parts: Vec<Val> = items.iter().map(Nest::stacked).collect::<Result<_>>()?;
                if parts.is_empty() { super::zeros(&[0], None) } else { super::stack(&parts, 0, None) }
            }
        }
    }
}

impl Argument for Nest {
    const TYPE: Type = Type { python: "ArrayLike | Sequence[Any]", rust: "&[Array]" };
    fn read(args: &mut dyn Arguments, at: usize) -> Result<Nest> {
        if args.is_array(at) {
            return args.array(at).map(Nest::Leaf);
        }
        match args.tree(at) {
            Ok(Tree { leaves, structure }) => Nest::of(&structure, &mut leaves.into_iter()),
            // A front without trees has sequences.
            Err(error) => match args.arrays(at) {
                Ok(parts) => Ok(Nest::List(parts.into_iter().map(Nest::Leaf).collect())),
                Err(_) => Err(error),
            },
        }
    }
    fn absent(default: Constant) -> Nest {
        match default {
            Constant::None => Nest::None,
            other => Nest::Leaf(Val::absent(other)),
        }
    }
}
