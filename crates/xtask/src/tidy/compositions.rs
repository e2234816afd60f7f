//! The list of public functions that are still composed in Python: short, and each with its reason.

use super::{File, Problem};

const LIST: &str = "python/compositions.txt";
const MOST: usize = 40;

pub(crate) fn check(file: &File) -> Vec<Problem> {
    if file.path != LIST {
        return Vec::new();
    }
    let mut problems = Vec::new();
    let mut part = "";
    let mut count = 0;
    let mut last = "";
    for (number, line) in file.text.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
        if line.starts_with('[') {
            (part, last) = (line, "");
            continue;
        }
        let Some((name, _)) = line.split_once(": ").filter(|(_, reason)| !reason.trim().is_empty()) else {
            problems.push(Problem::at(file, number + 1, "a function stands here without its reason: `name: reason`"));
            continue;
        };
        if name <= last {
            problems.push(Problem::at(file, number + 1, format!("`{name}` is not in order")));
        }
        last = name;
        count += usize::from(part == "[compositions]");
    }
    if count > MOST {
        problems.push(Problem::of(file, format!("{count} functions are composed in Python, more than {MOST}")));
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::super::tests::{file, shown};
    use super::*;

    #[test]
    fn reasons_order_and_number_are_kept() {
        let found = |text: &str| shown(&check(&file(LIST, text)));
        assert_eq!(found("# list\n[compositions]\na: one\nb: two\n[of Python]\na.c: three\n"), [""; 0]);
        assert_eq!(
            found("[compositions]\nb: two\na\na: one\n"),
            [
                format!("{LIST}:3: a function stands here without its reason: `name: reason`"),
                format!("{LIST}:4: `a` is not in order"),
            ]
        );
        let many: String = (100..141).map(|n| format!("f{n}: as f100\n")).collect();
        let text = format!("[compositions]\n{many}");
        assert_eq!(found(&text), [format!("{LIST}: 41 functions are composed in Python, more than 40")]);
        assert_eq!(found(&text.replace("compositions", "of Python")), [""; 0]);
        assert!(check(&file("other.txt", &text)).is_empty());
    }
}
