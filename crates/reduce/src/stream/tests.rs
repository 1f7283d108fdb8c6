use super::*;
use allocation_counter::measure;

/// Most memory that a reduction of one stream may take: 128 KiB, and a buffer of up to 64 KiB that grows or
/// shrinks: the counter counts both the old and the new place of the buffer.
const MOST: u64 = (128 + 64) << 10;

/// Lines of many kinds: new ones, repeats, failures that differ, long ones.
fn line(at: usize, line: &mut String) {
    use std::fmt::Write;
    line.clear();
    let written = match at % 50 {
        7 => write!(line, "src/part{}.rs:{at}:3: warning: unused name {}", at % 9, at % 7),
        21 => write!(line, "{}", "x".repeat(if at % 1_000 == 21 { 30_000 } else { 300 })),
        33 => write!(line, "the same line every time"),
        _ => write!(line, "step {at}: prepared the part number {} and went on with it", at * 7919 % 10_007),
    };
    written.expect("a string takes all");
    line.push('\n');
}

#[test]
fn a_stream_is_reduced_in_192_kib_of_memory() {
    let options = Options { command: Some("make all"), ..Options::new(Level::Salient { budget: 1_000 }) };
    // Rules and tables are built once per process.
    let mut first = Reducer::new(&options);
    let mut text = String::new();
    for at in 0..100 {
        line(at, &mut text);
        first.push(Stream::Stdout, &text);
    }
    first.finish(End::Succeeded);
    for chunk in [100, 4 << 10, 256 << 10] {
        let mut part = String::with_capacity(chunk + (64 << 10));
        let mut next = String::with_capacity(64 << 10);
        let mut reducer = None;
        let mut pushed = 0;
        let allocated = measure(|| {
            let reducer = reducer.insert(Reducer::new(&options));
            let mut at = 0;
            while pushed < 8 << 20 {
                part.clear();
                while part.len() < chunk {
                    match at {
                        0..300 => next = format!("FAILED tests/test_orders.py::test_order_{at} - assert {at} == 2\n"),
                        _ => line(at, &mut next),
                    }
                    part.push_str(&next);
                    at += 1;
                }
                pushed += part.len();
                reducer.push(Stream::Stdout, &part);
            }
        });
        let most = allocated.bytes_max;
        assert!(most <= MOST, "{most} bytes in chunks of {chunk}");
        let view = reducer.expect("it was made").finish(End::Succeeded).expect("a gain");
        assert!(!view.elided.is_empty());
    }
}

#[test]
fn repeated_lines_have_the_view_of_lines_that_come_alone() {
    let options = Options { command: Some("make all"), ..Options::new(Level::Salient { budget: 200 }) };
    let mut text = String::new();
    for (at, line) in
        ["", "y", "Überprüfung 12 ok", "  12 warnings", "error: no such file", "", "step 7"].iter().enumerate()
    {
        text.push_str(&format!("{line}\n").repeat(at * 9_000 + 1));
        text.push_str(&format!("between {at}\n"));
    }
    let view = |parts: &mut dyn Iterator<Item = &str>| {
        let mut reducer = Reducer::new(&options);
        parts.for_each(|part| reducer.push(Stream::Stdout, part));
        format!("{:?}", reducer.finish(End::Failed))
    };
    let alone = view(&mut text.split_inclusive('\n'));
    assert!(alone.contains("between 6"), "{alone}");
    assert_eq!(view(&mut std::iter::once(&*text)), alone);
    let (left, right) = text.split_at(100_001);
    assert_eq!(view(&mut [left, right].into_iter()), alone);
}
