//! Abstract values: shape, element type and weak type of an array, interned.
//!
//! An [`Aval`] is one pointer, compared and hashed as such. Interned avals are never freed: a program meets few
//! distinct ones, each about a hundred bytes. How a value is split over devices is part of it ([`Sharding`]).

use std::collections::HashSet;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::{Arc, LazyLock, Mutex};

use smallvec::SmallVec;

use crate::array::place::Spec;
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::sharding::{Sharding, size_text};

/// Sizes of the axes, outermost first.
pub type Shape = SmallVec<[usize; 4]>;

/// What is known of an array without its elements.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct AvalData {
    /// Sizes of the axes.
    pub shape: Shape,
    /// Element type.
    pub dtype: DType,
    /// Whether the element type yields to others in promotion, as that of a Python scalar does.
    pub weak_type: bool,
    /// Named axes of devices along which the value may differ, in alphabetical order.
    pub vma: Vec<Arc<str>>,
    /// How explicit axes of a mesh split the array; nothing where none does.
    pub sharding: Option<Sharding>,
}

/// An interned abstract value. Two are equal exactly when shape, dtype, weak type and varying axes are.
#[derive(Clone, Copy)]
pub struct Aval(&'static AvalData);

static INTERNED: LazyLock<Mutex<HashSet<&'static AvalData, rustc_hash::FxBuildHasher>>> = LazyLock::new(Mutex::default);

impl Aval {
    /// The aval of a strongly typed array.
    pub fn new(shape: &[usize], dtype: DType) -> Aval {
        Aval::with_weak_type(shape, dtype, false)
    }

    /// The aval of an array whose weak type is given.
    pub fn with_weak_type(shape: &[usize], dtype: DType, weak_type: bool) -> Aval {
        Aval::intern(AvalData { shape: Shape::from_slice(shape), dtype, weak_type, vma: vec![], sharding: None })
    }

    /// The aval of a scalar.
    pub fn scalar(dtype: DType, weak_type: bool) -> Aval {
        Aval::with_weak_type(&[], dtype, weak_type)
    }

    fn intern(data: AvalData) -> Aval {
        thread_local!(static RECENT: std::cell::RefCell<HashSet<&'static AvalData, rustc_hash::FxBuildHasher>> = std::cell::RefCell::default());
        RECENT.with_borrow_mut(|recent| {
            if let Some(known) = recent.get(&data) {
                return Aval(known);
            }
            let known = Aval::intern_globally(data);
            recent.insert(known);
            Aval(known)
        })
    }

    fn intern_globally(data: AvalData) -> &'static AvalData {
        let mut table = INTERNED.lock().expect("interning never panics");
        if let Some(known) = table.get(&data) {
            return known;
        }
        let known: &'static AvalData = Box::leak(Box::new(data));
        table.insert(known);
        known
    }

    /// What is interned; it lives forever.
    pub fn data(self) -> &'static AvalData {
        self.0
    }

    /// Number of axes.
    pub fn rank(self) -> usize {
        self.0.shape.len()
    }

    /// Number of elements; the greatest number where there are more ([`Aval::check_extent`]).
    pub fn size(self) -> usize {
        extent(&self.0.shape)
    }

    /// Bytes of all elements; the greatest number where there are more.
    pub fn size_bytes(self) -> usize {
        self.size().saturating_mul(self.0.dtype.size_bytes())
    }

    /// Whether positions in such an array can be counted: abstract values may have any shape, memory may not. Axes of
    /// no elements do not help, as the strides of the others are counted too.
    ///
    /// # Errors
    /// `Runtime` when the number of bytes is 2⁶³ or more.
    pub fn check_extent(self) -> Result<()> {
        let axes = self.0.shape.iter().map(|&axis| axis.max(1));
        let bytes = axes.chain([self.0.dtype.size_bytes().max(1)]).try_fold(1_usize, usize::checked_mul);
        match bytes.and_then(|bytes| isize::try_from(bytes).ok()) {
            Some(_) => Ok(()),
            None => {
                let sizes: Vec<String> = self.0.shape.iter().map(usize::to_string).collect();
                let text =
                    format!("INVALID_ARGUMENT: overflow in static extent product: dimensions=[{}]", sizes.join(", "));
                Err(Error::new(ErrorKind::Runtime, text))
            }
        }
    }

    /// Same dtype and weak type, other shape, of which no axis is split.
    pub fn with_shape(self, shape: &[usize]) -> Aval {
        let sharding = self.0.sharding.filter(|_| self.0.shape[..] == *shape);
        Aval::intern(AvalData { shape: Shape::from_slice(shape), vma: self.0.vma.clone(), sharding, ..*self.0 })
    }

    /// The mesh axes that split an axis.
    pub fn entry(self, axis: usize) -> &'static [Arc<str>] {
        match self.0.sharding {
            Some(_) => {
                self.0.sharding.as_ref().and_then(|sharding| sharding.entries.get(axis)).map_or(&[], |names| names)
            }
            None => &[],
        }
    }

    /// The mesh axes that split each axis.
    pub fn entries(self) -> Spec {
        (0..self.rank()).map(|axis| self.entry(axis).to_vec()).collect()
    }

    /// The same with another sharding.
    pub fn sharded(self, sharding: Option<Sharding>) -> Aval {
        if self.0.sharding == sharding {
            return self;
        }
        Aval::intern(AvalData { sharding, ..self.0.clone() })
    }

    /// Without one axis; the others stay split as they are.
    pub fn without_axis(self, axis: usize) -> Aval {
        let mut shape = self.0.shape.clone();
        shape.remove(axis);
        let mut entries = self.entries();
        entries.remove(axis);
        self.reshaped(&shape, entries)
    }

    /// With one more axis, split as a sharding of one axis says; the others stay split as they are.
    pub fn with_axis(self, axis: usize, size: usize, split: Option<Sharding>) -> Aval {
        let mut shape = self.0.shape.clone();
        shape.insert(axis, size);
        let mut entries = self.entries();
        entries.insert(axis, split.map_or_else(Vec::new, |split| split.entries[0].clone()));
        self.sharded(self.0.sharding.or(split)).reshaped(&shape, entries)
    }

    fn reshaped(self, shape: &[usize], entries: Spec) -> Aval {
        let other = self.sharded(None).with_shape(shape);
        self.0.sharding.map_or(other, |sharding| other.sharded(sharding.with_entries(entries)))
    }

    /// How one axis is split, as a sharding of that axis alone.
    pub fn split_of(self, axis: usize) -> Option<Sharding> {
        self.0.sharding.and_then(|sharding| sharding.with_entries(vec![self.entry(axis).to_vec()]))
    }

    /// Whether it says nothing of devices.
    pub fn is_plain(self) -> bool {
        self.0.vma.is_empty() && self.0.sharding.is_none()
    }

    /// Same shape and weak type, other dtype.
    pub fn with_dtype(self, dtype: DType) -> Aval {
        Aval::intern(AvalData { dtype, ..self.0.clone() })
    }

    /// Same shape and dtype with the given weak type.
    pub fn weak(self, weak_type: bool) -> Aval {
        Aval::intern(AvalData { weak_type, ..self.0.clone() })
    }

    /// The same of a value that may differ along the given axes of devices, and no others.
    pub fn varying(self, axes: &[Arc<str>]) -> Aval {
        if self.0.vma == axes {
            return self;
        }
        let mut vma = axes.to_vec();
        vma.sort();
        vma.dedup();
        Aval::intern(AvalData { vma, ..self.0.clone() })
    }

    /// The aval of tangents of this one: `float0` for integers and booleans.
    pub fn tangent(self) -> Aval {
        let dtype = self.0.dtype.tangent();
        if dtype == self.0.dtype { self } else { self.weak(false).with_dtype(dtype) }
    }

    /// `float32[2,3]`, with `~` in front when weakly typed.
    pub fn long(self) -> String {
        let weak = if self.0.weak_type { "~" } else { "" };
        format!("{weak}{}{}", self.0.dtype.name(), self.sizes_text())
    }

    /// `f32[2,3]`, as jaxprs show it; weak types are not shown.
    pub fn short(self) -> String {
        format!("{}{}", self.0.dtype.short(), self.sizes_text())
    }

    /// `[8@x,2]{V:i}`: sizes with what splits them, and what is said of the members of the mesh.
    fn sizes_text(self) -> String {
        let size = |(axis, &size): (usize, &usize)| size_text(size, self.entry(axis));
        let sizes: Vec<String> = self.0.shape.iter().enumerate().map(size).collect();
        format!("[{}]{}", sizes.join(","), self.members_text())
    }

    fn members_text(self) -> String {
        let (unreduced, reduced): (&[_], &[_]) = match self.0.sharding.as_ref() {
            Some(sharding) => (&sharding.unreduced, &sharding.reduced),
            None => (&[], &[]),
        };
        let parts = [("V", &self.0.vma[..]), ("U", unreduced), ("R", reduced)].map(|(kind, names)| match names {
            [] => String::new(),
            [name] => format!("{kind}:{name}"),
            names => format!("{kind}:({})", names.join(",")),
        });
        let parts: Vec<&str> = parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
        if parts.is_empty() { String::new() } else { format!("{{{}}}", parts.join(", ")) }
    }
}

