//! Arrays as text, as NumPy prints them: nested brackets, and the ends of what is long.

use std::fmt;

use pullback_base::Scalar;
use pullback_ir::Val;

use crate::array::Array;

/// Elements from which on the middle is left out.
const MANY: usize = 1000;
/// Entries shown at each end of an axis then.
const ENDS: usize = 3;

impl fmt::Display for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.val().map(|val| val.to_array().ok_or(val)) {
            Ok(Ok(array)) => {
                let shape = array.shape();
                let text = Text { is_short: array.aval().size() > MANY, element: &|at| array.element(at) };
                f.write_str(&text.nested(shape, 0, 1).unwrap_or_else(|error| error.to_string()))
            }
            Ok(Err(traced)) => write!(f, "traced {}", Val::aval(&traced).long()),
            Err(error) => write!(f, "{error}"),
        }
    }
}

struct Text<'a> {
    is_short: bool,
    element: &'a dyn Fn(usize) -> pullback_base::Result<Scalar>,
}

impl Text<'_> {
    /// The entry that begins at a row-major position, `depth` brackets inside.
    fn nested(&self, shape: &[usize], first: usize, depth: usize) -> pullback_base::Result<String> {
        let Some((&n, inner)) = shape.split_first() else { return Ok((self.element)(first)?.to_string()) };
        let size: usize = inner.iter().product();
        let has_gap = self.is_short && n > 2 * ENDS;
        let shown = (0..n).filter(|&i| !has_gap || i < ENDS || i >= n - ENDS);
        let mut entries = vec![];
        for i in shown {
            if has_gap && i == n - ENDS {
                entries.push("...".to_string());
            }
            entries.push(self.nested(inner, first + i * size, depth + 1)?);
        }
        let separator = match inner.len() {
            0 => " ".to_string(),
            // An empty line for each axis beyond the last two.
            n_inner => "\n".repeat(n_inner) + &" ".repeat(depth),
        };
        Ok(format!("[{}]", entries.join(&separator)))
    }
}
