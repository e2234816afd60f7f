//! The task runner of the workspace.
fn main() {}
