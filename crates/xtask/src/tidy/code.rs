//! Rust source with everything blanked that is not code, so that rules can look for words.
//!
//! Not a parser: it knows comments, literals and braces, which is all that the rules need. Blanks keep every line and
//! column where it was.

/// `text` with comments and the contents of string and character literals blanked.
pub(crate) fn code_only(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let (skipped, len) = next_piece(rest, &out);
        let (piece, after) = rest.split_at(len);
        if skipped {
            out.extend(piece.chars().map(blank))
        } else {
            out.push_str(piece)
        }
        rest = after;
    }
    out
}

fn blank(c: char) -> char {
    if c == '\n' { '\n' } else { ' ' }
}

/// The length of the piece that `rest` begins with, and whether it is to be blanked.
fn next_piece(rest: &str, before: &str) -> (bool, usize) {
    let in_word = before.ends_with(is_word);
    let literal = match rest.as_bytes()[0] {
        b'/' if rest.starts_with("//") => Some(rest.find('\n').unwrap_or(rest.len())),
        b'/' if rest.starts_with("/*") => Some(block_comment(rest)),
        b'"' => Some(quoted(rest)),
        b'r' if !in_word => raw_string(rest, 1),
        b'b' | b'c' if !in_word && rest[1..].starts_with('r') => raw_string(rest, 2),
        b'\'' => char_literal(rest),
        _ => None,
    };
    match literal {
        Some(len) => (true, len),
        None => (false, rest.chars().next().map_or(1, char::len_utf8)),
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        let here = &rest.as_bytes()[at..];
        let step = match here {
            [b'/', b'*', ..] => 1,
            [b'*', b'/', ..] => -1,
            _ => 0,
        };
        depth += step;
        at += if step == 0 { 1 } else { 2 };
        if depth == 0 {
            return at;
        }
    }
    rest.len()
}

fn quoted(rest: &str) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

fn raw_string(rest: &str, prefix: usize) -> Option<usize> {
    let hashes = rest[prefix..].bytes().take_while(|b| *b == b'#').count();
    let start = prefix + hashes;
    if !rest[start..].starts_with('"') {
        return None;
    }
    let end = format!("\"{}", "#".repeat(hashes));
    Some(rest[start + 1..].find(&end).map_or(rest.len(), |at| start + 1 + at + end.len()))
}

/// A character literal; `None` for a lifetime, which begins alike.
fn char_literal(rest: &str) -> Option<usize> {
    let mut chars = rest.char_indices().skip(1);
    let (_, first) = chars.next()?;
    if first == '\\' {
        let close = rest[3..].find('\'')?;
        return Some(3 + close + 1);
    }
    let (at, next) = chars.next()?;
    (next == '\'').then_some(at + 1)
}

/// `code` with the bodies of `#[cfg(test)] mod … { … }` blanked; `code` has no comments or literals.
pub(crate) fn without_tests(code: &str) -> String {
    let mut out = code.to_owned();
    let mut from = 0;
    while let Some(at) = out[from..].find("#[cfg(test)]").map(|found| from + found) {
        let end = test_module_end(&out[at..]).map_or(at + 1, |len| at + len);
        let blanked: String = out[at..end].chars().map(blank).collect();
        out.replace_range(at..end, &blanked);
        from = end.max(at + 1);
    }
    out
}

/// Where the module ends whose `cfg` attribute `code` begins with; `None` if another item follows, or no body.
fn test_module_end(code: &str) -> Option<usize> {
    let item = code.find("mod ")?;
    let body = code.find(['{', ';'])?;
    if item > body || code[body..].starts_with(';') {
        return None;
    }
    let mut depth = 0;
    for (at, c) in code[body..].char_indices() {
        depth += i32::from(c == '{') - i32::from(c == '}');
        if depth == 0 {
            return Some(body + at + 1);
        }
    }
    Some(code.len())
}

/// Every word of `code` with its line (from 1) and what follows it.
pub(crate) fn words(code: &str) -> impl Iterator<Item = (usize, &str, &str)> {
    code.lines().enumerate().flat_map(|(at, line)| line_words(line).map(move |(word, rest)| (at + 1, word, rest)))
}

fn line_words(line: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let from = rest.find(is_word)?;
        let tail = &rest[from..];
        let len = tail.find(|c| !is_word(c)).unwrap_or(tail.len());
        rest = &tail[len..];
        Some((&tail[..len], rest))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        let code = code_only(text);
        assert_eq!(code.len(), expect.len(), "columns stay: {text}");
        assert_eq!(code, expect, "{text}");
    }

    #[test]
    fn comments_and_literals_go() {
        check("a // b", "a     ");
        check("a /* b /* c */ d */ e", "a                   e");
        check("f(\"x\\\"y\") + g", "f(      ) + g");
        check("r#\"x\"y\"#; z", "        ; z");
        check("br\"\\\"; z", "     ; z");
        check("for r in attr", "for r in attr");
        check("'a' as 'b \\ ", "    as 'b \\ ");
        check("'\\'' + '\\n'", "     +     ");
        check("&'a str", "&'a str");
    }

    #[test]
    fn test_modules_go() {
        let tests = "a();\n#[cfg(test)]\nmod tests {\n  fn b() {}\n}\nc();";
        assert_eq!(without_tests(tests).split_whitespace().collect::<Vec<_>>(), ["a();", "c();"]);
        assert_eq!(without_tests(tests).lines().count(), tests.lines().count());
        let function = "#[cfg(test)]\nfn b() { d(); }\nmod c {}";
        assert!(without_tests(function).contains("d();"), "only modules are test code");
    }

    #[test]
    fn words_know_what_follows() {
        let found: Vec<_> = words("a::b!\n c").map(|(line, word, rest)| (line, word, rest.starts_with('!'))).collect();
        assert_eq!(found, [(1, "a", false), (1, "b", true), (2, "c", false)]);
    }
}
