//! Text that comes from another process, which should have cleaned it.

use super::plain_text_scan::next_control;

/// Removes all control characters but these. Text without any is not copied.
pub fn keep_controls(text: &mut String, kept: &[char]) {
    if next_control(text.as_bytes(), 0) < text.len() || !kept.contains(&'\t') || !kept.contains(&'\n') {
        text.retain(|c| !c.is_control() || kept.contains(&c));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_wanted_control_characters_stay() {
        for (text, kept, expected) in [
            ("a\tb\nc é\u{a0} 日本", ['\t', '\n'].as_slice(), "a\tb\nc é\u{a0} 日本"),
            ("\u{1b}[31mred\u{1b}]0;title\u{7}", &['\t', '\n'], "[31mred]0;title"),
            ("1%\r2%\u{8}\u{9b}31m\0\u{7f}", &['\t', '\n'], "1%2%31m"),
            ("1%\r2%\u{8}\u{1b}", &['\t', '\n', '\r', '\u{8}'], "1%\r2%\u{8}"),
            ("name\n", &[], "name"),
        ] {
            let mut found = text.to_owned();
            keep_controls(&mut found, kept);
            assert_eq!(found, expected, "{text:?}");
        }
    }
}
