//! The hot paths that need no process. `bench/guard/guard.mjs` counts their instructions.
//!
//! `guard` lists the paths. `guard PATH COUNT` does the work of one path COUNT times and prints the largest memory that
//! it held at once, in bytes. What two counts differ by is the cost of the work alone, without the start of this
//! program.
//!
//! `guard worst` lists the engines that read foreign text. `guard worst ENGINE SECONDS SEED` looks for the text that an
//! engine takes longest for, and prints it. `guard text ENGINE COUNT FILE` reads such a text COUNT times.

mod worst;

use std::path::{Path, PathBuf};
use std::time::Duration;

use capture::{KeptTextLimits, SanitizeRules, StreamCapture, TruncationPolicy};
use evidence::{CommandEnd, EvidenceInput};
use ledger::{EntryFormat, LedgerLine, LedgerQuery, LedgerReader, LedgerWriter};
use reduce::{CommandStream, OutputReducer, ReductionLevel, ReductionOptions};
use safety::{AnalysisContext, SafetyPolicy};
use wire::{FrameKind, WireFrame, WireFrameReader};
use worst::ENGINES;

/// A path by its name. Its function makes the input, which is the same each time, and does the work COUNT times.
type HotPath = (&'static str, fn(usize));

const PATHS: [HotPath; 15] = [
    ("reading plain lines", |count| read(count, &plain_lines(), TAIL)),
    ("reading coloured lines", |count| read(count, &coloured_lines(), TAIL)),
    ("reading one long line", |count| read(count, &"x".repeat(MIB), TAIL)),
    ("reading text in many scripts", |count| read(count, &"naïve 日本語 текст ✓\n".repeat(MIB / 32), TAIL)),
    ("cleaning progress lines", |count| read(count, &progress_lines(), TAIL)),
    ("keeping the head", |count| read(count, &plain_lines(), TruncationPolicy::Head(LIMITS))),
    ("keeping both ends", |count| read(count, &plain_lines(), ENDS)),
    ("view of a build log", |count| view(count, &plain_lines(), ReductionLevel::Salient { budget: 500 })),
    ("view without loss", |count| view(count, &plain_lines()[..WHOLE_VIEW], ReductionLevel::Lossless)),
    ("judging commands", judge_commands),
    ("redacting commands", redact_commands),
    ("evidence on a script", prove_commands),
    ("a frame over a link", send_frames),
    ("writing ledger entries", write_entries),
    ("reading ledger entries", read_entries),
];

const MIB: usize = 1 << 20;
const LIMITS: KeptTextLimits = KeptTextLimits { max_lines: Some(2_000), max_bytes: Some(51_200), max_chars: None };
const TAIL: TruncationPolicy = TruncationPolicy::Tail(LIMITS);
const ENDS: TruncationPolicy = TruncationPolicy::Ends { max_bytes: 131_072, head_bytes: 4_096, tail_bytes: 4_096 };
/// Bytes of an output whose view is made of the whole.
const WHOLE_VIEW: usize = 32 * 1024;
/// Bytes that a read of a pipe returns at most.
const READ: usize = 256 * 1024;

/// Commands of agents, one per line, with `\n` for the ends of their lines.
const COMMANDS: &str = include_str!("commands.txt");

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        [] => PATHS.iter().for_each(|(name, _)| println!("{name}")),
        ["worst"] => ENGINES.iter().for_each(|(name, _)| println!("{name}")),
        ["worst", name, seconds, seed] => {
            let length = Duration::from_secs(number(seconds));
            print!("{}", worst::search(of(&ENGINES, name), length, number(seed), &commands()));
        }
        ["text", name, count, file] => {
            let (act, text) = (of(&ENGINES, name), std::fs::read_to_string(file).expect("a text"));
            (0..number(count)).for_each(|_| act(&text));
        }
        [name, count] => {
            let (act, count) = (of(&PATHS, name), number(count).try_into().expect("a count"));
            println!("{}", allocation_counter::measure(|| act(count)).bytes_max);
        }
        _ => panic!("arguments as the first lines of this program name them"),
    }
}

fn of<T: Copy>(all: &[(&str, T)], name: &str) -> T {
    all.iter().find(|(other, _)| *other == name).expect("a name that is listed").1
}

fn number(text: &str) -> u64 {
    text.parse().expect("a number")
}

fn commands() -> Vec<String> {
    COMMANDS.lines().map(|line| line.replace("\\n", "\n")).collect()
}

/// Returns numbers that look random and are the same each time.
fn numbers() -> impl Iterator<Item = u64> {
    let next =
        |state: &u64| Some(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407));
    std::iter::successors(Some(7_u64), next).map(|state| state >> 33)
}

