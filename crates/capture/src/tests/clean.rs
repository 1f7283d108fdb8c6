//! Clean text.

use super::*;
use proptest::prelude::*;

fn collapsed(input: &str) -> String {
    everywhere(COLLAPSE, input.as_bytes())
}

#[test]
fn progress_collapses_to_its_last_state() {
    assert_eq!(collapsed("10%\r50%\r100%\n"), "100%\n");
    assert_eq!(collapsed("100%\r50%\n"), "50%%\n", "a terminal leaves what was not drawn over");
    assert_eq!(collapsed("fetch 100%\rfetch\x1b[K\ndone"), "fetch\ndone");
    assert_eq!(collapsed("\x1b[2K\rworking…\x1b[2K\rok\n"), "ok\n");
    assert_eq!(collapsed("abc\x1b[1K\n"), "\n");
    assert_eq!(collapsed("abcdef\x1b[3D\x1b[1Kx\n"), "   xef\n");
    assert_eq!(collapsed("abc\x1b[2Gx\x1b[Dy\x1b[2Cz\n"), "ayc z\n");
    assert_eq!(collapsed("kept  \n"), "kept  \n");
    assert_eq!(collapsed("\x1b[999C\x1b[6D\n"), "\n");
    assert_eq!(collapsed("日本語 10%\r日本語 99%\n"), "日本語 99%\n");
    assert_eq!(collapsed("one\r"), "one");
    assert_eq!(collapsed("a\rb\r\n\rc"), "b\nc");
}

#[test]
fn overstrike_is_the_text_once() {
    assert_eq!(collapsed("a\x08b"), "b");
    assert_eq!(collapsed("N\x08NA\x08AM\x08ME\x08E\n"), "NAME\n");
    assert_eq!(collapsed("_\x08f_\x08i_\x08l_\x08e\n"), "file\n");
    assert_eq!(collapsed("_\x08é’\x08’\n"), "é’\n");
    assert_eq!(collapsed("日\x08\x08日 日\x08日\n"), "日 日\n");
    assert_eq!(collapsed("\x08\x08x\n"), "x\n");
}

#[test]
fn line_ends_are_newlines() {
    assert_eq!(collapsed("a\r\nb\r\r\nc\r\n"), "a\nb\nc\n");
    assert_eq!(collapsed("a\r\x1b[0m\nb"), "a\nb");
    assert_eq!(everywhere(KEEP, b"a\r\nb\r\r\nc\r\n"), "a\nb\nc\n");
}

#[test]
fn sequences_are_gone_whatever_the_split() {
    for sequence in [
        "\x1b[31m",
        "\x1b[38;2;1;2;3m",
        "\x1b[?25l",
        "\x1b[2 q",
        "\x1b[1;1H",
        "\x1b]0;title\x07",
        "\x1b]0;title é\x1b\\",
        "\x1b]8;;http://x\x1b\\",
        "\x1b]52;c;aGk=\x07",
        "\x1b]133;A\x07",
        "\x1bP1$r0m\x1b\\",
        "\x1b_Gi=1;AAAA\x1b\\",
        "\x1b^private\x1b\\",
        "\x1bXstart\x1b\\",
        "\x1b(0",
        "\x1b)B",
        "\x1b%G",
        "\x1b#8",
        "\x1b\\",
        "\x1b7",
        "\x1b8",
        "\x1b=",
        "\x1bc",
        "\u{9b}31m",
        "\u{9d}0;title\u{9c}",
        "\u{9d}0;title\x07",
        "\u{90}q\u{9c}",
        "\u{9f}x\x1b\\",
        "\u{9e}x\u{9c}",
        "\u{98}x\u{9c}",
        "\u{9c}",
        "\u{85}",
        "\x07",
        "\0",
        "\x7f",
        "\x0b",
        "\x0e",
        "\x1b[31\x18",
        "\x1b[3\x1b[1m",
        "\x1b[3\x071m",
        "\x1b]x\u{9b}1m",
    ] {
        assert_eq!(collapsed(&format!("a{sequence}b\n")), "ab\n", "{sequence:?}");
        assert_eq!(everywhere(KEEP, format!("a{sequence}b").as_bytes()), "ab", "{sequence:?}");
    }
}

