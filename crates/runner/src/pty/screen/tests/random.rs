//! Any bytes, any split, any size; and skipped lines make no difference.

use alacritty_terminal::event::VoidListener;
use proptest::collection::vec;
use proptest::prelude::*;

use super::super::{EmulatedScreen, STEP, ScreenContent};

/// Parts of what programs send, whole and torn.
fn token() -> impl Strategy<Value = Vec<u8>> {
    let number = prop_oneof![
        Just(String::new()),
        (0_u32..30).prop_map(|number| number.to_string()),
        Just("65535".into()),
        Just("99999999999".into())
    ];
    let control = ("[?>=!]?", vec(number, 0..4), "[ $\"']?", any::<prop::sample::Index>()).prop_map(
        |(prefix, numbers, middle, last)| {
            let finals = b"@ABCDEFGHIJKLMPSTXZ`abcdefghlmnpqrstu~";
            format!("\x1b[{prefix}{}{middle}{}", numbers.join(";"), char::from(finals[last.index(finals.len())]))
                .into_bytes()
        },
    );
    let mode =
        (prop::sample::select(vec!["4", "20", "?1", "?3", "?6", "?7", "?25", "?1049", "?2026", "?2004"]), "[hl]")
            .prop_map(|(mode, set)| format!("\x1b[{mode}{set}").into_bytes());
    prop_oneof![
        4 => "[a-z ]{1,12}".prop_map(String::into_bytes),
        3 => control,
        2 => mode,
        2 => vec(prop::sample::select(b"\r\n\t\x08\x07\x0e\x0f\x0b\x0c\x18\x1a\x7f\x00".to_vec()), 1..4),
        2 => Just(b"\r\n".to_vec()),
        2 => prop::sample::select(vec!["日", "本", "e\u{301}", "\u{200d}", "\u{ad}", "👩\u{200d}👩", "ä", "\u{85}", "\u{9b}", "\u{fe0f}"]).prop_map(|text| text.as_bytes().to_vec()),
        2 => "\x1b[()*+][0B]|\x1b[78DEHMcZ=>#]|\x1b#8|\x1b[()*+ %]".prop_map(String::into_bytes),
        1 => prop::sample::select(vec!["\x1b]0;title\x07", "\x1b]2;", "\x1bP1$q", "\x1b\\", "\x1b]52;c;?\x07", "\x1b]8;;x\x1b\\", "\x1b", "\x1b[", "\x1b[1;", "\x1b_x"]).prop_map(|text| text.as_bytes().to_vec()),
        1 => vec(any::<u8>(), 1..8),
    ]
}

fn bytes(most: usize) -> impl Strategy<Value = Vec<u8>> {
    vec(token(), 0..most).prop_map(|tokens| tokens.concat())
}

/// Runs of text that scrolls, of several kinds.
fn run() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        4 => "[ -~]{0,40}",
        1 => "[a-z]{100,300}",
        2 => "(日|e\u{301}|\u{301}|ä|\t|x){0,30}",
        1 => Just(String::new()),
        1 => "[a-z]{1,4}(\r|\x08|\x07|\n)[a-z]{0,3}",
    ];
    let end = prop_oneof![20 => Just("\r\n"), 1 => Just("\n"), 1 => Just("\r"), 1 => Just("\x0b\r\n"), 1 => Just("\x0f\r\n"), 1 => Just("\x1b[1m\r\n")];
    prop_oneof![
        4 => (vec((line, end), 1..12), 1_usize..40).prop_map(|(lines, times)| lines.iter().map(|(line, end)| format!("{line}{end}")).collect::<String>().repeat(times).into_bytes()),
        2 => ("[A-Za-z0-9]{1,70}", 10_usize..100).prop_map(|(text, times)| text.repeat(times).into_bytes()),
        1 => (100_usize..2000).prop_map(|times| b"\r\n".repeat(times)),
        1 => ("[a-z\u{e4}]{0,2}", 100_usize..2000).prop_map(|(text, times)| [text.into_bytes(), b"\r\n".repeat(times)].concat()),
    ]
}

/// Returns the modes in force when such a run begins.
fn state() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        2 => bytes(12),
        4 => prop::sample::select(vec![
            "", "\x1b[?1049h", "\x1b[2;3r", "\x1b[1;2r", "\x1b[2r", "\x1b[r", "\x1b[5;9r\x1bc", "\x1b[3;50r", "\x1b[?6h", "\x1b[2;4r\x1b[?6h", "\x1b[4h", "\x1b[20h", "\x1b[?7l",
            "\x1b(0", "\x1b)0\x0e", "\x1b[3g", "\x1b[H", "\x1b[99;99Hx", "\x1b[99;99H日", "\x1b", "\x1b[", "\x1b[3", "\x1b]0;", "\x1bP", "\x1b7", "\x1b[31;44m", "\x1b#8",
        ]).prop_map(|text| text.as_bytes().to_vec()),
        1 => prop::sample::select(vec![&b"\xc3"[..], b"\xe6\x97", b"\xf0\x9f", b"\xff"]).prop_map(<[u8]>::to_vec),
    ]
}

