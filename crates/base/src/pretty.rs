//! A pretty printer after Wadler ("A prettier printer", 2003): documents with groups that break when too long.
//!
//! Knows nothing of what is printed.

/// A document.
#[derive(Clone, Debug)]
pub enum Doc {
    /// Text without line breaks.
    Text(String),
    /// The text when flat, a new line when its group is broken.
    Break(&'static str),
    /// One after the other.
    Concat(Vec<Doc>),
    /// Further indentation for the breaks inside.
    Nest(usize, Box<Doc>),
    /// Breaks inside are flat together when the group fits.
    Group(Box<Doc>),
}

impl Doc {
    /// Text.
    pub fn text(text: impl Into<String>) -> Doc {
        Doc::Text(text.into())
    }

    /// A group.
    pub fn group(doc: Doc) -> Doc {
        Doc::Group(Box::new(doc))
    }

    /// Nested by `indent` columns.
    pub fn nest(indent: usize, doc: Doc) -> Doc {
        Doc::Nest(indent, Box::new(doc))
    }

    /// The parts with `separator` between.
    pub fn join(separator: &Doc, parts: Vec<Doc>) -> Doc {
        let mut all = Vec::with_capacity(parts.len() * 2);
        for (i, part) in parts.into_iter().enumerate() {
            if i > 0 {
                all.push(separator.clone());
            }
            all.push(part);
        }
        Doc::Concat(all)
    }

    /// The layout that keeps lines within `width` where it can.
    pub fn render(&self, width: usize) -> String {
        let mut out = String::new();
        let mut column = 0;
        let mut open = vec![(0, Mode::Broken, self)];
        while let Some((indent, mode, doc)) = open.pop() {
            match doc {
                Doc::Text(text) => {
                    out.push_str(text);
                    column += text.chars().count();
                }
                Doc::Break(flat) if mode == Mode::Flat => {
                    out.push_str(flat);
                    column += flat.len();
                }
                Doc::Break(_) => {
                    out.push('\n');
                    out.extend(std::iter::repeat_n(' ', indent));
                    column = indent;
                }
                Doc::Concat(parts) => open.extend(parts.iter().rev().map(|part| (indent, mode, part))),
                Doc::Nest(more, inner) => open.push((indent + more, mode, inner)),
                Doc::Group(inner) => {
                    let flat = mode == Mode::Flat || fits(inner, width.saturating_sub(column));
                    open.push((indent, if flat { Mode::Flat } else { Mode::Broken }, inner));
                }
            }
        }
        out
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Flat,
    Broken,
}

/// Whether `doc` laid out flat stays within `room` columns. As in the reference, what follows it on the line does not count.
fn fits(doc: &Doc, room: usize) -> bool {
    let mut used = 0;
    let mut open = vec![doc];
    while let Some(doc) = open.pop() {
        match doc {
            Doc::Text(text) => used += text.chars().count(),
            Doc::Break(flat) => used += flat.len(),
            Doc::Concat(parts) => open.extend(parts.iter().rev()),
            Doc::Nest(_, inner) | Doc::Group(inner) => open.push(inner),
        }
        if used > room {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_break_as_a_whole() {
        let list = Doc::join(&Doc::Break(" "), ["alpha", "beta", "gamma"].map(Doc::text).to_vec());
        let doc = Doc::group(Doc::Concat(vec![
            Doc::text("["),
            Doc::nest(2, Doc::Concat(vec![Doc::Break(""), list])),
            Doc::Break(""),
            Doc::text("]"),
        ]));
        assert_eq!(doc.render(80), "[alpha beta gamma]");
        assert_eq!(doc.render(10), "[\n  alpha\n  beta\n  gamma\n]");
    }
}
