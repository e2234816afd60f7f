//! The accuracy of every function of the loop IR, a line of a table for each as soon as it is measured.
//!
//! `cargo xtask ulp` runs it and keeps the page. `float32` is tried over all inputs or every so many of them ([`single`]),
//! `float64` over structured and random ones against many digits ([`double`], [`exact`]). Subnormals count as zero, as
//! programs see them.

#![allow(clippy::print_stdout, reason = "the table is what it is for")]

mod double;
mod exact;
mod functions;
mod inputs;
mod measure;
mod single;
#[path = "../../../loops/tests/truth/mod.rs"]
mod truth;

use std::io::Write;

use functions::{Function, Op};
use measure::Found;

/// What to measure: `[--stride N] [--points N] [--type float32|float64] [NAME]...`.
struct Plan {
    stride: u64,
    points: u64,
    types: Vec<String>,
    names: Vec<String>,
}

impl Plan {
    fn parse(mut args: impl Iterator<Item = String>) -> Plan {
        let mut plan = Plan { stride: 1, points: 10_000_000, types: vec![], names: vec![] };
        while let Some(arg) = args.next() {
            let mut number = || args.next().and_then(|text| text.parse().ok()).expect("a number follows");
            match arg.as_str() {
                "--stride" => plan.stride = number(),
                "--points" => plan.points = number(),
                "--type" => plan.types.push(args.next().expect("a type follows")),
                _ => plan.names.push(arg),
            }
        }
        plan
    }

    fn takes(&self, dtype: &str, function: &Function) -> bool {
        (self.types.is_empty() || self.types.iter().any(|name| name == dtype))
            && (self.names.is_empty() || self.names.iter().any(|name| *name == function.name()))
    }
}

/// With as many digits as its type needs.
fn number(x: f64) -> String {
    if f64::from(x as f32) == x { format!("{:e}", x as f32) } else { format!("{x:e}") }
}

/// One line: the type, then the cells of the table.
fn print(dtype: &str, function: &Function, bound: f64, found: &Found, tried: &str, note: &str) {
    let met = if found.beyond == 0 { "yes" } else { "no" };
    let at = match function.op {
        Op::One(_) => number(found.at[0]),
        Op::Two(_) => format!("{}, {}", number(found.at[0]), number(found.at[1])),
    };
    let note = if found.beyond == 0 { "" } else { note };
    let (name, ulp, beyond) = (function.name(), found.ulp, found.beyond);
    println!("{dtype} | `{name}` | {ulp:.3} | {at} | {bound} | {met} | {beyond} | {tried} | {note} |");
    std::io::stdout().flush().expect("the table is read");
}

fn single_row(function: &Function, stride: u64) {
    let found = single::measure(function, stride);
    let tried = match (function.op, found.counted) {
        (Op::One(_), 0x1_0000_0000) => "all 2³²".to_owned(),
        (_, n) => n.to_string(),
    };
    print("float32", function, function.bounds[0], &found, &tried, function.notes[0]);
}

fn double_row(function: &Function, points: u64) {
    let double::Checked { found, exact } = double::measure(function, points);
    let tried = format!("{}, of them {exact} exactly", found.counted);
    print("float64", function, function.bounds[1], &found, &tried, function.notes[1]);
}

fn main() {
    let plan = Plan::parse(std::env::args().skip(1));
    let functions = functions::all();
    if let Some(name) = plan.names.iter().find(|name| functions.iter().all(|function| function.name() != **name)) {
        let names: Vec<String> = functions.iter().map(Function::name).collect();
        println!("there is no function {name}; there are {}", names.join(", "));
        std::process::exit(1);
    }
    functions.iter().filter(|function| plan.takes("float32", function)).for_each(|function| {
        single_row(function, plan.stride.max(1));
    });
    functions.iter().filter(|function| plan.takes("float64", function)).for_each(|function| {
        double_row(function, plan.points);
    });
}
