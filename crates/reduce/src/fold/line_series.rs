//! Series: lines that differ in counters which move by steps. They become one line with their first and last numbers:
//! `[[1..3000]/3000] compiling m[1..3000].o`, `took [0..900 by 10] ms`.
//!
//! Blanks within the brackets are those that align the numbers: `[  1..100]`. A first number with a leading zero gives
//! the width of all.

use std::borrow::Cow;
use std::fmt::Write;

/// Most counters of a line.
const COUNTERS: usize = 8;
/// Longest line with counters, in bytes.
const LONGEST: usize = 400;
/// Most digits of a counter.
const DIGITS: usize = 15;
/// Fewest lines of a series.
pub const FEWEST: usize = 3;

/// How the numbers of a counter are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum CounterWidth {
    /// Each as it is, or with blanks before it: no line has told so far.
    Open,
    Natural,
    /// With blanks before it, up to this width.
    Blanks(usize),
    /// With zeros before it, up to this width.
    Zeros(usize),
}

/// A number in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct SeriesCounter {
    /// The text before the number ends here, the blanks before it excluded.
    text_end: usize,
    /// The place of the digits.
    start: usize,
    end: usize,
    value: i64,
    step: i64,
    width: CounterWidth,
}

impl SeriesCounter {
    /// Appends the number of this line from the first one.
    fn write(&self, to: &mut String, blanks: &str, line: usize) {
        let value = self.value + self.step * i64::try_from(line).unwrap_or(i64::MAX);
        let _ = match self.width {
            CounterWidth::Open | CounterWidth::Natural => write!(to, "{blanks}{value}"),
            CounterWidth::Blanks(width) => write!(to, "{value:>width$}"),
            CounterWidth::Zeros(width) => write!(to, "{blanks}{value:0width$}"),
        };
    }
}

/// Lines that differ in counters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LineSeries {
    counters: Vec<SeriesCounter>,
    /// Whether its lines have nothing but numbers and blanks, and so report nothing.
    pub is_bare: bool,
}

/// Returns the first number of a line.
fn first_number(line: &str) -> Option<i64> {
    let bytes = line.as_bytes();
    let start = bytes.iter().position(u8::is_ascii_digit)?;
    let digits = bytes[start..].iter().take(DIGITS + 1).take_while(|byte| byte.is_ascii_digit());
    Some(digits.fold(0, |number, digit| number * 10 + i64::from(digit - b'0')))
}

/// Returns the number at the start of a text, and the count of its digits. `None` if there is none, or too many digits.
fn leading_number(text: &[u8]) -> Option<(i64, usize)> {
    let (mut number, mut digits) = (0, 0);
    while let Some(digit) = text.get(digits).map(|byte| byte.wrapping_sub(b'0')).filter(|digit| *digit < 10) {
        number = number * 10 + i64::from(digit);
        digits += 1;
        if digits > DIGITS {
            return None;
        }
    }
    (digits > 0).then_some((number, digits))
}

