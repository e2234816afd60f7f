//! Running other programs from the root of the workspace, and finding the Python that the extension is built for.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Outcome;

/// The folder of the workspace's Cargo.toml.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("crates/xtask lies two folders below the root")
}

/// A program to run at the root of the workspace.
pub(crate) struct Process(Command);

/// `cargo SUBCOMMAND`, by the cargo that runs this task.
pub(crate) fn cargo(subcommand: &str) -> Process {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    Process::new(cargo).args([subcommand])
}

impl Process {
    pub(crate) fn new(program: impl AsRef<OsStr>) -> Process {
        let mut command = Command::new(program);
        command.current_dir(root());
        Process(command)
    }

    pub(crate) fn args(mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Process {
        self.0.args(args);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Process {
        self.0.env(name, value);
        self
    }

    /// Runs it with our input and output; an error names the command.
    pub(crate) fn run(mut self) -> Outcome {
        let status = self.0.status().map_err(|e| format!("{}: {e}", self.name()))?;
        if status.success() { Ok(()) } else { Err(format!("{} failed ({status})", self.name())) }
    }

    /// Runs it and returns what it writes.
    pub(crate) fn output(mut self) -> Result<String, String> {
        let done = self.0.output().map_err(|e| format!("{}: {e}", self.name()))?;
        if !done.status.success() {
            return Err(format!("{} failed: {}", self.name(), String::from_utf8_lossy(&done.stderr).trim()));
        }
        String::from_utf8(done.stdout).map_err(|_| format!("{} wrote what is not UTF-8", self.name()))
    }

    /// Runs it and hands over each line that it writes when it is there. A line that is refused ends it.
    pub(crate) fn each_line(mut self, mut take: impl FnMut(&str) -> Outcome) -> Outcome {
        let mut child = self.0.stdout(Stdio::piped()).spawn().map_err(|e| format!("{}: {e}", self.name()))?;
        let output = child.stdout.take().expect("its output is a pipe");
        let refused = BufReader::new(output).lines().find_map(|line| match line {
            Ok(line) => take(&line).err(),
            Err(error) => Some(error.to_string()),
        });
        if refused.is_some() {
            child.kill().map_err(|e| format!("{}: {e}", self.name()))?;
        }
        let status = child.wait().map_err(|e| format!("{}: {e}", self.name()))?;
        match refused {
            Some(why) => Err(why),
            None if status.success() => Ok(()),
            None => Err(format!("{} failed ({status})", self.name())),
        }
    }

    fn name(&self) -> String {
        let words = std::iter::once(self.0.get_program()).chain(self.0.get_args());
        words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
    }
}

/// The interpreter that the extension is built for: as the environment says, else that of `.venv`, else what
/// `scripts/python` finds.
pub(crate) fn python() -> Result<PathBuf, String> {
    if let Some(given) = std::env::var_os("PYO3_PYTHON") {
        return Ok(given.into());
    }
    let of_venv = root().join(".venv/bin/python");
    if of_venv.exists() {
        return Ok(of_venv);
    }
    Ok(Process::new("scripts/python").output()?.trim().into())
}
