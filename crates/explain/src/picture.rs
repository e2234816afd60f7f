//! The way back of a gradient as SVG.

use crate::report::{Report, Step};

const WIDTH: usize = 560;
const HEIGHT: usize = 40;
const GAP: usize = 22;
const RED: &str = "#c81e1e";

/// Text inside of HTML and SVG.
pub(crate) fn escaped(text: &str) -> String {
    let special = [('&', "&amp;"), ('<', "&lt;"), ('>', "&gt;"), ('"', "&quot;"), ('\'', "&#x27;")];
    special.iter().fold(text.to_string(), |text, (character, name)| text.replace(*character, name))
}

fn rectangle(y: usize, step: &Step) -> String {
    let (fill, stroke, width) = if step.is_trouble { ("#fde8e8", RED, 2) } else { ("#ffffff", "#1f4e8c", 1) };
    format!(
        "<rect x=\"10\" y=\"{y}\" width=\"{}\" height=\"{HEIGHT}\" rx=\"6\" fill=\"{fill}\" stroke=\"{stroke}\" \
         stroke-width=\"{width}\"/><text x=\"22\" y=\"{}\" font-weight=\"bold\" fill=\"{stroke}\">{}</text>\
         <text x=\"22\" y=\"{}\" fill=\"#555555\">{}</text>",
        WIDTH - 20,
        y + 17,
        escaped(&step.name),
        y + 33,
        escaped(&step.detail)
    )
}

fn arrow(y: usize, label: &str, is_trouble: bool) -> String {
    let color = if is_trouble { RED } else { "#777777" };
    let x = WIDTH / 2;
    format!(
        "<line x1=\"{x}\" y1=\"{y}\" x2=\"{x}\" y2=\"{}\" stroke=\"{color}\"/>\
         <path d=\"M{} {tip} L{} {tip} L{x} {} Z\" fill=\"{color}\"/><text x=\"{}\" y=\"{}\" fill=\"{color}\">{}</text>",
        y + GAP - 6,
        x - 4,
        x + 4,
        y + GAP,
        x + 10,
        y + 15,
        escaped(label),
        tip = y + GAP - 7
    )
}

/// One trouble's path: each box an operation, each arrow a cotangent.
pub(crate) fn draw(report: &Report, index: usize) -> String {
    let last = |name: String, detail: String, is_trouble| Step { name, detail, is_trouble, cotangent: String::new() };
    let boxes = match report.troubles.get(index) {
        None => vec![last("no trouble".into(), report.name.clone(), false)],
        Some(trouble) => {
            let leaf = last(format!("gradient of {}", trouble.leaf), trouble.kind.to_string(), true);
            trouble.steps.iter().cloned().chain([leaf]).collect()
        }
    };
    let height = boxes.len() * (HEIGHT + GAP);
    let (mut parts, mut y, mut is_bad) = (String::new(), 6, false);
    for (at, step) in boxes.iter().enumerate() {
        parts += &rectangle(y, step);
        y += HEIGHT;
        is_bad |= step.is_trouble;
        if at + 1 < boxes.len() {
            parts += &arrow(y, &step.cotangent, is_bad);
            y += GAP;
        }
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" \
         font-family=\"monospace\" font-size=\"12\">{parts}</svg>"
    )
}