/// Returns the numbers of a line. `None` if there are none, or too many.
fn counters(line: &str) -> Option<Vec<SeriesCounter>> {
    if line.len() > LONGEST {
        return None;
    }
    let bytes = line.as_bytes();
    let mut counters = Vec::new();
    let (mut at, mut text) = (0, 0);
    while at < bytes.len() {
        if !bytes[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let end = at + bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let text_end = at - bytes[text..at].iter().rev().take_while(|byte| **byte == b' ').count();
        let value = line[at..end].parse().ok().filter(|_| end - at <= DIGITS)?;
        let width = if bytes[at] == b'0' && end - at > 1 { CounterWidth::Zeros(end - at) } else { CounterWidth::Open };
        counters.push(SeriesCounter { text_end, start: at, end, value, step: 0, width });
        (at, text) = (end, end);
        if counters.len() > COUNTERS {
            return None;
        }
    }
    (!counters.is_empty()).then_some(counters)
}

impl LineSeries {
    /// Returns the series that three lines begin.
    pub fn of(lines: [&str; FEWEST]) -> Option<Self> {
        // Most lines of one kind do not count, which their first numbers tell.
        let (first, second) = (first_number(lines[0])?, first_number(lines[1])?);
        if second - first != first_number(lines[2])? - second {
            return None;
        }
        let mut counters = counters(lines[0])?;
        let second = self::counters(lines[1]).filter(|second| second.len() == counters.len())?;
        for (counter, second) in counters.iter_mut().zip(second) {
            counter.step = second.value - counter.value;
        }
        let is_bare = lines[0].bytes().all(|byte| byte.is_ascii_digit() || byte == b' ');
        let mut series = Self { counters, is_bare };
        let moves = series.counters.iter().any(|counter| counter.step != 0);
        (moves && series.takes(lines[0], 1, lines[1]) && series.takes(lines[0], 2, lines[2])).then_some(series)
    }

    /// Returns whether a line is that with this number, from 0, of the series that begins with `first`.
    pub fn takes(&mut self, first: &str, number: usize, line: &str) -> bool {
        let mut widths = [CounterWidth::Open; COUNTERS];
        let (first, mut rest) = (first.as_bytes(), line.as_bytes());
        let (mut text, mut tells) = (0, false);
        for (counter, width) in self.counters.iter().zip(&mut widths) {
            let Some(behind) = rest.strip_prefix(&first[text..counter.text_end]) else { return false };
            let number_of_line = counter.value + counter.step * i64::try_from(number).unwrap_or(i64::MAX);
            let blanks = behind.iter().take_while(|byte| **byte == b' ').count();
            let Some((own, digits)) = leading_number(&behind[blanks..]) else { return false };
            if own != number_of_line {
                return false;
            }
            let before = counter.start - counter.text_end;
            let whole = before + counter.end - counter.start;
            let has_zeros = digits > 1 && behind[blanks] == b'0';
            *width = match counter.width {
                CounterWidth::Zeros(width) if blanks == before && digits == width.max(length(number_of_line)) => {
                    counter.width
                }
                _ if has_zeros => return false,
                CounterWidth::Natural if blanks == before => CounterWidth::Natural,
                CounterWidth::Blanks(width) if blanks + digits == width.max(digits) => counter.width,
                CounterWidth::Open if blanks == before && blanks + digits == whole => CounterWidth::Open,
                CounterWidth::Open if blanks == before => CounterWidth::Natural,
                CounterWidth::Open if before > 0 && blanks + digits == whole => CounterWidth::Blanks(whole),
                _ => return false,
            };
            tells |= *width != counter.width;
            rest = &behind[blanks + digits..];
            text = counter.end;
        }
        if rest != &first[text..] {
            return false;
        }
        if tells {
            self.counters.iter_mut().zip(widths).for_each(|(counter, width)| counter.width = width);
        }
        true
    }

    /// Returns the line with this number, from 0.
    pub fn line_at(&self, first: &str, number: usize) -> String {
        let mut line = String::with_capacity(first.len() + 8);
        let mut text = 0;
        for counter in &self.counters {
            line.push_str(&first[text..counter.text_end]);
            counter.write(&mut line, &first[counter.text_end..counter.start], number);
            text = counter.end;
        }
        line + &first[text..]
    }

    /// Returns the one line for this many lines.
    pub fn fold_lines(&self, first: &str, count: usize) -> String {
        let mut line = String::with_capacity(first.len() + 16);
        let mut text = 0;
        for counter in &self.counters {
            line.push_str(&first[text..counter.text_end]);
            let blanks = &first[counter.text_end..counter.start];
            if counter.step == 0 {
                line.push_str(blanks);
                line.push_str(&first[counter.start..counter.end]);
            } else {
                let is_aligned = matches!(counter.width, CounterWidth::Blanks(_));
                line.push_str(if is_aligned { "[" } else { blanks });
                line.push_str(if is_aligned { blanks } else { "[" });
                let last = counter.value + counter.step * i64::try_from(count - 1).unwrap_or(i64::MAX);
                let _ = write!(line, "{}..{last}", &first[counter.start..counter.end]);
                if counter.step.abs() != 1 {
                    let _ = write!(line, " by {}", counter.step.abs());
                }
                line.push(']');
            }
            text = counter.end;
        }
        line + &first[text..]
    }
}

fn length(number: i64) -> usize {
    number.checked_ilog10().map_or(1, |tens| tens as usize + 1)
}

/// A mark of a counter in a folded line.
struct CounterMark<'l> {
    blanks: usize,
    first: &'l str,
    step: i64,
    count: usize,
}

/// Reads `[1..3000]`, `[  1..100]`, `[0..900 by 10]` at the start of a text. Returns the text behind it, too.
fn parse_counter_mark(text: &str) -> Option<(CounterMark<'_>, &str)> {
    let inside = text.strip_prefix('[')?;
    let blanks = inside.len() - inside.trim_start_matches(' ').len();
    let (first, behind) = inside[blanks..].split_once("..")?;
    let (last, behind) = behind.split_at(behind.bytes().take_while(u8::is_ascii_digit).count());
    let (step, behind) = match behind.strip_prefix(" by ") {
        Some(by) => by.split_at(by.bytes().take_while(u8::is_ascii_digit).count()),
        None => ("1", behind),
    };
    let behind = behind.strip_prefix(']')?;
    let is_number = |text: &str| (1..=DIGITS).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if ![first, last, step].into_iter().all(is_number) {
        return None;
    }
    let [from, to, step]: [i64; 3] = [first.parse().ok()?, last.parse().ok()?, step.parse().ok()?];
    let way = to - from;
    if step == 0 || way % step != 0 {
        return None;
    }
    let count = usize::try_from((way / step).abs()).ok()? + 1;
    (count >= FEWEST).then_some((CounterMark { blanks, first, step: step * way.signum(), count }, behind))
}