#[test]
fn what_is_broken_off_takes_no_more_than_its_line() {
    assert_eq!(collapsed("\x1b]0;oops\nerror: x\n"), "\nerror: x\n");
    assert_eq!(collapsed("\x1bPq#0\nerror: x\n"), "\nerror: x\n");
    assert_eq!(collapsed("\x1b_x\nerror: x\n"), "\nerror: x\n");
    assert_eq!(collapsed("\x1b[31\nerror: x\n"), "\nerror: x\n");
    assert_eq!(collapsed("\x1b[日本\n"), "日本\n");
    assert_eq!(collapsed("\x1bé\n"), "é\n");
    let long = format!("\x1b[{}end\n", "1;".repeat(2000));
    assert!(clean(COLLAPSE, [long.as_bytes()]).ends_with("1;1;end\n"));
}

#[test]
fn keep_leaves_the_progress_in() {
    assert_eq!(everywhere(KEEP, b"10%\r50%\x1b[K\r100%\nab\x08c\r"), "10%\r50%\r100%\nab\x08c\r");
    let mut capture = StreamCapture::new("stdout", TruncationPolicy::default(), Some(KEEP), true);
    capture.push(b"50%");
    assert_eq!(capture.take_live(100).as_deref(), Some("50%"), "at once");
    assert_eq!(capture.pending_line(), "50%");
}

#[test]
fn sequences_can_stay() {
    let raw = |input: &str| everywhere(RAW_ANSI, input.as_bytes());
    assert_eq!(raw("\x1b[31mred\x1b[0m\x07\n"), "\x1b[31mred\x1b[0m\n");
    assert_eq!(raw("\x1b]0;title\x07x\u{9d}t\u{9c}\n"), "\x1b]0;title\x07x\u{9d}t\u{9c}\n");
    assert_eq!(raw("\x1b]8;;u\x1b\\x\n"), "\x1b]8;;u\x1b\\x\n");
    assert_eq!(raw("\x1b[31m10%\x1b[0m\r\x1b[32m100%\x1b[0m\n"), "\x1b[32m100%\x1b[0m\n");
    assert_eq!(raw("working\r\x1b[K\x1b[1mok\n"), "\x1b[1mok\n");
    assert_eq!(raw("日\x1b[1m本\rx\n"), "x \x1b[1m本\n");
}

#[test]
fn a_string_sequence_that_is_cut_short_does_not_hide_the_text_behind_it() {
    assert_eq!(everywhere(RAW_ANSI, b"aaG \r[[G;\x1bP\x1b[K0\x08]"), "[[G;]");
    assert_eq!(everywhere(RAW_ANSI, b"ab\x1b]0;t\x1b[1mc\x08d\n"), "abd\n", "sequences go with the cell");
}

#[test]
fn tabs_and_other_scripts_are_intact() {
    assert_eq!(collapsed("a\tb\n中文 é 😀👩‍👩‍👧\n"), "a\tb\n中文 é 😀👩‍👩‍👧\n");
    assert_eq!(collapsed("x\ty\x08z\n"), "x\tz\n");
    assert_eq!(collapsed("\u{a0}©\u{ad}\n"), "\u{a0}©\u{ad}\n");
}

#[test]
fn off_only_decodes() {
    let mut capture = StreamCapture::new("stdout", TruncationPolicy::default(), SanitizeRules::off(), false);
    capture.push(b"\x1b[31ma\rb\0\xff\r\n");
    let captured = capture.finish();
    assert_eq!(captured.text, "\x1b[31ma\rb\0\u{fffd}\r\n");
    assert_eq!(captured.replaced, 1);
}

