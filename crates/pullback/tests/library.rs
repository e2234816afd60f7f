//! The functions of the library under the names that Python has for them, and their keywords.

use pullback::numpy;
use pullback::prelude::*;

fn matrix() -> Array {
    arr![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
}

#[test]
fn keywords_are_methods_of_one_argument() {
    let x = matrix();
    assert_eq!(x.sum(), arr![21.0].reshape(&[]));
    assert_eq!(x.sum_with(|sum| sum.axis(0)), arr![5.0, 7.0, 9.0]);
    assert_eq!(x.mean_with(|mean| mean.axis(-1).keepdims(true)), arr![[2.0], [5.0]]);
    assert_eq!(x.max_with(|max| max.axis([0, 1]).initial(7.0)).item::<f32>().expect("a number"), 7.0);
    assert_eq!(numpy::std_with(&x, |std| std.axis(0).ddof(1.0)).shape(), [3]);
    assert_eq!(numpy::round_with(1.26, |round| round.decimals(1)).item::<f32>().expect("a number"), 1.3);
}

#[test]
fn functions_of_several_arrays_and_results() {
    let x = matrix();
    assert_eq!(numpy::concatenate_with(&[x.clone(), x.clone()], |joined| joined.axis(1)).shape(), [2, 6]);
    let (quotient, rest) = numpy::divmod(arr![7.0, -7.0], 2.0);
    assert_eq!((quotient, rest), (arr![3.0, -4.0], arr![1.0, 1.0]));
    let parts = numpy::split_with(&x, 3, |split| split.axis(1));
    assert_eq!(parts.iter().map(|part| part.shape()).collect::<Vec<_>>(), [[2, 1]; 3]);
    assert_eq!(numpy::zeros_with(&[2], |zeros| zeros.dtype(DType::I32)).dtype(), DType::I32);
    assert_eq!(x.tensordot_with(x.t(), |dot| dot.axes(1)), x.matmul(&x.t()));
}

#[test]
fn transformations_see_through_them() {
    let loss = |x: &Array| x.square().sum_with(|sum| sum.axis(1)).max();
    assert_eq!(grad(loss)(&matrix()).expect("a gradient"), arr![[0.0, 0.0, 0.0], [8.0, 10.0, 12.0]]);
    assert_eq!(jit(loss)(&matrix()).and_then(|loss| loss.item::<f32>()).expect("a number"), 77.0);
}

#[test]
fn mistakes_name_the_line_and_come_once() {
    let x = matrix().checked();
    let error = x.sum_with(|sum| sum.axis(5)).exp().eval().expect_err("there is no such axis");
    assert!(error.message().contains("axis 5 is out of bounds for array of dimension 2"), "{error}");
    assert!(error.to_string().contains("library.rs"), "{error}");
}
