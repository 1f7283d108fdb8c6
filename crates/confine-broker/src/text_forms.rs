//! The forms that a text may have in a request or an answer: as it is, or encoded.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};

/// All but the characters that no URL encodes (RFC 3986, 2.3).
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Returns a text as a part of a URL or of a form.
pub(crate) fn in_url(text: &str) -> String {
    percent_encode(text.as_bytes(), ENCODED).to_string()
}

/// Returns a text as it stands inside a JSON string.
pub(crate) fn in_json(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            control if control < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(control))),
            other => out.push(other),
        }
    }
    out
}

/// Returns the forms in which a server or a program reads the text itself: plain, of a URL, of JSON.
pub(crate) fn readable_forms(text: &str) -> [Vec<u8>; 3] {
    [text.as_bytes().to_vec(), in_url(text).into_bytes(), in_json(text).into_bytes()]
}

/// How common libraries write a character that they escape in JSON, HTML or a URL.
struct EscapeStyle {
    /// The characters besides those that are always escaped.
    characters: &'static str,
    escape: fn(char) -> String,
}

/// Returns a numeric escape of JSON.
fn json_escape(character: char) -> String {
    match character {
        '"' => "\\\"".to_owned(),
        '\\' => "\\\\".to_owned(),
        '/' => "\\/".to_owned(),
        other => format!("\\u{:04x}", u32::from(other)),
    }
}

/// Returns a named entity of HTML, or a decimal one.
fn html_entity(character: char) -> String {
    match character {
        '&' => "&amp;".to_owned(),
        '<' => "&lt;".to_owned(),
        '>' => "&gt;".to_owned(),
        '"' => "&quot;".to_owned(),
        other => format!("&#{};", u32::from(other)),
    }
}

/// The styles in which a value with other characters than letters and digits comes back.
const STYLES: [EscapeStyle; 11] = [
    // PHP; the same with tags.
    EscapeStyle { characters: "\"\\/", escape: json_escape },
    EscapeStyle { characters: "\"\\/<>&'", escape: json_escape },
    // Go and Rails, Gson.
    EscapeStyle { characters: "\"\\<>&", escape: json_escape },
    EscapeStyle { characters: "\"\\<>&'=", escape: json_escape },
    // .NET.
    EscapeStyle {
        characters: "\"\\<>&'+`",
        escape: |of| if of == '\\' { "\\\\".to_owned() } else { format!("\\u{:04X}", u32::from(of)) },
    },
    // Most template engines; Go's; Mustache and those that follow OWASP, in both cases.
    EscapeStyle { characters: "&<>\"'", escape: html_entity },
    EscapeStyle { characters: "&<>\"'+", escape: |of| if of == '"' { "&#34;".to_owned() } else { html_entity(of) } },
    EscapeStyle { characters: "&<>\"'/`=", escape: |of| hexadecimal_entity(of, false) },
    EscapeStyle { characters: "&<>\"'/`=", escape: |of| hexadecimal_entity(of, true) },
    // A path in which the slash stays, and a URL of .NET.
    EscapeStyle { characters: "+=&?#%:;@$,\"'<>\\^`{|}!*()[] ", escape: |of| format!("%{:02X}", u32::from(of)) },
    EscapeStyle { characters: "/+=&?#%:;@$,\"'<>\\^`{|} ", escape: |of| format!("%{:02x}", u32::from(of)) },
];

/// Returns a named entity of HTML, or a hexadecimal one.
fn hexadecimal_entity(character: char, capital: bool) -> String {
    match character {
        '&' | '<' | '>' | '"' => html_entity(character),
        other if capital => format!("&#x{:X};", u32::from(other)),
        other => format!("&#x{:x};", u32::from(other)),
    }
}

/// Returns a text in a style.
fn styled(text: &str, style: &EscapeStyle) -> Vec<u8> {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if style.characters.contains(character) {
            out.push_str(&(style.escape)(character));
        } else {
            out.push(character);
        }
    }
    out.into_bytes()
}

/// Returns all forms, always in the same order: the readable ones, other ways to escape, and base64 from each place
/// among other bytes.
pub(crate) fn all_forms(text: &str) -> Vec<Vec<u8>> {
    let shifted = (0..3).flat_map(|shift| {
        let bytes: Vec<u8> = std::iter::repeat_n(0, shift).chain(text.bytes()).collect();
        // The first character depends on the bytes before as well, and the last one on those after, if there are any.
        let (start, end) = ((shift * 8).div_ceil(6), bytes.len() * 8 / 6);
        [STANDARD_NO_PAD.encode(&bytes), URL_SAFE_NO_PAD.encode(&bytes)]
            .into_iter()
            .flat_map(move |encoded| [encoded.len(), end].map(|end| encoded.as_bytes()[start..end].to_vec()))
    });
    let styles = STYLES.iter().map(|style| styled(text, style));
    readable_forms(text).into_iter().chain(styles).chain(shifted).collect()
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::STANDARD;

    use super::*;

    #[test]
    fn a_text_is_found_in_base64_wherever_it_stands() {
        let text = "ghp_0123456789abcdef";
        let forms = all_forms(text);
        for before in ["", "u", "us", "user:", "{\"password\":\""] {
            for after in ["", "x", "xy", "\"}"] {
                let encoded = STANDARD.encode(format!("{before}{text}{after}"));
                let is_in = |form: &Vec<u8>| encoded.as_bytes().windows(form.len()).any(|part| part == form);
                assert!(forms.iter().any(is_in), "{before} {after}");
            }
        }
    }

    #[test]
    fn encodings() {
        assert_eq!(in_url("a/b+c=d~e f"), "a%2Fb%2Bc%3Dd~e%20f");
        assert_eq!(in_json("a\"b\\c\nd\u{1}"), "a\\\"b\\\\c\\nd\\u0001");
    }

    #[test]
    fn a_text_is_found_in_the_ways_in_which_libraries_escape_it() {
        let forms = all_forms("a/b+c=d");
        for escaped in [
            r"a\/b+c=d",
            r"a/b\u002Bc=d",
            r"a/b+c\u003dd",
            "a/b&#43;c=d",
            "a&#x2F;b+c&#x3D;d",
            "a/b%2Bc%3Dd",
            "a%2fb%2bc%3dd",
            "a%2Fb%2Bc%3Dd",
        ] {
            assert!(forms.contains(&escaped.as_bytes().to_vec()), "{escaped}");
        }
        assert_eq!(all_forms("plain").iter().filter(|form| *form == b"plain").count(), 14);
    }
}
