//! The lines right above a failure that belong to it: an excerpt of the source, the path of the file, the function.

/// Longest excerpt, in lines.
const LONGEST: usize = 12;

/// What the lines above a failure are.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LinesAboveFailure {
    /// Number of lines of the excerpt that ends here.
    excerpt: usize,
    /// Whether the last line points at a column of the line before.
    points: bool,
    last: LastLineKind,
}

/// What the last line is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum LastLineKind {
    #[default]
    Other,
    /// A path, a place or a function whose messages may follow.
    Place,
    /// A line that begins with the code of a rule: `F401 …`.
    Code,
}

impl LinesAboveFailure {
    /// Reads the lines above a failure, the last first.
    pub fn of<'l>(lines: impl Iterator<Item = &'l str>) -> Self {
        let lines: Vec<&str> = lines.take(LONGEST + 1).collect();
        let mut above = Self::default();
        for line in lines.into_iter().rev() {
            match line.trim() {
                "" => above.blank(),
                text => above.note(line, text),
            }
        }
        above
    }

    /// Takes a blank line. An excerpt may have one behind its end.
    fn blank(&mut self) {
        self.excerpt = if self.points && self.excerpt > 0 { self.excerpt + 1 } else { 0 };
        self.points = false;
        self.last = LastLineKind::Other;
    }

    /// Takes a line. `text`: the line without the blanks around it.
    fn note(&mut self, line: &str, text: &str) {
        let first = text.as_bytes().first().copied().unwrap_or(b' ');
        self.points = is_pointer_line(text) || first == b'|' && text.ends_with(['^', '~']);
        let is_row = first.is_ascii_digit() && is_row(text) || self.points;
        let begins = is_row || first == b'F' && text.starts_with("File \"") || is_bare_place(line);
        let goes_on = self.excerpt > 0 && (is_row || line.starts_with([' ', '\t']));
        self.excerpt = if begins || goes_on { self.excerpt + 1 } else { 0 };
        if self.excerpt > LONGEST {
            self.excerpt = 0;
        }
        self.last = match first {
            b' ' => LastLineKind::Other,
            b'A'..=b'Z' if has_code(text) => LastLineKind::Code,
            _ if !line.starts_with([' ', '\t']) && is_place(text) => LastLineKind::Place,
            _ => LastLineKind::Other,
        };
    }

    /// Returns how many lines above a failure belong to it.
    pub fn leading_lines(&self, text: &str) -> usize {
        match self.last {
            _ if self.excerpt > 0 => self.excerpt,
            LastLineKind::Place => 1,
            LastLineKind::Code if text.starts_with("--> ") => 1,
            _ => 0,
        }
    }

    /// Returns whether a line is the place of a finding whose text is above: ` --> src/a.py:3:8`.
    pub fn is_place_of_finding(&self, text: &str) -> bool {
        self.last == LastLineKind::Code && text.starts_with("--> ")
    }
}

fn is_row(text: &str) -> bool {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
    rest.starts_with("| ") || rest == "|"
}

/// Returns whether a line only points at a column of the line before.
pub(super) fn is_pointer_line(text: &str) -> bool {
    text.starts_with(['^', '~']) && text.bytes().all(|byte| matches!(byte, b'^' | b'~' | b' '))
}

/// Returns whether a line is nothing but a place: `/srv/app/a.js:3`.
pub(super) fn is_bare_place(line: &str) -> bool {
    let line = line.strip_suffix(':').unwrap_or(line);
    let Some((path, number)) = line.rsplit_once(':').filter(|(_, number)| number.len() < 8) else { return false };
    !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit())
        && path.contains(['/', '.', '\\'])
        && !path.contains(' ')
}

/// Returns whether messages may follow: a path alone, `a.c: In function 'f':`, `In file included from a.h:3:`,
/// `test at a.mjs:5:3`, `sums => ./a.ts:2:6`.
fn is_place(text: &str) -> bool {
    text.starts_with("test at ")
        || text.starts_with("In file included from ")
        || text.contains(": In ") && text.ends_with(':')
        || text.contains(" => ") && text.ends_with(|c: char| c.is_ascii_digit())
        || text.contains(['/', '\\']) && text.contains('.') && !text.contains(' ') && !text.ends_with([':', '/'])
}

/// Returns whether a line begins with the code of a rule: `F401 …`, `PLR0913 …`.
fn has_code(text: &str) -> bool {
    let letters = text.bytes().take_while(u8::is_ascii_uppercase).count();
    let digits = text[letters..].bytes().take_while(u8::is_ascii_digit).count();
    letters <= 4 && (3..=4).contains(&digits) && text[letters + digits..].starts_with(' ')
}
