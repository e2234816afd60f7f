//! Long runs of code generation's differential test: random programs whose bits must be the interpreter's.
//!
//! The programs and the comparison are the test's own; this only chooses seeds, batch by batch, and says them, so that a
//! failure can be run again.

use lexopt::ValueExt;

use crate::{Outcome, process};

/// Programs of one run of the test.
const BATCH: u64 = 500;

/// Which programs to run.
#[derive(Debug, PartialEq)]
pub(crate) struct Plan {
    pub(crate) programs: u64,
    /// The first seed.
    pub(crate) seed: u64,
    /// One engine in place of all that the machine has.
    pub(crate) engine: Option<String>,
}

impl Plan {
    pub(crate) fn parse(mut args: lexopt::Parser) -> Result<Plan, lexopt::Error> {
        let mut plan = Plan { programs: 10 * BATCH, seed: 1, engine: None };
        while let Some(arg) = args.next()? {
            match arg {
                lexopt::Arg::Long("programs") => plan.programs = args.value()?.parse()?,
                lexopt::Arg::Long("seed") => plan.seed = args.value()?.parse()?,
                lexopt::Arg::Long("engine") => plan.engine = Some(args.value()?.string()?),
                other => return Err(other.unexpected()),
            }
        }
        Ok(plan)
    }
}

/// Runs the programs of the plan; the first batch that fails ends it.
pub(crate) fn fuzz(plan: &Plan) -> Outcome {
    let end = plan.seed + plan.programs;
    let mut start = plan.seed;
    while start < end {
        let n = BATCH.min(end - start);
        println!("seeds {start} to {}", start + n - 1);
        let mut test = process::cargo("test")
            .args(["-q", "-p", "pullback-codegen", "--test", "differential", "native_code"])
            .env("PULLBACK_FUZZ_SEED", start.to_string())
            .env("PULLBACK_FUZZ_PROGRAMS", n.to_string());
        if let Some(engine) = &plan.engine {
            test = test.env("PULLBACK_FUZZ_ENGINE", engine);
        }
        test.run()?;
        start += n;
    }
    Ok(())
}
