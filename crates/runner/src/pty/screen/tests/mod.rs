//! The sequences that programs really send.

use super::{EmulatedScreen, ScreenContent};

mod random;
mod speed;

fn screen(cols: u16, rows: u16, bytes: impl AsRef<[u8]>) -> EmulatedScreen {
    let mut screen = EmulatedScreen::new(cols, rows);
    screen.feed_all(bytes.as_ref());
    screen
}

fn shown(cols: u16, rows: u16, bytes: impl AsRef<[u8]>) -> ScreenContent {
    screen(cols, rows, bytes).content()
}

/// Returns the rows without empty ones at the end.
fn lines(cols: u16, rows: u16, bytes: impl AsRef<[u8]>) -> Vec<String> {
    let mut lines = shown(cols, rows, bytes).lines;
    lines.truncate(lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1));
    lines
}

fn replies(bytes: &str) -> String {
    String::from_utf8(screen(80, 24, bytes).take_replies()).unwrap()
}

#[test]
fn shows_all_rows_without_spaces_at_the_end() {
    let shown = shown(10, 3, "ab  \r\n  c");
    assert_eq!(shown.lines, ["ab", "  c", ""]);
    assert_eq!((shown.row, shown.col, shown.title.as_str(), shown.alternate), (1, 3, "", false));
}

#[test]
fn wraps_when_the_next_character_comes() {
    assert_eq!(lines(4, 3, "abcd"), ["abcd"]);
    assert_eq!(shown(4, 3, "abcd").col, 3);
    assert_eq!(lines(4, 3, "abcde"), ["abcd", "e"]);
    assert_eq!(lines(4, 3, "abcd\r\ne"), ["abcd", "e"]);
    assert_eq!(lines(4, 3, "\x1b[?7labcdef"), ["abcf"]);
}

#[test]
fn scrolls_and_keeps_no_history() {
    assert_eq!(lines(4, 2, "a\r\nb\r\nc\r\nd"), ["c", "d"]);
    assert_eq!(lines(4, 2, "a\r\nb\r\nc\x1b[H\x1bM"), ["", "b"]);
}

#[test]
fn a_wide_character_stands_there_once_and_marks_stay_with_their_base() {
    let shown = shown(10, 2, "日本e\u{301}x");
    assert_eq!(shown.lines[0], "日本e\u{301}x");
    assert_eq!(shown.col, 6);
    assert_eq!(lines(5, 3, "abcd日"), ["abcd", "日"]);
    assert_eq!(lines(10, 1, "日本\x1b[1;2Hx"), [" x本"]);
    assert_eq!(
        lines(10, 1, "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}"),
        ["🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}"]
    );
}

#[test]
fn marks_without_end_neither_show_nor_stay() {
    let mut screen = screen(10, 2, "e");
    for _ in 0..100_000 {
        screen.feed_all("\u{301}".as_bytes());
    }
    for _ in 0..10_000 {
        screen.feed_all(b"\x1b[65535b");
    }
    assert_eq!(screen.content().lines[0].chars().count(), 1 + 16);
    assert!(screen.painter.terminal.most_marks() <= 64 * 1024, "{}", screen.painter.terminal.most_marks());
}

#[test]
fn tabs_are_spaces() {
    assert_eq!(lines(20, 1, "a\tb\tc"), ["a       b       c"]);
    assert_eq!(lines(20, 1, "\x1b[3g\x1b[5G\x1bH\ra\tb"), ["a   b"]);
}

#[test]
fn draws_boxes_as_ncurses_does() {
    // smacs, repeat, rmacs; xterm-256color has rep=%p1%c\E[%p2%{1}%-%db
    let frame = "\x1b(0lq\x1b[5bk\x1b(B\x1b[2;1H\x1b(0x\x1b(B hi\x1b[2;8H\x1b(0x\x1b(B\x1b[3;1H\x1b(0mqqqqqqj\x1b(B";
    assert_eq!(lines(10, 4, frame), ["┌──────┐", "│ hi   │", "└──────┘"]);
    // The other set by SO and SI, as in TERM=vt100.
    assert_eq!(lines(10, 1, "\x1b)0a\x0eqx\x0fq"), ["a─│q"]);
    assert_eq!(lines(10, 1, "ab\x1b[31m\x1b[3b"), ["abbbb"]);
}

#[test]
fn what_scrolls_off_at_once_is_not_drawn() {
    for text in
        ["a line of some length, as builds write them\r\n", "y\r\n", "\r\n", "QmFzZTY0", "\x1b[32mok\x1b[0m grün\r\n"]
    {
        let bytes = text.repeat((2 << 20) / text.len()).into_bytes();
        let mut screen = EmulatedScreen::new(80, 24);
        bytes.chunks(4095).for_each(|read| screen.feed_all(read));
        let skipped = screen.painter.terminal.skipped as f64;
        // Colours take no drawing either, but are not counted.
        let text = if text.contains('\x1b') { bytes.len() * 10 / 18 } else { bytes.len() };
        assert!(skipped > 0.9 * text as f64, "{skipped} of {text}");
    }
}