/// Returns a mebibyte of lines, each of which a function makes of a random number.
fn lines(line: impl Fn(u64) -> String) -> String {
    let mut text = String::with_capacity(MIB + 256);
    for number in numbers() {
        if text.len() >= MIB {
            break;
        }
        text.push_str(&line(number));
    }
    text
}

fn plain_lines() -> String {
    lines(|n| format!("[{}] compiled src/module-{n}.ts and linked its {} parts\n", n % 97, n % 7))
}

fn coloured_lines() -> String {
    lines(|n| format!("\x1b[32m✓\x1b[39m test of part {n} \x1b[2m({} ms)\x1b[22m\n", n % 900))
}

fn progress_lines() -> String {
    lines(|n| format!("fetching 10%\rfetching 55%\x1b[K\rfetching 100% of {n}\x08\x08..\n"))
}

fn read(count: usize, text: &str, truncate: TruncationPolicy) {
    for _ in 0..count {
        let mut capture = StreamCapture::new("stdout", truncate, Some(SanitizeRules::default()), false);
        capture.spill_off();
        text.as_bytes().chunks(READ).for_each(|chunk| capture.push(chunk));
        std::hint::black_box(capture.finish());
    }
}

fn view(count: usize, text: &str, level: ReductionLevel) {
    let options = ReductionOptions::new(level);
    for _ in 0..count {
        let mut reducer = OutputReducer::new(&options);
        text.as_bytes().chunks(READ).for_each(|chunk| {
            reducer.push(CommandStream::Stdout, &String::from_utf8_lossy(chunk));
        });
        std::hint::black_box(reducer.finish(reduce::ExitOutcome::Succeeded));
    }
}

fn judge(command: &str) {
    let context = AnalysisContext { cwd: "/home/dev/project", home: "/home/dev", ..AnalysisContext::default() };
    std::hint::black_box(safety::analyze(command, context, &SafetyPolicy::default()));
}

fn judge_commands(count: usize) {
    let commands = commands();
    std::iter::repeat_n(&commands, count).flatten().for_each(|command| judge(command));
}

fn redact_commands(count: usize) {
    let commands = commands();
    for command in std::iter::repeat_n(&commands, count).flatten() {
        std::hint::black_box(redact::redact(command));
    }
}

fn prove(script: &str) {
    let (rules, end) =
        (safety::decide::NamedCommandRules::default(), CommandEnd { code: Some(0), signal: None, by_itself: true });
    let (tests, cwd, known) = (|_: &[_]| Vec::new(), Path::new("/"), evidence::ShellKnowledge::default());
    let ran = EvidenceInput { command: script, trace: None, end, tests, cwd, rules: &rules, known: &known };
    std::hint::black_box(evidence::read(ran));
}

fn prove_commands(count: usize) {
    let script = commands().join("\n");
    (0..count).for_each(|_| prove(&script));
}

fn send_frames(count: usize) {
    let frame = WireFrame::unnumbered(FrameKind::Message, vec![b'x'; 16 * 1024]);
    let (mut link, mut frames) = (Vec::new(), WireFrameReader::default());
    for _ in 0..count * 100 {
        frame.encode(&mut link);
        frames.push(&link);
        link.clear();
        assert!(matches!(frames.next_frame(), Ok(Some(_))));
    }
}

/// Returns a temporary directory, and the place of a ledger in it, whose parent is made private.
fn ledger_place() -> (tempfile::TempDir, PathBuf) {
    let temporary = tempfile::tempdir().expect("a directory");
    let place = temporary.path().join("agent-bash/ledger");
    (temporary, place)
}

/// Writes entries into a ledger.
fn fill(place: &Path, entries: usize) {
    let start = r#"{"at":1,"command":"npm test","cwd":"/srv/project","host":{"pid":7,"program":"node agent.js"}}"#;
    let end = ledger::LedgerRunEnd::with_state(2, ledger::LedgerRunState::Exited);
    let mut writer = LedgerWriter::new(place.to_owned());
    for run in 0..entries {
        let entry = LedgerLine::of(&format!("run-{run}")).with_json("start", start).with("end", &end).finish();
        writer.append(1, &entry).expect("written");
    }
}

fn write_entries(count: usize) {
    let (_temporary, place) = ledger_place();
    fill(&place, count * 1_000);
}

fn read_entries(count: usize) {
    let (_temporary, place) = ledger_place();
    fill(&place, 1_000);
    for _ in 0..count {
        let mut reader = LedgerReader::new(place.clone(), LedgerQuery::default(), EntryFormat::Json);
        let mut lines = 0;
        loop {
            let batch = reader.read();
            lines += batch.text.lines().count();
            if batch.is_over {
                break;
            }
        }
        assert_eq!(lines, 1_000);
    }
}