#[test]
fn a_line_past_64_kib_is_delivered_and_collapses_no_more() {
    let long = "x".repeat(70_000);
    assert_eq!(clean(COLLAPSE, [format!("{long}\rabc\n1\r2\n").as_bytes()]), format!("{long}abc\n2\n"));
    for over in 65_530..65_540 {
        let input = format!("a\r{}é\rb\x08c\x1b[1Gd\x1b[K\nnext\rN\n", "y".repeat(over));
        let whole = clean(COLLAPSE, [input.as_bytes()]);
        assert_eq!(clean(COLLAPSE, input.as_bytes().chunks(1)), whole, "{over}");
        assert!(whole.ends_with("\nNext\n"));
        let plain = format!("{}é\rb\x08c\n", "y".repeat(over));
        assert_eq!(clean(COLLAPSE, plain.as_bytes().chunks(1)), clean(COLLAPSE, [plain.as_bytes()]), "{over}");
    }
    let mut capture = StreamCapture::new("stdout", TruncationPolicy::default(), Some(COLLAPSE), true);
    capture.push(&b"z".repeat(65_537));
    assert_eq!(capture.live_bytes(), 65_537);
    capture.push(b"more");
    assert_eq!(capture.live_bytes(), 65_541);
}

#[test]
fn a_settled_line_is_not_drawn_over() {
    let mut cleaner = super::super::OutputCleaner::new(Some(COLLAPSE));
    let mut text = String::new();
    for piece in ["50%\r", "60%\r", "100%\n", "name: ", "me\n", "ab\x08", "c\n"] {
        cleaner.push(piece.as_bytes(), &mut |piece| text.push_str(piece));
        cleaner.settle(&mut |piece| text.push_str(piece));
    }
    assert_eq!(text, "50%\n60%\n100%\nname: me\nab\nc\n");
}

#[test]
fn another_cleaner_can_go_on() {
    let input = "10%\r日本\x1b[1mx\x08\x1b[31my\tz\r\x1b[3Cé\rq\n\u{9b}1mw\n".as_bytes();
    let whole = clean(COLLAPSE, [input]);
    for at in 0..input.len() {
        let mut first = super::super::OutputCleaner::new(Some(COLLAPSE));
        let mut second = super::super::OutputCleaner::new(Some(COLLAPSE));
        let mut text = String::new();
        first.push(&input[..at], &mut |piece| text.push_str(piece));
        second.push(&first.resume_bytes(), &mut |piece| text.push_str(piece));
        second.push(&input[at..], &mut |piece| text.push_str(piece));
        second.end(&mut |piece| text.push_str(piece));
        assert_eq!(text, whole, "at {at}");
    }
}

#[test]
fn ten_bytes_do_not_become_megabytes() {
    let text = clean(COLLAPSE, [&b"\x1b[99999999Cx\n\x1b[99999999999999999999999Gx\n"[..]]);
    assert!(text.len() < 600, "{}", text.len());
    let tabs = "\t".repeat(60_000) + "\rx\n";
    assert!(clean(COLLAPSE, [tabs.as_bytes()]).len() <= 65_536);
}

#[test]
fn a_line_that_is_erased_again_and_again_for_few_bytes_collapses_no_more() {
    for wide in ["\t".repeat(8_000), "x".repeat(60_000)] {
        for erased in ["\x1b[2Kx", "\x1b[1K", "\x1b[1K\x1b[31mx"] {
            let input = format!("{wide}{}\nlast\rLAST\n", erased.repeat(1_000));
            let whole = clean(COLLAPSE, [input.as_bytes()]);
            assert_eq!(clean(COLLAPSE, input.as_bytes().chunks(1)), whole);
            assert!(whole.ends_with("\nLAST\n"));
            assert!(!erased.contains('x') || whole.matches('x').count() > 900, "{erased:?}");
        }
    }
    for bar in ["\x1b[2K\x1b[1G⠋ 10 % \x1b[40Gof 3", "\x1b[2K\x1b[250G10 %", "\r\x1b[K\x1b[250C日"] {
        let text = clean(COLLAPSE, [format!("{}\n", bar.repeat(30_000)).as_bytes()]);
        assert!(text.lines().count() == 1 && text.len() < 300, "{bar:?}");
    }
}