#[test]
fn a_region_below_a_single_row_is_not_the_whole_screen() {
    let text = "line\r\n".repeat(1000);
    assert_eq!(lines(10, 1, format!("\x1b[2;3r{text}x")), ["xine"]);
}

#[test]
fn a_repeat_takes_no_longer_than_the_screen_is_large() {
    let mut screen = EmulatedScreen::new(4, 2);
    let began = std::time::Instant::now();
    for _ in 0..100_000 {
        screen.feed_all(b"x\x1b[65535b");
    }
    assert_eq!(screen.content().lines, ["xxxx", "xxxx"]);
    assert!(began.elapsed() < std::time::Duration::from_secs(60));
}

#[test]
fn the_alternate_screen_comes_and_goes() {
    let enter = "$ vim\r\n\x1b[?1049h\x1b[H\x1b[2J~\r\n~";
    let shown = shown(10, 3, enter);
    assert_eq!((shown.lines, shown.alternate), (vec!["~".into(), "~".into(), String::new()], true));
    let shown = self::shown(10, 3, format!("{enter}\x1b[?1049l$"));
    assert_eq!(
        (shown.lines, shown.alternate, shown.row, shown.col),
        (vec!["$ vim".into(), "$".into(), String::new()], false, 1, 1)
    );
}

#[test]
fn a_region_scrolls_as_in_vim() {
    let rows = "\x1b[1;1Ha\x1b[2;1Hb\x1b[3;1Hc\x1b[4;1Hstatus";
    assert_eq!(lines(10, 4, format!("{rows}\x1b[1;3r\x1b[3;1H\nd\x1b[r")), ["b", "c", "d", "status"]);
    assert_eq!(lines(10, 4, format!("{rows}\x1b[1;3r\x1b[1;1H\x1bM\x1b[r")), ["", "a", "b", "status"]);
    assert_eq!(lines(10, 4, format!("{rows}\x1b[2;3r\x1b[2;1H\x1b[M\x1b[r")), ["a", "c", "", "status"]);
    assert_eq!(lines(10, 4, format!("{rows}\x1b[2;3r\x1b[2;1H\x1b[L\x1b[r")), ["a", "", "b", "status"]);
}

#[test]
fn erases() {
    let rows = "abc\r\ndef\r\nghi\x1b[2;2H";
    assert_eq!(lines(5, 3, format!("{rows}\x1b[K")), ["abc", "d", "ghi"]);
    assert_eq!(lines(5, 3, format!("{rows}\x1b[1K")), ["abc", "  f", "ghi"]);
    assert_eq!(lines(5, 3, format!("{rows}\x1b[2K")), ["abc", "", "ghi"]);
    assert_eq!(lines(5, 3, format!("{rows}\x1b[J")), ["abc", "d"]);
    assert_eq!(lines(5, 3, format!("{rows}\x1b[2J")), [""; 0]);
    assert_eq!(lines(5, 3, format!("{rows}\x1b[X")), ["abc", "d f", "ghi"]);
}

#[test]
fn erasing_above_the_second_row_takes_the_first() {
    assert_eq!(lines(5, 3, "abc\r\ndef\r\nghi\x1b[2;2H\x1b[1J"), ["", "  f", "ghi"]);
}

#[test]
fn deleting_more_than_there_is_leaves_what_is_before_the_cursor() {
    assert_eq!(lines(6, 1, "abcdef\x1b[1;5H\x1b[4P"), ["abcd"]);
    assert_eq!(lines(6, 1, "abcdef\x1b[1;3H\x1b[2P"), ["abef"]);
    assert_eq!(lines(6, 1, "abcdef\x1b[1;3H\x1b[2@"), ["ab  cd"]);
}

#[test]
fn keeps_and_restores_the_cursor() {
    let shown = shown(10, 3, "ab\x1b7\x1b[3;5Hx\x1b8c");
    assert_eq!((shown.lines[0].as_str(), shown.row, shown.col), ("abc", 0, 3));
    assert_eq!(lines(10, 2, "ab\x1b[s\r\nx\x1b[uc"), ["abc", "x"]);
}

#[test]
fn answers_what_is_asked() {
    assert_eq!(replies("ab\r\nc\x1b[6n"), "\x1b[2;2R");
    assert_eq!(replies("\x1b[5n\x1b[c\x1b[6n"), "\x1b[0n\x1b[?6c\x1b[1;1R");
    assert_eq!(replies("\x1b[18t"), "\x1b[8;24;80t");
    assert_eq!(replies("\x1b[?25$p\x1b[?25l\x1b[?25$p"), "\x1b[?25;1$y\x1b[?25;2$y");
    let mut screen = screen(80, 24, "\x1b[5n");
    screen.take_replies();
    assert_eq!(screen.take_replies(), b"");
}

