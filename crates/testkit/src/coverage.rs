//! The page of what is covered: which rules each primitive has, which of the reference are missing altogether, public names,
//! and tests that compare with JAX.

mod python;

use std::collections::BTreeSet;

use pullback_core::all_primitives;
use pullback_ir::PrimRef;
use pullback_ir::lower::CpuForm;

/// Names of the reference's primitives, one a line.
const REFERENCE: &str = include_str!("../data/jax_primitives.txt");

/// Names of the reference's primitives.
pub fn reference_names() -> BTreeSet<&'static str> {
    REFERENCE.lines().filter(|line| !line.is_empty()).collect()
}

/// The whole page.
pub fn page() -> String {
    let mut prims: Vec<PrimRef> = all_primitives().collect();
    prims.sort_by_key(|prim| prim.name().to_string());
    let reference = reference_names();
    let ours: BTreeSet<&str> = prims.iter().map(|prim| prim.name()).collect();
    let n_shared = reference.intersection(&ours).count();
    let mut notes = vec![];
    let rows: Vec<String> = prims.iter().map(|prim| row(*prim, &mut notes)).collect();
    let missing: Vec<String> = reference.difference(&ours).map(|name| format!("`{name}`")).collect();
    let notes: Vec<String> = notes.iter().enumerate().map(|(i, note)| format!("{}. {note}", i + 1)).collect();
    format!(
        "# Coverage\n\n\
         Made by `cargo run -p pullback-testkit --bin coverage` from the primitives themselves and from the lists that tests \
         hold to be exact; do not edit.\n\n\
         ## Primitives\n\n\
         {n_shared} of the reference's {} primitives are here, and {} besides. A number is a hole; its reason is below. \
         `zero`: no derivative; `linear`: tangents go through the primitive itself; `not linear`: nothing to transpose; \
         `pointwise`: batched without a rule. StableHLO: `op`: one operation; `composition`: other primitives or a scalar \
         form; `rule`: operations of its own.\n\n\
         | primitive | derivative | transpose | batching | CPU | StableHLO |\n|---|---|---|---|---|---|\n{}\n\n\
         ### Reasons\n\n{}\n\n### Not here\n\n{}\n\n{}\n",
        reference.len(),
        ours.len() - n_shared,
        rows.join("\n"),
        notes.join("\n"),
        missing.join(", "),
        python::sections()
    )
}

fn row(prim: PrimRef, notes: &mut Vec<String>) -> String {
    let coverage = prim.coverage();
    let cpu = cpu_holes(prim);
    let cells = [
        cell(coverage.derivative, notes),
        cell(coverage.transpose, notes),
        cell(coverage.batching, notes),
        if cpu.is_empty() {
            "yes".into()
        } else {
            cpu.iter().map(|hole| note(hole, notes)).collect::<Vec<_>>().join(" ")
        },
        cell(coverage.hlo, notes),
    ];
    format!("| `{}` | {} |", prim.name(), cells.join(" | "))
}

fn cell(rule: Result<&'static str, &'static str>, notes: &mut Vec<String>) -> String {
    match rule {
        Ok(kind) => kind.into(),
        Err(reason) => note(reason, notes),
    }
}

fn note(reason: &str, notes: &mut Vec<String>) -> String {
    let number = notes.iter().position(|known| known == reason).unwrap_or_else(|| {
        notes.push(reason.to_string());
        notes.len() - 1
    });
    format!("({})", number + 1)
}

/// Reasons why some sample has no CPU form.
fn cpu_holes(prim: PrimRef) -> BTreeSet<String> {
    let mut holes = BTreeSet::new();
    for sample in prim.samples() {
        let ins: Vec<_> = sample.ins.iter().map(|input| input.aval).collect();
        let Ok(outs) = prim.abstract_eval(&sample.params, &ins) else { continue };
        if let CpuForm::Missing(reason) = prim.cpu(&sample.params, &ins, &outs) {
            holes.insert(reason);
        }
    }
    holes
}
