//! Writes an analysis as the JSON that crosses to JavaScript. Unlike in the public type, a known word is only its text,
//! which halves the length.

use super::analysis::{AnalyzedWord, CommandAnalysis, CommandUnit, RedirectUnit};

/// The text of an analysis.
pub fn json(analysis: &CommandAnalysis) -> serde_json::Result<String> {
    let length = analysis.commands.iter().map(|unit| 200 + 2 * unit.source.len()).sum::<usize>();
    let mut out = String::with_capacity(length + analysis.command.len() + 200);
    out.push_str("{\"command\":");
    text(&mut out, &analysis.command);
    out.push_str(",\"cwd\":");
    text(&mut out, &analysis.cwd);
    out.push_str(",\"verdict\":");
    out.push_str(&serde_json::to_string(&analysis.verdict)?);
    out.push_str(",\"complete\":");
    out.push_str(truth(analysis.complete));
    out.push_str(",\"readOnly\":");
    text(&mut out, analysis.read_only.name());
    out.push_str(",\"findings\":");
    out.push_str(&serde_json::to_string(&analysis.findings)?);
    out.push_str(",\"commands\":");
    list(&mut out, &analysis.commands, unit);
    out.push('}');
    Ok(out)
}

fn unit(out: &mut String, unit: &CommandUnit) {
    out.push_str("{\"name\":");
    maybe(out, unit.name.as_deref());
    out.push_str(",\"path\":");
    maybe(out, unit.path.as_deref());
    out.push_str(",\"argv\":");
    list(out, &unit.argv, word);
    out.push_str(",\"prefix\":");
    list(out, &unit.prefix, |out, item| text(out, item));
    out.push_str(",\"assignments\":");
    list(out, &unit.assignments, |out, item| text(out, item));
    out.push_str(",\"redirects\":");
    list(out, &unit.redirects, redirect);
    out.push_str(",\"cwd\":");
    maybe(out, unit.cwd.as_deref());
    out.push_str(",\"via\":");
    list(out, &unit.via, |out, item| text(out, item));
    out.push_str(",\"span\":[");
    number(out, unit.span.0);
    out.push(',');
    number(out, unit.span.1);
    out.push_str("],\"source\":");
    text(out, &unit.source);
    out.push_str(",\"wrapper\":");
    out.push_str(truth(unit.wrapper));
    out.push_str(",\"readOnly\":");
    text(out, unit.read_only.name());
    out.push('}');
}

fn redirect(out: &mut String, redirect: &RedirectUnit) {
    out.push_str("{\"op\":");
    text(out, &redirect.op);
    out.push_str(",\"fd\":");
    match redirect.fd {
        Some(fd) => number(out, fd as usize),
        None => out.push_str("null"),
    }
    out.push_str(",\"target\":");
    word(out, &redirect.target);
    out.push_str(",\"path\":");
    maybe(out, redirect.path.as_deref());
    out.push('}');
}

fn word(out: &mut String, word: &AnalyzedWord) {
    if word.known {
        text(out, &word.text);
    } else {
        out.push_str("{\"text\":");
        text(out, &word.text);
        out.push_str(",\"known\":false}");
    }
}

fn list<T>(out: &mut String, items: &[T], write: impl Fn(&mut String, &T)) {
    out.push('[');
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write(out, item);
    }
    out.push(']');
}

fn truth(holds: bool) -> &'static str {
    if holds { "true" } else { "false" }
}

fn maybe(out: &mut String, string: Option<&str>) {
    match string {
        Some(string) => text(out, string),
        None => out.push_str("null"),
    }
}

fn number(out: &mut String, number: usize) {
    if number >= 10 {
        self::number(out, number / 10);
    }
    out.push(char::from(b'0' + (number % 10) as u8));
}

fn text(out: &mut String, text: &str) {
    out.push('"');
    let is_special = |byte: u8| byte < 0x20 || byte == b'"' || byte == b'\\';
    // Most texts have nothing to escape. Without an early end the check takes many bytes at once.
    if !text.bytes().fold(false, |found, byte| found | is_special(byte)) {
        out.push_str(text);
        out.push('"');
        return;
    }
    let mut rest = text;
    while let Some(at) = rest.bytes().position(is_special) {
        out.push_str(&rest[..at]);
        let byte = rest.as_bytes()[at];
        rest = &rest[at + 1..];
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\t' => out.push_str("\\t"),
            _ => {
                let digit = |nibble: u8| char::from(b"0123456789abcdef"[usize::from(nibble)]);
                out.push_str("\\u00");
                out.push(digit(byte >> 4));
                out.push(digit(byte & 15));
            }
        }
    }
    out.push_str(rest);
    out.push('"');
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::{AnalysisContext, SafetyPolicy, analyze};

    /// The public form: each known word as an object.
    fn opened(mut analysis: Value) -> Value {
        let open = |word: &mut Value| {
            if let Some(text) = word.as_str() {
                *word = json!({ "text": text, "known": true });
            }
        };
        for unit in analysis["commands"].as_array_mut().unwrap() {
            unit["argv"].as_array_mut().unwrap().iter_mut().for_each(open);
            unit["redirects"].as_array_mut().unwrap().iter_mut().for_each(|redirect| open(&mut redirect["target"]));
        }
        analysis
    }

    #[test]
    fn the_text_of_an_analysis_says_the_same_as_the_analysis() {
        for command in [
            "",
            "true",
            "sudo -u me rm -rf $X 2>&1 >\"a\\b\" <<< 'x\ty' # \u{1f600}",
            "A=1 B='\u{1}\u{1f}\u{7f}é\n' cmd \"$y\" > $Z; git push --force\nbash -c 'echo \"a\"' 3< in",
            "cat <<EOF | sh\nrm -rf /\nEOF\n",
            "if",
        ] {
            let context = AnalysisContext { cwd: "/p\"q", home: "/home/u", ..AnalysisContext::default() };
            let analysis = analyze(command, context, &SafetyPolicy::default());
            let crossed: Value = serde_json::from_str(&super::json(&analysis).unwrap()).unwrap();
            assert_eq!(opened(crossed), serde_json::to_value(&analysis).unwrap(), "{command}");
        }
    }
}
