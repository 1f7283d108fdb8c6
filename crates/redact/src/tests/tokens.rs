//! Tokens of every shape in every place where one may stand.

use super::quoted;
use crate::redact;
use crate::secret_spans::MARKER;

const SHAPES: &str = include_str!("../../../protocol/data/shapes.txt");

/// Places of a token in place of `@`.
const CARRIERS: &[&str] = &[
    "echo @",
    "echo '@'",
    "app @ --verbose",
    "X=@ app",
    "curl -d '{\"k\":\"@\"}' http://x",
    "cat > f <<EOF\nk: @\nEOF",
    "ssh h \"bash -c 'echo @'\"",
    "git commit -m 'use @ for now'",
    "echo @ | base64; ls # @",
];

/// Returns the parts of an example of a form that are no secret and those that are. Examples are made here, or scanners
/// would report this file as a leak.
fn example(form: &str) -> (String, String) {
    let (mut lead, mut secret) = (String::new(), String::new());
    for piece in form.split(' ') {
        let run = piece.split_once(':').filter(|(_, number)| number.starts_with(|first: char| first.is_ascii_digit()));
        match (piece, run) {
            (">", _) => lead = std::mem::take(&mut secret),
            ("~random" | "~dot", _) => {}
            ("\\s", _) => secret.push(' '),
            (piece, None) => secret.push_str(piece),
            (_, Some((class, number))) => {
                let alphabet = match class {
                    "digit" => "1234567890",
                    "hex" => "0a1b2c3d4e5f",
                    "lower" => "a1b2c3d4e5f6g7h8",
                    "capital" => "A0B1C2D3",
                    "dotted" if form.ends_with("~dot") => "a0B1.c2",
                    _ => "a0B1c2D3e4F5g6H7i8J9",
                };
                let least = number.trim_end_matches('+').split('-').next().and_then(|least| least.parse().ok());
                secret.extend(alphabet.chars().cycle().take(least.expect("a number")));
            }
        }
    }
    (lead, secret)
}

fn forms() -> impl Iterator<Item = &'static str> {
    let rows = SHAPES.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    rows.filter_map(|row| row.split(" | ").next())
}

#[test]
fn a_token_of_every_shape_is_taken_out_in_every_place() {
    let mut wrong = Vec::new();
    for (form, carrier) in forms().flat_map(|form| CARRIERS.iter().map(move |carrier| (form, carrier))) {
        let (lead, secret) = example(form);
        let found = redact(&carrier.replace('@', &format!("{lead}{secret}"))).text.into_owned();
        let keeps = found.contains(&secret) || !found.contains(MARKER);
        let rest = carrier.split('@').all(|part| found.contains(part));
        if keeps || !rest {
            wrong.push(format!("{form}: {found}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_token_is_taken_out_behind_any_number_of_quotes() {
    for form in forms() {
        let (lead, secret) = example(form);
        let mut command = format!("echo {}", quoted(&format!("{lead}{secret}")));
        for _ in 0..3 {
            command = format!("bash -c {}", quoted(&command));
            let found = redact(&command).text.into_owned();
            assert!(!found.contains(&secret), "{form}: {found}");
        }
    }
}
