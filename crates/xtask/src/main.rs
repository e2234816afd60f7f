//! `cargo xtask`: the tasks that keep the tree in order. `check` is what a change must pass beside the tests.
//!
//! Owns the rules of the tree ([`tidy`]), the running of generators ([`generate`]) and the calls of cargo's own tools
//! ([`check`]). It deliberately depends on no room of the workspace, so that it builds when they do not.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, reason = "a command-line program speaks on its standard output")]

mod check;
mod fuzz;
mod generate;
mod process;
mod tidy;
mod ulp;

use std::ffi::OsString;
use std::process::ExitCode;

use lexopt::prelude::*;

/// What a task says when it did not succeed: text for the person who called it.
type Outcome = Result<(), String>;

const USAGE: &str = "\
cargo xtask check           format, tidy, generated files, clippy
cargo xtask fmt             formats all files, also those that `cargo fmt` does not find
cargo xtask tidy            the rules of the tree: layers, unsafe, module pages, sizes, names
cargo xtask gen [--check]   write the generated files, or say which are stale
cargo xtask targets         the Rust front and the runner of saved functions, checked for other systems and WebAssembly
cargo xtask bless [ARGS]    run `cargo test ARGS` and write the expected texts anew
cargo xtask fuzz [code|calls|files|programs|saved] [--programs N] [--seed S] [--engine E]
                            random programs through code generation, their bits against the interpreter's;
                            public Python calls with hostile arguments; tampered files for every loader;
                            programs against themselves and JAX; tampered files for the Rust front
cargo xtask ulp [--only NAME]... [--type float32|float64] [--stride N] [--points N]
                            the accuracy of functions into docs/accuracy.md: float32 over all inputs, or one of N,
                            float64 over N points";

#[derive(Debug, PartialEq)]
enum Task {
    Check,
    Fmt,
    Tidy,
    Gen { check: bool },
    Targets,
    Bless(Vec<OsString>),
    Fuzz(fuzz::Plan),
    Ulp(ulp::Plan),
    Help,
}

fn main() -> ExitCode {
    let done = parse(lexopt::Parser::from_env()).map_err(|e| format!("{e}\n\n{USAGE}")).and_then(run);
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            println!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn parse(mut args: lexopt::Parser) -> Result<Task, lexopt::Error> {
    let Some(first) = args.next()? else { return Ok(Task::Help) };
    let task = match first {
        Value(name) if name == "check" => Task::Check,
        Value(name) if name == "fmt" => Task::Fmt,
        Value(name) if name == "tidy" => Task::Tidy,
        Value(name) if name == "targets" => Task::Targets,
        Value(name) if name == "gen" => return parse_gen(args),
        Value(name) if name == "fuzz" => return Ok(Task::Fuzz(fuzz::Plan::parse(args)?)),
        Value(name) if name == "ulp" => return Ok(Task::Ulp(ulp::Plan::parse(args)?)),
        Value(name) if name == "bless" => return Ok(Task::Bless(args.raw_args()?.collect())),
        Short('h') | Long("help") => Task::Help,
        other => return Err(other.unexpected()),
    };
    args.next()?.map_or(Ok(task), |extra| Err(extra.unexpected()))
}

fn parse_gen(mut args: lexopt::Parser) -> Result<Task, lexopt::Error> {
    let mut check = false;
    while let Some(arg) = args.next()? {
        match arg {
            Long("check") => check = true,
            other => return Err(other.unexpected()),
        }
    }
    Ok(Task::Gen { check })
}

fn run(task: Task) -> Outcome {
    match task {
        Task::Check => check::check(),
        Task::Fmt => check::format(false),
        Task::Tidy => tidy::tidy(),
        Task::Gen { check } => generate::generate(check),
        Task::Targets => check::targets(),
        Task::Fuzz(plan) => fuzz::fuzz(&plan),
        Task::Ulp(plan) => ulp::ulp(&plan),
        Task::Bless(args) => process::cargo("test").args(args).env("UPDATE_EXPECT", "1").run(),
        Task::Help => {
            println!("{USAGE}");
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(args: &[&str], expect: Result<Task, &str>) {
        let parsed = parse(lexopt::Parser::from_args(args)).map_err(|e| e.to_string());
        assert_eq!(parsed, expect.map_err(str::to_owned), "{args:?}");
    }

    #[test]
    fn arguments() {
        check(&[], Ok(Task::Help));
        check(&["check"], Ok(Task::Check));
        check(&["targets"], Ok(Task::Targets));
        check(&["gen"], Ok(Task::Gen { check: false }));
        check(&["gen", "--check"], Ok(Task::Gen { check: true }));
        check(&["bless", "-p", "pullback-ir"], Ok(Task::Bless(vec!["-p".into(), "pullback-ir".into()])));
        let plan = fuzz::Plan { target: fuzz::Target::Code, programs: 9, seed: 3, engine: Some("avx2".into()) };
        check(&["fuzz", "--programs", "9", "--seed=3", "--engine", "avx2"], Ok(Task::Fuzz(plan)));
        let plan =
            ulp::Plan { stride: 64, points: 9, dtype: Some("float32".into()), only: vec!["exp".into(), "log".into()] };
        let ulp = ["ulp", "--stride", "64", "--only", "exp", "--type", "float32", "--only", "log", "--points", "9"];
        check(&ulp, Ok(Task::Ulp(plan)));
        check(&["ulp", "--type", "f32"], Err("cannot parse argument \"f32\": the type should be float32 or float64"));
        let plan = fuzz::Plan { target: fuzz::Target::Calls, programs: 5000, seed: 7, engine: None };
        check(&["fuzz", "calls", "--seed", "7"], Ok(Task::Fuzz(plan)));
        check(&["fuzz", "fish"], Err("there is no target fish: code, calls, files, programs or saved"));
        check(&["fuzz", "--seed", "x"], Err("cannot parse argument \"x\": invalid digit found in string"));
        check(&["tidy", "now"], Err("unexpected argument \"now\""));
        check(&["tidi"], Err("unexpected argument \"tidi\""));
        check(&["gen", "--chek"], Err("invalid option '--chek'"));
    }
}
