//! The table of how accurate functions are: measured by the code generator's own program, written into the docs here.
//!
//! A row is written as soon as it is measured, so that a run may be cut and go on with `--only`.

use lexopt::ValueExt;

use crate::{Outcome, process};

const PAGE: &str = "docs/accuracy.md";
/// The tables of the page, by the type that they are about.
const TYPES: [&str; 2] = ["float32", "float64"];
const HEAD: [&str; 2] = [
    "| function | greatest error, ulp | at | bound | met | beyond it | inputs tried | why |",
    "| --- | --- | --- | --- | --- | --- | --- | --- |",
];

/// What to measure.
#[derive(Debug, PartialEq)]
pub(crate) struct Plan {
    /// One input of so many is tried, for `float32`.
    pub(crate) stride: u32,
    /// How many inputs are tried, for `float64`.
    pub(crate) points: u64,
    /// The type to measure, else both.
    pub(crate) dtype: Option<String>,
    /// The functions to measure, else all.
    pub(crate) only: Vec<String>,
}

impl Plan {
    pub(crate) fn parse(mut args: lexopt::Parser) -> Result<Plan, lexopt::Error> {
        let mut plan = Plan { stride: 1, points: 10_000_000, dtype: None, only: vec![] };
        while let Some(arg) = args.next()? {
            match arg {
                lexopt::Arg::Long("stride") => plan.stride = args.value()?.parse()?,
                lexopt::Arg::Long("points") => plan.points = args.value()?.parse()?,
                lexopt::Arg::Long("only") => plan.only.push(args.value()?.string()?),
                lexopt::Arg::Long("type") => plan.dtype = Some(args.value()?.parse_with(known_type)?),
                other => return Err(other.unexpected()),
            }
        }
        Ok(plan)
    }

    fn arguments(&self) -> Vec<String> {
        let numbers = [("--stride", self.stride.max(1).into()), ("--points", self.points)];
        let mut all: Vec<String> = numbers.iter().flat_map(|(name, n)| [(*name).to_owned(), n.to_string()]).collect();
        all.extend(self.dtype.iter().flat_map(|dtype| ["--type".to_owned(), dtype.clone()]));
        all.extend(self.only.iter().cloned());
        all
    }
}

fn known_type(name: &str) -> Result<String, String> {
    let known = TYPES.contains(&name).then(|| name.to_owned());
    known.ok_or_else(|| format!("the type should be {}", TYPES.join(" or ")))
}

/// Measures, and writes each row into the page when it is there.
pub(crate) fn ulp(plan: &Plan) -> Outcome {
    let path = process::root().join(PAGE);
    let mut tables = Tables::of(&std::fs::read_to_string(&path).unwrap_or_default());
    let build = ["-q", "--release", "-p", "pullback-codegen", "--example", "ulp", "--"];
    process::cargo("run").args(build).args(plan.arguments()).each_line(|line| {
        println!("{line}");
        tables.take(line)?;
        std::fs::write(&path, tables.page()).map_err(|error| format!("{PAGE}: {error}"))
    })
}

/// The rows of each type's table, by function.
struct Tables([Vec<(String, String)>; 2]);

impl Tables {
    /// Those of a page as it stands.
    fn of(page: &str) -> Tables {
        let mut tables = Tables([vec![], vec![]]);
        let mut rows = None;
        for line in page.lines() {
            if let Some(title) = line.strip_prefix("## ") {
                rows = TYPES.iter().position(|name| *name == title);
            }
            if let (Some(which), Some(name)) = (rows, function_of(line)) {
                tables.put(which, name, line);
            }
        }
        tables
    }

    /// Takes a line of the measuring program: the type, then the row.
    fn take(&mut self, line: &str) -> Outcome {
        let unknown = || format!("the measurement gave {line:?}, which is no row");
        let which = TYPES.iter().position(|name| line.starts_with(name)).ok_or_else(unknown)?;
        let row = line[TYPES[which].len()..].trim();
        let name = function_of(row).ok_or_else(unknown)?;
        self.put(which, name, row);
        Ok(())
    }

    fn put(&mut self, which: usize, name: &str, row: &str) {
        let rows = &mut self.0[which];
        match rows.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => *old = row.to_owned(),
            None => rows.push((name.to_owned(), row.to_owned())),
        }
    }

    fn page(&self) -> String {
        let table = |(name, rows): (&&str, &Vec<(String, String)>)| {
            let lines: Vec<&str> = HEAD.into_iter().chain(rows.iter().map(|(_, row)| row.as_str())).collect();
            format!("## {name}\n\n{}\n", lines.join("\n"))
        };
        let tables: Vec<String> = TYPES.iter().zip(&self.0).map(table).collect();
        format!("{INTRODUCTION}\n{}", tables.join("\n"))
    }
}

/// The function that a row of a table is about.
fn function_of(row: &str) -> Option<&str> {
    row.strip_prefix("| `")?.split('`').next()
}

const INTRODUCTION: &str = "\
# Accuracy

How far functions are from the true value, in units of its last place (ulp), measured by `cargo xtask ulp` on the machine
code. All engines give the same bits, so one table serves them all. Subnormal arguments and results count as zero, as
everywhere in compiled programs. A zero of the wrong sign, and a NaN or an infinity out of place, count as infinitely far.
Each row says how many inputs were tried; `--only NAME` measures a function anew, and `--stride N` one in N of its inputs.

Bounds of `float32` are 2 ulp for `exp`, `log`, `sin`, `cos`, `tanh`, `logistic`, `erf` and `pow`, and 4 for the rest. True
values are those of the same functions of `float64`, run in lanes beside them; one in 64 of these is held against a library,
and must agree to 1e-5 ulp. For `lgamma`, `digamma` and `pow`, whose `float32` is rounded from `float64`, all are the library's.
For two arguments the inputs are random pairs, half of them with a second operand between -40 and 40, a quarter with a first
next to one.

Bounds of `float64` are 4 ulp. Inputs are random bits, the function's range evenly and by exponents, numbers next to those
where formulas change or digits cancel, and for each exponent the numbers that come nearest to a multiple of π/2. All are
held against a library of `float64`; those that differ most from it, and others without regard to that, also against true
values to 144 bits and more (`dashu-float`, see [0005](decisions/0005-dependencies.md)): the number is in the table.
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_read_as_it_was_written_and_rows_are_put_in_place() {
        let mut tables = Tables::of("");
        for line in ["float32 | `exp` | 1 |", "float64 | `exp` | 2 |", "float32 | `log` | 3 |", "float32 | `exp` | 4 |"]
        {
            tables.take(line).expect("a row");
        }
        let page = tables.page();
        assert!(page.contains("## float32\n\n| function"), "{page}");
        assert!(page.ends_with("| --- |\n| `exp` | 2 |\n"), "{page}");
        assert!(page.contains("| --- |\n| `exp` | 4 |\n| `log` | 3 |\n"), "{page}");
        assert_eq!(Tables::of(&page).page(), page);
        assert!(tables.take("there is no function x").is_err());
    }

    #[test]
    fn the_page_of_the_docs_is_as_it_would_be_written() {
        let page = std::fs::read_to_string(process::root().join(PAGE)).expect("there is a page");
        assert_eq!(Tables::of(&page).page(), page);
    }
}