#[test]
fn tells_nothing_of_the_host() {
    // Colours, clipboard (asked and set), pixels, the version of a library.
    assert_eq!(
        replies(
            "\x1b]10;?\x07\x1b]11;?\x1b\\\x1b]4;1;?\x07\x1b]52;c;?\x07\x1b]52;c;aGk=\x07\x1b[14t\x1b[>q\x1bP+q544e\x1b\\"
        ),
        ""
    );
}

#[test]
fn answers_that_nobody_takes_are_bounded() {
    let mut screen = EmulatedScreen::new(80, 24);
    for _ in 0..100_000 {
        screen.feed_all(b"\x1b[5n");
    }
    assert_eq!(screen.take_replies().len(), 64 * 1024);
}

#[test]
fn titles() {
    assert_eq!(shown(80, 2, "\x1b]0;a b\x07").title, "a b");
    assert_eq!(shown(80, 2, "\x1b]2;a;b\x1b\\x").title, "a;b");
    assert_eq!(shown(80, 2, "\x1b]2;a\x1b\\x").lines[0], "x");
    assert_eq!(shown(80, 2, "\x1b]2;\u{85}ä\u{9b}31m\n\x07").title, "ä31m");
    assert_eq!(shown(80, 2, "\x1b]2;a\x07\x1b[22;0t\x1b]2;vim\x07\x1b[23;0t").title, "a");
    assert_eq!(shown(80, 2, "\x1b]1;icon\x07\x1b]7;file:///\x07\x1b]2;\x07").title, "");
}

#[test]
fn a_title_without_end_is_bounded() {
    let mut screen = screen(80, 2, "\x1b]2;");
    for _ in 0..10_000 {
        screen.feed_all("ä".repeat(100).as_bytes());
    }
    assert_eq!(screen.content().title, "");
    screen.feed_all(b"\x07x");
    assert_eq!(screen.content().title, "ä".repeat(512));
    assert_eq!(screen.content().lines[0], "x");
}

#[test]
fn strings_for_devices_are_not_shown() {
    assert_eq!(
        lines(20, 1, "a\x1bPq#0;2;0\x1b\\b\x1b_G\x1b\\c\x1b^x\x1b\\d\x1bXy\x1b\\e\x1b]8;;http://x\x07link\x1b]8;;\x07"),
        ["abcdelink"]
    );
}

#[test]
fn a_synchronized_update_hides_nothing() {
    let mut screen = screen(20, 2, "\x1b[?2026h\x1b[Hfirst");
    assert_eq!(screen.content().lines[0], "first");
    screen.feed_all(b"\x1b[?25;2026h\x1b[Hother\x1b[?2026$p");
    assert_eq!(screen.content().lines[0], "other");
    assert_eq!(screen.take_replies(), b"\x1b[?2026;0$y");
}

#[test]
fn bytes_that_are_no_text_are_replaced() {
    assert_eq!(lines(20, 1, b"a\xffb\xc3"), ["a\u{fffd}b"]);
    assert_eq!(lines(20, 1, b"\xe6\x97\x1b[mb"), ["\u{fffd}b"]);
    assert_eq!(lines(20, 1, b"\xf0\x90a\x84"), ["\u{fffd}a\u{fffd}"]);
    let mut screen = screen(20, 1, b"\xe6\x97");
    assert_eq!(screen.content().lines[0], "");
    screen.feed_all(b"\xa5");
    assert_eq!(screen.content().lines[0], "日");
}

#[test]
fn sizes_are_bounded() {
    let mut screen = EmulatedScreen::new(65_535, 65_535);
    assert_eq!(screen.content().lines.len(), 1_000);
    screen.resize(1, 1);
    screen.feed_all("日本abc".as_bytes());
    assert_eq!(screen.content().lines, ["c"]);
}

#[test]
fn another_size_wraps_lines_anew() {
    let mut screen = screen(6, 3, "abcdef");
    screen.resize(3, 3);
    assert_eq!(screen.content().lines, ["abc", "def", ""]);
    screen.resize(10, 2);
    assert_eq!(screen.content().lines, ["abcdef", ""]);
    // Lines without room are gone, from the top.
    screen.resize(2, 2);
    assert_eq!(screen.content().lines, ["cd", "ef"]);
    screen.resize(10, 4);
    assert_eq!(screen.content().lines, ["cdef", "", "", ""]);
}

