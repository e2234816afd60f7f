//! One identity for equal jaxprs, so that a function traced anew finds what was compiled for it before.
//!
//! Equal means the same equations of the same lines of the user's program under the same names, on the same constant
//! arrays; inner jaxprs are compared by identity, so they should be interned first. The table holds nothing alive.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::{LazyLock, Mutex, PoisonError, Weak};

use rustc_hash::{FxBuildHasher, FxHasher};
use smallvec::SmallVec;

use crate::jaxpr::{Eqn, Jaxpr, JaxprRef, Shared};

type Table = HashMap<u64, SmallVec<[Weak<Shared>; 1]>, FxBuildHasher>;

static TABLE: LazyLock<Mutex<Table>> = LazyLock::new(Mutex::default);
/// Entries from which on dead ones are looked for.
const FEW: usize = 256;

impl JaxprRef {
    /// Shares a finished jaxpr under the identity of an equal one that is still in use, if there is one.
    pub fn interned(jaxpr: Jaxpr) -> JaxprRef {
        let hash = hash_of(&jaxpr);
        let lock = || TABLE.lock().unwrap_or_else(PoisonError::into_inner);
        // Dropping a candidate may run the code of a front end, so the lock is not held meanwhile.
        let candidates: SmallVec<[_; 1]> = lock().get(&hash).into_iter().flatten().filter_map(Weak::upgrade).collect();
        if let Some(known) = candidates.into_iter().find(|known| is_equal(&known.jaxpr, &jaxpr)) {
            return JaxprRef(known);
        }
        let mut table = lock();
        if table.len() >= FEW && table.len() == table.capacity() {
            table.retain(|_, entries| {
                entries.retain(|entry| entry.strong_count() > 0);
                !entries.is_empty()
            });
        }
        let fresh = JaxprRef::new(jaxpr);
        table.entry(hash).or_default().push(std::sync::Arc::downgrade(&fresh.0));
        fresh
    }
}

fn hash_of(jaxpr: &Jaxpr) -> u64 {
    let mut state = FxHasher::default();
    (&jaxpr.vars, &jaxpr.invars, &jaxpr.outs).hash(&mut state);
    for eqn in &jaxpr.eqns {
        (eqn.prim, &eqn.params, &eqn.ins, eqn.span).hash(&mut state);
    }
    state.finish()
}

fn is_equal(a: &Jaxpr, b: &Jaxpr) -> bool {
    let same_eqn = |(x, y): (&Eqn, &Eqn)| {
        x.prim == y.prim
            && x.first_out == y.first_out
            && x.n_outs == y.n_outs
            && x.span == y.span
            && x.ins == y.ins
            && x.params == y.params
    };
    (&a.vars, &a.invars, &a.outs, &a.constvars) == (&b.vars, &b.invars, &b.outs, &b.constvars)
        && a.consts.len() == b.consts.len()
        && a.consts.iter().zip(&b.consts).all(|(x, y)| x.is_same(y))
        && a.eqns.len() == b.eqns.len()
        && a.eqns.iter().zip(&b.eqns).all(same_eqn)
        && a.debug == b.debug
}

#[cfg(test)]
mod tests {
    use pullback_base::{Aval, DType, Scalar};

    use crate::{Builder, Jaxpr, JaxprRef, Val};

    fn constant(dtype: DType, number: f64) -> Jaxpr {
        let builder = Builder::new();
        builder.input(Aval::new(&[3], dtype));
        builder.finish(&[Val::Literal(Scalar::float(DType::F32, number))], None).0
    }

    #[test]
    fn equal_jaxprs_share_their_identity_while_in_use() {
        let first = JaxprRef::interned(constant(DType::F32, 1.0));
        assert_eq!(first, JaxprRef::interned(constant(DType::F32, 1.0)));
        assert_ne!(first, JaxprRef::interned(constant(DType::F32, 2.0)));
        assert_ne!(first, JaxprRef::interned(constant(DType::I32, 1.0)));
        let id = first.id();
        drop(first);
        assert_ne!(id, JaxprRef::interned(constant(DType::F32, 1.0)).id());
    }
}
