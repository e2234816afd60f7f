//! The table of how accurate functions are: measured by the code generator's own program, written into the docs here.

use lexopt::ValueExt;

use crate::{Outcome, process};

const PAGE: &str = "docs/accuracy.md";

/// What to measure.
#[derive(Debug, PartialEq)]
pub(crate) struct Plan {
    /// One input of so many is tried.
    pub(crate) stride: u32,
}

impl Plan {
    pub(crate) fn parse(mut args: lexopt::Parser) -> Result<Plan, lexopt::Error> {
        let mut plan = Plan { stride: 1 };
        while let Some(arg) = args.next()? {
            match arg {
                lexopt::Arg::Long("stride") => plan.stride = args.value()?.parse()?,
                other => return Err(other.unexpected()),
            }
        }
        Ok(plan)
    }
}

/// Measures, and writes the page.
pub(crate) fn ulp(plan: &Plan) -> Outcome {
    let stride = plan.stride.max(1);
    let run = ["run", "-q", "--release", "-p", "pullback-codegen", "--example", "ulp"];
    let table = process::cargo(run[0]).args(&run[1..]).args(["--".to_owned(), stride.to_string()]).output()?;
    std::fs::write(process::root().join(PAGE), page(stride, &table)).map_err(|error| format!("{PAGE}: {error}"))
}

fn page(stride: u32, table: &str) -> String {
    let inputs = match stride {
        1 => "all 2³² inputs".to_owned(),
        n => format!("one in {n} of the 2³² inputs (`--stride {n}`)"),
    };
    format!(
        "# Accuracy\n\nHow far `float32` functions are from the true value, in units of its last place (ulp), measured by \
         `cargo xtask ulp` on the machine code over {inputs} against `float64` functions; `pow` and `atan2` over as many \
         random pairs. Subnormal arguments and results count as zero, as everywhere in compiled programs. All engines give \
         the same bits, so one table serves them all.\n\nThe bounds are 2 ulp for `exp`, `log`, `sin`, `cos`, `tanh`, \
         `logistic`, `erf` and `pow`, and 4 for the rest.\n\n{}\n",
        table.trim_end()
    )
}
