//! Text for people: colours and styles stay, all other sequences go.

use super::*;
use proptest::prelude::*;

fn styled(pieces: &[&[u8]]) -> String {
    let mut cleaner = OutputCleaner::styled();
    let mut text = String::new();
    for piece in pieces {
        cleaner.push(piece, &mut |more| text.push_str(more));
    }
    cleaner.end(&mut |more| text.push_str(more));
    text
}

#[test]
fn colours_and_styles_stay_and_nothing_else() {
    for (written, kept) in [
        ("\x1b[31mred\x1b[0m\n", "\x1b[31mred\x1b[0m\n"),
        ("\x1b[1;38;2;1;2;3mbold\x1b[m\n", "\x1b[1;38;2;1;2;3mbold\x1b[m\n"),
        ("\x1b[4:3mcurly\x1b[0m\n", "\x1b[4:3mcurly\x1b[0m\n"),
        ("\x1b[>4;2mkeys\n", "keys\n"),
        ("\x1b[?1049h\x1b[2Jscreen\n", "screen\n"),
        ("\x1b]0;title\x07a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\n", "alink\n"),
        ("\x1bP1$r0m\x1b\\x\x1b_Gi=1;AAAA\x1b\\y\n", "xy\n"),
        ("\u{9b}31mred\n", "red\n"),
        ("10%\r\x1b[32m100%\x1b[0m\n", "\x1b[32m100%\x1b[0m\n"),
        ("a\x1b(0b\x1bc\n", "ab\n"),
        ("\x1b[31\nm\n", "\nm\n"),
    ] {
        assert_eq!(styled(&[written.as_bytes()]), kept, "{written:?}");
        let bytes: Vec<&[u8]> = written.as_bytes().chunks(1).collect();
        assert_eq!(styled(&bytes), kept, "{written:?}, byte by byte");
    }
}

#[test]
fn a_line_that_was_drawn_over_is_known_as_such() {
    let mut cleaner = OutputCleaner::styled();
    for (written, drawn_over) in
        [("ready? ", false), ("\r", true), ("10%", true), ("\n", false), ("name: ", false), ("\x08", true)]
    {
        cleaner.push(written.as_bytes(), &mut |_| {});
        assert_eq!(cleaner.is_drawn_over(), drawn_over, "{written:?}");
    }
}

proptest! {
    #[test]
    fn without_the_styles_it_is_the_plain_text(
        pieces in proptest::collection::vec("(\\x1b\\[[0-9;]{0,4}[mKGJH]|\\x1b\\]0;x\\x07|[a-z日é \r\n\x08]){0,6}", 0..12),
    ) {
        let bytes: Vec<&[u8]> = pieces.iter().map(String::as_bytes).collect();
        let text = styled(&bytes);
        let mut plain = String::new();
        let mut rest = text.as_str();
        while let Some(at) = rest.find('\x1b') {
            plain.push_str(&rest[..at]);
            let end = rest[at..].find('m').expect("a whole style");
            prop_assert!(rest[at + 2..at + end].bytes().all(|byte| matches!(byte, b'0'..=b';')), "{:?}", rest);
            rest = &rest[at + end + 1..];
        }
        plain.push_str(rest);
        let written: Vec<u8> = bytes.concat();
        prop_assert_eq!(plain, collapsed_once(&written));
    }
}

fn collapsed_once(written: &[u8]) -> String {
    let mut cleaner = OutputCleaner::new(Some(COLLAPSE));
    let mut text = String::new();
    cleaner.push(written, &mut |more| text.push_str(more));
    cleaner.end(&mut |more| text.push_str(more));
    text
}