#[test]
fn control_characters_within_a_sequence_count() {
    assert_eq!(lines(10, 3, "ab\x1b[\r\n2Cc"), ["ab", "  c"]);
    assert_eq!(lines(10, 3, "ab\x1b[3\r\n\x1b[Cc"), ["ab", " c"]);
    assert_eq!(lines(10, 3, "ab\x1b[3\x18c"), ["abc"]);
}

#[test]
fn what_a_reset_leaves() {
    assert_eq!(lines(10, 3, "abc\x1b[2;3r\x1b(0\x1bcq\r\n\n\nx"), ["", "", "x"]);
}

#[test]
fn what_a_soft_reset_leaves() {
    let mut soft = screen(10, 3, "abc\x1b[?1h\x1b[?6h\x1b[2;3r\x1b[4h\x1b(0\x1b[2;3H\x1b[!pq");
    let shown = soft.content();
    assert_eq!((shown.lines.join("|").as_str(), shown.application_cursor), ("abc||  q", false));
    assert_eq!(soft.feed(b"\r\n1\r\n2"), 6);
    assert_eq!(soft.content().lines, ["  q", "1", "2"]);
    // A full row stays whole: the next character wraps.
    assert_eq!(lines(2, 2, "日\x1b[!pa"), ["日", "a"]);
    assert_eq!(lines(2, 2, "xy\x1b[!pa"), ["xy", "a"]);
}

#[test]
fn a_few_bytes_never_take_long() {
    for sequence in ["\x1b[J", "\x1b[65535b", "\x1b[9L", "\x1b[9T", "\x1bc", "\x1b#8", "\x1b[?1049h\x1b[?1049l"] {
        let flood = sequence.repeat(20_000);
        let mut screen = screen(1_000, 1_000, "x");
        let taken = screen.feed(flood.as_bytes());
        assert!((1..=2 * sequence.len()).contains(&taken), "{sequence:?}: {taken}");
    }
    // The output of programs is taken in at once.
    let drawing = "\x1b[H\x1b[J\x1b[5;10Hsome text\x1b[K\x1b[1mmore\x1b[m\r\n".repeat(400);
    assert_eq!(EmulatedScreen::new(80, 24).feed(drawing.as_bytes()), drawing.len());
    let text = "some text\r\n".repeat(40_000);
    assert_eq!(EmulatedScreen::new(80, 24).feed(text.as_bytes()), text.len());
}

#[test]
fn a_screen_that_is_made_narrow_shows_the_end() {
    let line = format!("{}\r\n", "0123456789".repeat(99));
    let mut screen = screen(1_000, 50, line.repeat(60).trim_end());
    screen.resize(2, 3);
    assert_eq!(screen.content().lines, ["45", "67", "89"]);
}

fn styled(bytes: &str) -> Vec<String> {
    let mut screen = screen(20, 3, bytes);
    let plain = screen.content().lines;
    let styled = screen.styled();
    assert_eq!(styled.plain, plain);
    assert_eq!((styled.rows, styled.cols), (3, 20));
    styled.lines
}

#[test]
fn colours_and_styles_are_those_of_the_last_drawing() {
    assert_eq!(styled("\x1b[31mred\x1b[0m plain")[0], "\x1b[0;31mred\x1b[0m plain");
    assert_eq!(styled("\x1b[1;4;38;5;208;48;2;1;2;3mx")[0], "\x1b[0;1;4;38;5;208;48;2;1;2;3mx\x1b[0m");
    assert_eq!(styled("\x1b[91;102mx\x1b[my")[0], "\x1b[0;91;102mx\x1b[0my");
    assert_eq!(styled("\x1b[7mbar  \x1b[0m  ")[0], "\x1b[0;7mbar  \x1b[0m", "blanks of a bar are seen");
    assert_eq!(styled("\x1b[31mab\x1b[1;1H\x1b[32mx")[0], "\x1b[0;32mx\x1b[0;31mb\x1b[0m");
    assert_eq!(styled("\x1b[8mhidden\x1b[0m")[0], "hidden");
    assert_eq!(styled("\x1b[31m日\x1b[0m本")[0], "\x1b[0;31m日\x1b[0m本");
    assert_eq!(styled("plain"), ["plain", "", ""]);
}

#[test]
fn colours_of_skipped_text_last() {
    let flood = |style: &str| format!("{style}{}last", "line\r\n".repeat(10_000));
    assert_eq!(styled(&flood("\x1b[31m"))[2], "\x1b[0;31mlast\x1b[0m");
    assert_eq!(styled(&flood("\x1b[31m\x1b[0m"))[2], "last");
    let coloured = "\x1b[32mok\x1b[0m line\r\n".repeat(10_000);
    assert_eq!(styled(&coloured)[1], "\x1b[0;32mok\x1b[0m line");
    let only_styles = "\x1b[31m\x1b[1m".repeat(100_000);
    assert_eq!(styled(&format!("{only_styles}x"))[0], "\x1b[0;1;31mx\x1b[0m");
}