/// Bytes that cause trouble more often than chance would.
pub(super) fn hostile() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => "[a-z0-9;\\[\\]KmGCDJ ]{0,6}".prop_map(String::into_bytes),
        2 => prop::sample::select(vec![
            "\r", "\n", "\r\n", "\x08", "\t", "\x1b", "\x1b[", "\x1b[K", "\x1b[1K", "\x1b[2K", "\x1b[31m", "\x1b]0;t",
            "\x07", "\x1b\\", "\u{9b}", "\u{9c}", "\u{9d}", "\x18", "\0", "\x7f", "日", "é", "e\u{301}", "😀", "\u{200d}",
            "\x1b[3C", "\x1b[2D", "\x1b[5G", "\x1bP", "\x1b(0", "_\x08a",
        ]).prop_map(|text| text.as_bytes().to_vec()),
        1 => proptest::collection::vec(any::<u8>(), 0..4),
    ];
    proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn the_split_does_not_matter(input in hostile(), sizes in proptest::collection::vec(1usize..9, 1..9)) {
        for rules in [COLLAPSE, KEEP, RAW_ANSI, SanitizeRules { ansi: false, progress: ProgressLineHandling::Keep }] {
            let whole = clean(rules, [&input[..]]);
            let mut pieces = Vec::new();
            let mut rest = &input[..];
            for size in sizes.iter().cycle() {
                let (piece, more) = rest.split_at(rest.len().min(*size));
                pieces.push(piece);
                rest = more;
                if rest.is_empty() {
                    break;
                }
            }
            prop_assert_eq!(clean(rules, pieces), whole);
        }
    }

    #[test]
    fn no_control_character_is_left(input in hostile()) {
        let text = clean(COLLAPSE, [&input[..]]);
        prop_assert!(!text.chars().any(|c| c.is_control() && !"\n\t".contains(c)), "{text:?}");
        let kept = clean(KEEP, [&input[..]]);
        prop_assert!(!kept.chars().any(|c| c.is_control() && !"\n\t\r\x08".contains(c)), "{kept:?}");
        prop_assert_eq!(clean(COLLAPSE, [text.as_bytes()]), text.clone(), "clean text stays as it is");
        let newlines = input.iter().filter(|&&byte| byte == b'\n').count();
        prop_assert_eq!(text.matches('\n').count(), newlines, "no line is lost");
    }

    #[test]
    fn well_formed_sequences_are_what_vte_takes_them_for(
        pieces in proptest::collection::vec(prop_oneof![
            "[a-zé日 ]{1,6}",
            "\x1b\\[[0-9;]{0,5}[a-zA-Z]",
            "\x1b\\[\\?[0-9]{1,4}[hl]",
            "\x1b\\][0-9];[a-zé]{0,6}(\x07|\x1b\\\\)",
            "\x1b[P_^X][a-z0-9]{0,6}\x1b\\\\",
            "\x1b[()#%][0-9AB]",
            "\x1b[0-9=>cDEHM]",
        ], 0..12),
    ) {
        struct PrintedText(String);
        impl vte::Perform for PrintedText {
            fn print(&mut self, c: char) {
                self.0.push(c);
            }
        }
        let input = pieces.concat();
        let mut print = PrintedText(String::new());
        vte::Parser::new().advance(&mut print, input.as_bytes());
        prop_assert_eq!(clean(KEEP, [input.as_bytes()]), print.0);
    }
}
