//! Gradients that explain themselves, and checks: the operation, its line, the cause and the cure.

use pullback::prelude::*;
use pullback::{Fault, TroubleKind, checked, explain_grad, fault_of, numpy, safe_grads, select};

fn hidden_log(x: &Array) -> Array {
    let zero = x * 0.0;
    select(&x.greater(&zero), &x.log(), &zero).sum()
}

fn divided(x: &Array) -> Array {
    (1.0 / x).sum()
}

fn saturated(x: &Array) -> Array {
    (x * 1000.0).tanh().sum()
}

fn chosen(x: &Array) -> Array {
    x.argmax(0).astype(DType::F32)
}

fn looped(x: &Array) -> Array {
    let step = |sum: Array, t: Array| (sum + t.sqrt(), zeros(&[]));
    scan(step, &zeros(&[]), x).expect("a scan").0
}

fn called(x: &Array) -> Result<Array> {
    jit(hidden_log)(x)
}

/// The line of this file that holds a text first.
fn line_of(text: &str) -> u32 {
    include_str!("explain.rs").lines().position(|line| line.contains(text)).expect("the text is there") as u32 + 1
}

#[test]
fn a_trouble_has_its_operation_line_and_cure() {
    type Case = (fn(&Array) -> Result<Array>, TroubleKind, &'static str, &'static str, &'static str);
    let cases: [Case; 6] = [
        (
            |x| Ok(hidden_log(x)),
            TroubleKind::Nan,
            "log",
            "&x.log()",
            "let safe = select(&x.greater(&zero), &x, &full(x.shape(), 1.0)); then safe.log()",
        ),
        (|x| Ok(divided(x)), TroubleKind::Inf, "div", "1.0 / x", "(&x + eps)"),
        (|x| Ok(saturated(&(x + 1.0))), TroubleKind::NumericZero, "tanh", ".tanh()", "scale its input down"),
        (|x| Ok(chosen(x)), TroubleKind::StructuralZero, "argmax", ".argmax(0)", "nn::softmax"),
        (|x| Ok(looped(x)), TroubleKind::Inf, "sqrt", "t.sqrt()", "(&t + eps).sqrt()"),
        (called, TroubleKind::Nan, "log", "&x.log()", "safe.log()"),
    ];
    for (f, kind, primitive, text, cure) in cases {
        let report = explain_grad(|x: &Array| f(x))(&arr![0.0, 2.0]).expect("a report");
        assert!(report.notes().is_empty(), "{report}");
        let trouble = report.troubles().first().unwrap_or_else(|| panic!("{report}"));
        assert_eq!((trouble.kind, trouble.primitive.as_str()), (kind, primitive), "{report}");
        assert_eq!(trouble.line, Some(line_of(text)), "{report}");
        assert!(trouble.file.as_ref().is_some_and(|file| file.ends_with("explain.rs")), "{report}");
        assert!(trouble.cure.contains(cure), "{report}");
        assert!(report.to_svg(0).contains(primitive) && report.to_html().contains("<svg"));
    }
}

#[test]
fn a_report_tells_what_hid_the_trouble_and_which_iteration() {
    let report = explain_grad(hidden_log)(&arr![0.0, 2.0]).expect("a report");
    let hidden = report.troubles()[0].dropped_by.clone().expect("a choice");
    assert!(hidden.contains(&format!("explain.rs:{}", line_of("select(&x.greater"))), "{hidden}");
    assert_eq!(report.troubles()[0].values[0], ("operand".to_string(), "0.0 at [0]".to_string()));
    let report = explain_grad(looped)(&arr![1.0, 0.0, 2.0]).expect("a report");
    assert!(report.troubles()[0].context[0].starts_with("iteration 1 of scan"), "{report}");
}

#[test]
fn leaves_of_trees_are_counted() {
    let report = explain_grad(|(a, b): &(Array, Array)| a.sqrt().sum() + b.sum())(&(arr![0.0, 4.0], arr![1.0]))
        .expect("a report");
    let [a, b] = report.leaves() else { panic!("{report}") };
    assert_eq!((a.finite, a.infinite, b.finite), (1, 1, 1));
    assert_eq!(report.troubles()[0].leaf, "leaf 0");
    let fine = explain_grad(|x: &Array| x.square().sum())(&arr![1.0, 2.0]).expect("a report");
    assert!(fine.troubles().is_empty() && fine.to_string().contains("no trouble"));
}

#[test]
fn bad_use_is_that_of_grad() {
    let error = explain_grad(|x: &Array| x * 2.0)(&arr![1.0, 2.0]).expect_err("no scalar");
    let of_grad = grad(|x: &Array| x * 2.0)(&arr![1.0, 2.0]).expect_err("no scalar");
    assert_eq!((error.kind(), error.message()), (of_grad.kind(), of_grad.message()));
}

#[test]
fn the_cure_that_is_named_cures() {
    let gradient = safe_grads(|| grad(hidden_log)(&arr![0.0, 2.0])).expect("a gradient");
    assert_eq!(gradient.to_vec::<f32>().expect("floats"), [0.0, 0.5]);
}

#[test]
fn a_fault_is_an_error() {
    type Case = (fn(&Array) -> Array, ErrorKind, &'static str, &'static str);
    let cases: [Case; 6] = [
        (
            |x| (x - 1.0).sqrt(),
            ErrorKind::FloatingPoint,
            "sqrt gave NaN of finite operands (-1.0) at [0]",
            "(x - 1.0).sqrt()",
        ),
        (|x| x.take(&arr![7]), ErrorKind::Index, "index 7 is out of bounds for axis 0 with size 3", "x.take(&arr![7])"),
        (|x| (x * 1e3).astype(DType::I8), ErrorKind::Overflow, "1000.0 does not fit into int8", "astype(DType::I8)"),
        (
            |x| numpy::remainder(x.astype(DType::I32), arr![0]),
            ErrorKind::Value,
            "a whole number is divided by 0",
            "numpy::remainder(x",
        ),
        (|x| x.reshape(&[3, 1]) - x, ErrorKind::Value, "broadcasts to a square", "x.reshape(&[3, 1]) - x"),
        (|x| looped(&(x - 1.0)), ErrorKind::FloatingPoint, "iteration 0 of scan", "t.sqrt()"),
    ];
    for (f, kind, text, at) in cases {
        let x = arr![0.0, 1.0, 2.0];
        f(&x).eval().expect("passes in silence");
        let error = checked(|x: &Array| f(x))(&x).expect_err(text);
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.message().contains(text), "{error}");
        let fault = (kind == ErrorKind::Value && text.contains("divided")).then_some(Fault::ZeroDivision);
        assert_eq!(fault_of(&error), fault, "{error}");
        let place = format!("explain.rs:{}", line_of(at));
        assert!(text.contains("square") || error.message().contains(&place), "{error} {place}");
    }
}

#[test]
fn a_good_program_is_as_it_was() {
    let x = arr![0.5, 1.0, 2.0];
    for f in [hidden_log, divided, saturated, looped] {
        let found = checked(f)(&x).expect("no fault");
        assert_eq!(found.to_vec::<f32>().expect("floats"), f(&x).to_vec::<f32>().expect("floats"));
    }
    let slope = checked(|x: &Array| grad(divided)(x))(&x).expect("no fault");
    assert_eq!(slope, grad(divided)(&x).expect("a gradient"));
}