fn size() -> impl Strategy<Value = (u16, u16)> {
    prop_oneof![6 => (1_u16..30, 1_u16..9), 1 => Just((80, 24))]
}

fn fed(cols: u16, rows: u16, parts: &[&[u8]]) -> (ScreenContent, Vec<u8>) {
    let mut screen = EmulatedScreen::new(cols, rows);
    parts.iter().for_each(|part| screen.feed_all(part));
    (screen.content(), screen.take_replies())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_and_sizes_are_borne(steps in vec((bytes(30), size()), 1..8)) {
        let mut screen = EmulatedScreen::new(7, 3);
        for (bytes, (cols, rows)) in steps {
            screen.feed_all(&bytes);
            let shown = screen.content();
            prop_assert!(usize::from(shown.row) < shown.lines.len());
            prop_assert!(shown.lines.iter().all(|line| !line.contains(|character: char| character.is_control())), "{shown:?}");
            screen.resize(cols, rows);
            let shown = screen.content();
            prop_assert_eq!(shown.lines.len(), usize::from(rows.max(1)));
            prop_assert!(shown.col < cols.max(2));
        }
    }

    #[test]
    fn any_split_shows_the_same((cols, rows) in size(), bytes in bytes(60), cuts in vec(any::<prop::sample::Index>(), 0..6)) {
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).chain([0, bytes.len()]).collect();
        cuts.sort_unstable();
        let parts: Vec<&[u8]> = cuts.windows(2).map(|cut| &bytes[cut[0]..cut[1]]).collect();
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        let whole = fed(cols, rows, &[&bytes]);
        prop_assert_eq!(&fed(cols, rows, &parts), &whole);
        prop_assert_eq!(&fed(cols, rows, &single), &whole);
    }

    #[test]
    fn what_is_skipped_makes_no_difference(
        (cols, rows) in size(), before in vec(state(), 0..3), runs in vec((run(), state()), 1..4), after in bytes(10), (cols_after, rows_after) in size(),
    ) {
        let mut skipping = EmulatedScreen::new(cols, rows);
        let mut drawing = EmulatedScreen::new(cols, rows);
        drawing.painter.terminal.draws_all = true;
        let ends = before.into_iter().chain(runs.into_iter().flat_map(|(run, state)| [run, state])).chain([b"\x1b[3b".to_vec(), after]);
        for bytes in ends {
            for screen in [&mut skipping, &mut drawing] {
                bytes.chunks(STEP).for_each(|step| screen.feed_all(step));
            }
            prop_assert_eq!(skipping.content(), drawing.content());
        }
        for screen in [&mut skipping, &mut drawing] {
            screen.resize(cols_after, rows_after);
        }
        prop_assert_eq!(skipping.content(), drawing.content());
        prop_assert_eq!(skipping.take_replies(), drawing.take_replies());
    }

    #[test]
    fn shows_what_the_bare_emulator_shows((cols, rows) in (2_u16..30, 1_u16..9), bytes in bytes(60)) {
        let bytes = as_the_library_does(&bytes);
        let mut bare = BareEmulator::new(cols, rows);
        bare.feed(&bytes);
        let shown = fed(cols, rows, &[&bytes]).0;
        prop_assert_eq!((shown.lines, shown.row, shown.col), bare.shown());
    }
}

fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(256)
}

/// Removes input that is handled differently on purpose: C1 characters as bytes, cancelling characters, synchronized
/// updates, soft resets, which the library ignores, and input that the library gets wrong.
fn as_the_library_does(bytes: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes).replace(['b', 'P', 'Z', '\x18', '\x1a'], "c");
    text.replace("2026", "2004").replace("1J", "2J").replace("!p", "!q").into_bytes()
}

/// The library with nothing before it.
struct BareEmulator {
    term: alacritty_terminal::Term<VoidListener>,
    parser: alacritty_terminal::vte::ansi::Processor,
}

impl BareEmulator {
    fn new(cols: u16, rows: u16) -> Self {
        let size = alacritty_terminal::term::test::TermSize::new(cols.into(), rows.into());
        let config = alacritty_terminal::term::Config { scrolling_history: 0, ..Default::default() };
        Self { term: alacritty_terminal::Term::new(config, &size, VoidListener), parser: Default::default() }
    }

    fn feed(&mut self, bytes: &[u8]) {
        self.parser.advance(&mut self.term, bytes);
    }

    fn shown(&self) -> (Vec<String>, u16, u16) {
        use alacritty_terminal::grid::Dimensions;
        use alacritty_terminal::index::Line;
        let grid = self.term.grid();
        let lines =
            (0..grid.screen_lines()).map(|row| super::super::cells::row_text(&grid[Line(row as i32)][..])).collect();
        (lines, grid.cursor.point.line.0 as u16, grid.cursor.point.column.0 as u16)
    }
}
