//! What must hold for every declaration.

use std::panic::{AssertUnwindSafe, catch_unwind};

use pullback_base::bail;
use pullback_base::tree::TreeDef;

use super::*;
use crate::convert::weak_int;

#[test]
fn every_name_is_declared_once() {
    let mut names: Vec<&str> = DECLARATIONS.iter().flat_map(|one| one.names.iter().copied()).collect();
    names.sort_unstable();
    let twice: Vec<&[&str]> = names.windows(2).filter(|pair| pair[0] == pair[1]).collect();
    assert!(twice.is_empty(), "{twice:?}");
}

/// The required arguments of a call, each the plainest of its kind; the others are not given.
struct Plainest(&'static Declaration);

impl Arguments for Plainest {
    fn function(&self) -> &'static str {
        self.0.name()
    }
    fn is_given(&self, at: usize) -> bool {
        self.0.parameters[at].default.is_none()
    }
    fn is_sequence(&self, _at: usize) -> bool {
        false
    }
    fn class(&self, _at: usize) -> String {
        String::new()
    }
    fn shown(&mut self, at: usize) -> Result<String> {
        self.text(at)
    }
    fn is_none(&self, at: usize) -> bool {
        !self.is_given(at)
    }
    fn array(&mut self, _at: usize) -> Result<Val> {
        Ok(weak_int(0))
    }
    fn number(&mut self, at: usize) -> Result<WideNumber> {
        self.array(at).map(WideNumber::Val)
    }
    fn convertible(&mut self, at: usize) -> Result<Val> {
        self.array(at)
    }
    fn prototype(&mut self, at: usize) -> Result<Prototype> {
        Ok(Prototype { val: self.array(at)?, shape: None })
    }
    fn is_array(&self, _at: usize) -> bool {
        true
    }
    fn arrays(&mut self, at: usize) -> Result<Vec<Val>> {
        Ok(vec![self.array(at)?])
    }
    fn rest(&mut self) -> Result<Vec<Val>> {
        Ok(vec![])
    }
    fn flag(&mut self, _at: usize) -> Result<bool> {
        Ok(false)
    }
    fn int(&mut self, _at: usize) -> Result<i64> {
        Ok(0)
    }
    fn float(&mut self, _at: usize) -> Result<f64> {
        Ok(0.0)
    }
    fn nested_ints(&mut self, _at: usize) -> Result<NestedInts> {
        Ok(NestedInts::One(0))
    }
    fn text(&mut self, _at: usize) -> Result<String> {
        Ok(String::new())
    }
    fn axes(&mut self, _at: usize) -> Result<Axes> {
        Ok(Axes::All)
    }
    fn sizes(&mut self, _at: usize) -> Result<Vec<i64>> {
        Ok(vec![])
    }
    fn dtype(&mut self, _at: usize) -> Result<DType> {
        Ok(DType::F32)
    }
    fn exact_dtype(&mut self, at: usize) -> Result<DType> {
        self.dtype(at)
    }
    fn precision(&mut self, _at: usize) -> Result<DotPrecision> {
        bail!(Value, "there is no plainest precision")
    }
    fn key(&mut self, _at: usize) -> Result<Val> {
        crate::random::key(&weak_int(0), &crate::random::Generator::default())
    }
    fn callable(&mut self, _at: usize) -> Result<Callable> {
        Ok(Callable::new(|operands| Ok(operands[0].clone())))
    }
    fn callables(&mut self, at: usize) -> Result<Vec<CallableOr>> {
        Ok(vec![CallableOr::Callable(self.callable(at)?)])
    }
    fn tree(&mut self, at: usize) -> Result<Tree> {
        Ok(Tree { leaves: vec![self.array(at)?], structure: TreeDef::leaf() })
    }
    fn split_result(&mut self, _at: usize) -> Result<()> {
        Ok(())
    }
}

/// A default that its type cannot be is found when it is read.
#[test]
fn every_default_fits_its_type() {
    for declaration in DECLARATIONS {
        let run = AssertUnwindSafe(|| (declaration.call)(&mut Plainest(declaration)));
        assert!(catch_unwind(run).is_ok(), "{declaration:?}");
    }
}