/// Returns whether a line holds the mark of a series, and so cannot be told from one.
pub fn is_series(line: &str) -> bool {
    line.as_bytes().contains(&b'[')
        && line.contains("..")
        && line.match_indices('[').any(|(at, _)| parse_counter_mark(&line[at..]).is_some())
}

/// Returns the lines of a folded line. `None` if it is text.
pub fn unfold_series(line: &str) -> Option<Vec<Cow<'static, str>>> {
    if !line.contains("..") {
        return None;
    }
    let mut texts = vec![String::new()];
    let mut spans = Vec::new();
    let mut rest = line;
    while let Some(at) = rest.find('[') {
        let (text, behind) = rest.split_at(at);
        if let Some(last) = texts.last_mut() {
            last.push_str(text);
        }
        if let Some((found, behind)) = parse_counter_mark(behind) {
            spans.push(found);
            texts.push(String::new());
            rest = behind;
        } else {
            if let Some(last) = texts.last_mut() {
                last.push('[');
            }
            rest = &behind[1..];
        }
    }
    if let Some(last) = texts.last_mut() {
        last.push_str(rest);
    }
    let count = spans.first()?.count;
    if spans.iter().any(|span| span.count != count) {
        return None;
    }
    let line = |number: usize| {
        let mut line = String::new();
        for (text, span) in texts.iter().zip(&spans) {
            line.push_str(text);
            let value =
                span.first.parse::<i64>().unwrap_or_default() + span.step * i64::try_from(number).unwrap_or_default();
            let (width, has_zeros) =
                (span.blanks + span.first.len(), span.first.len() > 1 && span.first.starts_with('0'));
            let _ = match (has_zeros, span.blanks) {
                (true, blanks) => write!(line, "{:blanks$}{value:0width$}", "", width = width - blanks),
                (_, 0) => write!(line, "{value}"),
                _ => write!(line, "{value:>width$}"),
            };
        }
        line + texts.last().map_or("", String::as_str)
    };
    Some((0..count).map(|number| line(number).into()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the one line of lines that are all of one series.
    fn folded(lines: &[String]) -> Option<String> {
        let mut series = LineSeries::of([&lines[0], &lines[1], &lines[2]])?;
        let takes = |(number, line): (usize, &String)| series.takes(&lines[0], number, line);
        lines.iter().enumerate().skip(FEWEST).all(takes).then(|| series.fold_lines(&lines[0], lines.len()))
    }

    #[test]
    fn lines_that_count_are_one_line_whose_inverse_they_are() {
        type Row = fn(usize) -> String;
        let rows: [(Row, &str); 9] = [
            (|at| format!("compiling module {at}"), "compiling module [0..2999]"),
            (|at| format!("[{at}/3000] compiling m{at}.o"), "[[0..2999]/3000] compiling m[0..2999].o"),
            (|at| format!("part {:04} of 9", at), "part [0000..2999] of 9"),
            (|at| format!("took {} ms", at * 10), "took [0..29990 by 10] ms"),
            (|at| format!("[{at:>5}/3000] x"), "[[    0..2999]/3000] x"),
            (|at| format!("{} left", 2_999 - at), "[2999..0] left"),
            (|at| format!("{at:>4}: é"), "[   0..2999]: é"),
            (|at| format!("page{:02}.html", at), "page[00..2999].html"),
            (|at| format!("{at} of {} at 12:00", at + 7), "[0..2999] of [7..3006] at 12:00"),
        ];
        for (row, expected) in rows {
            let lines: Vec<String> = (0..3_000).map(row).collect();
            let folded = folded(&lines).unwrap_or_else(|| panic!("{expected}: no series"));
            assert_eq!(folded, expected);
            assert!(is_series(&folded));
            assert_eq!(unfold_series(&folded).expect(expected), lines);
        }
    }

    #[test]
    fn what_does_not_count_is_no_series() {
        for lines in [
            ["a 1", "a 2", "a 4"],
            ["a 1", "b 2", "c 3"],
            ["a 7", "a 08", "a 9"],
            ["a", "a", "a"],
            ["a 1", "a 1", "a 1"],
        ] {
            assert_eq!(LineSeries::of(lines), None, "{lines:?}");
        }
        for text in ["[1..2]", "a[1..]", "[1..9 by 3]", "[..]", "[1..9", "1..9", "[-1..9]", "[a..c]"] {
            assert!(!is_series(text), "{text}");
        }
        assert_eq!(unfold_series("[1..9] [1..8]"), None);
    }

    #[test]
    fn each_line_of_a_series_is_known() {
        let lines = ["a  8", "a  9", "a 10"];
        let series = LineSeries::of(lines).expect("a series");
        assert_eq!([0, 2, 92].map(|number| series.line_at("a  8", number)), ["a  8", "a 10", "a100"]);
    }
}
