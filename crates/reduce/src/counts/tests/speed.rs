//! Prints the time of a line: `cargo test --release -p agent-bash-reduce --lib -- --ignored speed --nocapture`.

use std::hint::black_box;
use std::time::{Duration, Instant};

use super::text;
use crate::CommandStream;
use crate::counts::{CommandTermination, TestCountReader};

const CHUNK: usize = 64 << 10;
/// Bytes of each text but `seq`.
const SIZE: usize = 32 << 20;

fn texts() -> Vec<(&'static str, String)> {
    type Kind = (&'static str, fn(usize) -> String);
    let kinds: [Kind; 10] = [
        ("words", |at| format!("compiled module {at} of the application into target/debug/deps/libfoo-{at}.rlib\n")),
        ("dated", |at| format!("2026-11-26T20:55:{} INFO server handled request {at} in {} ms\n", at % 60, at % 97)),
        ("paths", |at| format!("./crates/reduce/src/counts/file{at}.rs\n")),
        ("indented", |at| format!("    at Object.<anonymous> (/srv/app/src/file{at}.js:{}:12)\n", at % 300)),
        ("brackets", |at| format!("[INFO] Downloading from central: http://127.0.0.1/org/apache/maven/{at}.pom\n")),
        ("colours", |at| format!("\u{1b}[32m✓\u{1b}[39m step {at} \u{1b}[90m(12 ms)\u{1b}[39m\n")),
        ("blank", |at| if at.is_multiple_of(2) { "\n".to_owned() } else { format!("paragraph {at}\n") }),
        ("numbers", |at| format!("{at} ok, {} passed, PASS {at}/{at} ok {at} FAIL 0 tests {at}\n", at / 2)),
        ("results", |at| format!("ok {at} PASS passed {at} of {at} tests\n")),
        ("json", |at| {
            format!(
                "{{\"id\":{at},\"name\":\"item {at}\",\"tags\":[\"PASS\",\"ok\"],\"text\":\"{}\"}}\n",
                "x ".repeat(90)
            )
        }),
    ];
    let seq = (1..=2_000_000).map(|at| format!("{at}\n")).collect();
    let fill = |line: fn(usize) -> String| {
        let mut text = String::with_capacity(SIZE + CHUNK);
        (0..).take_while(|&at| (text.len() < SIZE).then(|| text.push_str(&line(at))).is_some()).for_each(drop);
        text
    };
    [("seq", seq)].into_iter().chain(kinds.map(|(name, line)| (name, fill(line)))).collect()
}

fn timed(text: &str, mut push: impl FnMut(&[u8])) -> Duration {
    let start = Instant::now();
    text.as_bytes().chunks(CHUNK).for_each(&mut push);
    start.elapsed()
}

#[test]
#[ignore = "measures"]
#[expect(clippy::cast_precision_loss, reason = "for people")]
fn speed() {
    let recorded = [("cargo-test", "all-pass", "cargo test"), ("pytest", "fail", "pytest"), ("jest", "fail", "jest")];
    let recorded = recorded.map(|(runner, case, command)| {
        let text = text(runner, case);
        (runner, text.repeat(SIZE / text.len()), Some(command))
    });
    let plain = texts().into_iter().map(|(name, text)| (name, text, None));
    for (name, text, command) in plain.chain(recorded) {
        let printed = command.map(crate::class::output_profile);
        let mut reader = TestCountReader::new(printed.as_ref());
        let taken = timed(&text, |chunk| reader.push(CommandStream::Stdout, chunk));
        let counts = reader.end(CommandTermination::Unknown);
        let mut lines = 0;
        let split = timed(&text, |chunk| lines += memchr::memchr_iter(b'\n', black_box(chunk)).map(black_box).count());
        let (line, split) = (|time: Duration| time.as_nanos() as f64 / lines as f64, split);
        println!(
            "{name:>10}: {:6.1} ns a line, {:5.0} MB/s; {:4.1} ns to split, ratio {:4.1}; {} runners",
            line(taken),
            text.len() as f64 / taken.as_micros() as f64,
            line(split),
            taken.as_secs_f64() / split.as_secs_f64(),
            counts.len(),
        );
    }
}
