//! Long runs of the tests that draw what they try: from a seed, so that a failure can be run again.
//!
//! The programs, the comparison and the shrinking are the tests' own; this only chooses seeds, batch by batch, and says
//! them. The targets: native code against the interpreter, public calls with hostile arguments, tampered files for every
//! loader, and programs against themselves and JAX.

use lexopt::ValueExt;

use crate::Outcome;
use crate::process::{self, Process};

/// Programs of one run of the test.
const BATCH: u64 = 500;

/// What is tried.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Target {
    /// Native code of random loop programs, to the interpreter's bits.
    Code,
    /// Public functions of Python with hostile arguments, in worker processes.
    Calls,
    /// Tampered bytes and texts for every loader, in worker processes.
    Files,
    /// Random programs: eager, compiled, interpreted, and on JAX.
    Programs,
    /// Tampered files for the loaders of the Rust front.
    Saved,
}

/// Which programs to run.
#[derive(Debug, PartialEq)]
pub(crate) struct Plan {
    pub(crate) target: Target,
    /// Programs, calls or files.
    pub(crate) programs: u64,
    /// The first seed.
    pub(crate) seed: u64,
    /// One engine in place of all that the machine has.
    pub(crate) engine: Option<String>,
}

impl Plan {
    pub(crate) fn parse(mut args: lexopt::Parser) -> Result<Plan, lexopt::Error> {
        let mut plan = Plan { target: Target::Code, programs: 10 * BATCH, seed: 1, engine: None };
        while let Some(arg) = args.next()? {
            match arg {
                lexopt::Arg::Value(name) => plan.target = target(&name.string()?)?,
                lexopt::Arg::Long("programs") => plan.programs = args.value()?.parse()?,
                lexopt::Arg::Long("seed") => plan.seed = args.value()?.parse()?,
                lexopt::Arg::Long("engine") => plan.engine = Some(args.value()?.string()?),
                other => return Err(other.unexpected()),
            }
        }
        Ok(plan)
    }
}

fn target(name: &str) -> Result<Target, lexopt::Error> {
    Ok(match name {
        "code" => Target::Code,
        "calls" => Target::Calls,
        "files" => Target::Files,
        "programs" => Target::Programs,
        "saved" => Target::Saved,
        other => return Err(format!("there is no target {other}: code, calls, files, programs or saved").into()),
    })
}

/// Runs what the plan says; the first batch that fails ends it.
pub(crate) fn fuzz(plan: &Plan) -> Outcome {
    match plan.target {
        Target::Code => code(plan),
        Target::Calls => hostile(plan, &["--shrink"]),
        Target::Files => hostile(plan, &["--files"]),
        Target::Programs => programs(plan),
        Target::Saved => saved(plan),
    }
}

fn code(plan: &Plan) -> Outcome {
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

/// An interpreter that finds the package of this tree.
fn python() -> Result<Process, String> {
    let path = process::root().join("python");
    Ok(Process::new(process::python()?).env("PYTHONPATH", path))
}

fn hostile(plan: &Plan, options: &[&str]) -> Outcome {
    let (seed, calls) = (plan.seed.to_string(), plan.programs.to_string());
    let script = ["tests/fuzz/hostile_calls.py", "--seed", &seed, "--calls", &calls];
    python()?.args(script).args(options.iter().copied()).run()
}

fn programs(plan: &Plan) -> Outcome {
    // JAX compiles slowly: every twentieth program.
    let on_jax = plan.programs.div_ceil(20).to_string();
    python()?
        .args(["-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "tests/py/test_random_programs.py"])
        .env("PULLBACK_RANDOM_SEED", plan.seed.to_string())
        .env("PULLBACK_RANDOM_PROGRAMS", plan.programs.to_string())
        .env("PULLBACK_RANDOM_JAX", on_jax)
        .run()
}

fn saved(plan: &Plan) -> Outcome {
    process::cargo("test")
        .args(["-q", "-p", "pullback", "--features", "safetensors", "--test", "tampered"])
        .env("PULLBACK_FUZZ_SEED", plan.seed.to_string())
        .env("PULLBACK_FUZZ_PROGRAMS", plan.programs.to_string())
        .run()
}