impl Deref for Aval {
    type Target = AvalData;
    fn deref(&self) -> &AvalData {
        self.0
    }
}

impl PartialEq for Aval {
    fn eq(&self, other: &Aval) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Aval {}

impl Hash for Aval {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::ptr::from_ref(self.0).hash(state);
    }
}

impl fmt::Display for Aval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.long())
    }
}

impl fmt::Debug for Aval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.long())
    }
}

/// The number of elements of a shape; the greatest number where there are more.
pub fn extent<'a>(sizes: impl IntoIterator<Item = &'a usize>) -> usize {
    sizes.into_iter().fold(1, |size: usize, &axis| size.saturating_mul(axis))
}

/// A shape as Python prints a tuple: `(2, 3)`, `(3,)`, `()`.
pub fn tuple_text(shape: &[usize]) -> String {
    let sizes: Vec<String> = shape.iter().map(usize::to_string).collect();
    if sizes.len() == 1 { format!("({},)", sizes[0]) } else { format!("({})", sizes.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extents_are_counted_or_refused() {
        let aval = |shape: &[usize]| Aval::new(shape, DType::F32);
        assert_eq!(aval(&[1 << 32, 1 << 32]).size(), usize::MAX);
        assert_eq!(aval(&[1 << 32, 1 << 32, 0]).size(), 0);
        assert!(aval(&[1 << 40, 0]).check_extent().is_ok());
        for shape in [&[1 << 32, 1 << 32][..], &[1 << 61], &[1 << 62, 0], &[usize::MAX, 2]] {
            assert!(aval(shape).check_extent().is_err(), "{shape:?}");
        }
    }

    #[test]
    fn equal_avals_are_one() {
        assert_eq!(Aval::new(&[2, 3], DType::F32), Aval::new(&[2, 3], DType::F32));
        assert_ne!(Aval::new(&[2, 3], DType::F32), Aval::with_weak_type(&[2, 3], DType::F32, true));
        assert_eq!(Aval::with_weak_type(&[], DType::F32, true).to_string(), "~float32[]");
        assert_eq!(tuple_text(&[3]), "(3,)");
    }
}
