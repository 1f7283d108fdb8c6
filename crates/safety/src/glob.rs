//! Compares globs with names, without reading any directory.

use crate::word_value::ValuePiece;

/// Most parts of a glob that are read. No name is longer.
const MAX_NODES: usize = 512;
/// Deepest nesting of groups such as `@(a|*(b))` that is read.
const MAX_DEPTH: usize = 6;

/// Names that most directories contain. A glob without letters that fits one of them covers everything.
static EVERYDAY: &[&str] = &[
    "a",
    "src",
    "README",
    "node_modules",
    "my-app",
    "index.html",
    "package.json",
    ".a",
    "..a",
    ".git",
    ".env",
    ".github",
];

/// One component of a path, with globs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathComponentGlob {
    nodes: Vec<GlobNode>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum GlobNode {
    Char(char),
    Any,
    Star,
    Class { not: bool, ranges: Vec<(char, char)> },
    Group { kind: char, of: Vec<Vec<GlobNode>> },
}

/// How much of a directory a glob covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GlobCoverage {
    /// All names, or all names that begin with a dot.
    All,
    /// All names but a few.
    Most,
    /// Names of one kind.
    Some,
}

impl PathComponentGlob {
    /// Makes the glob of a word. Only unquoted parts of the word count.
    pub fn of(pieces: &[ValuePiece]) -> Self {
        let mut nodes = Vec::new();
        for piece in pieces {
            match piece {
                ValuePiece::Text(text) => nodes.extend(text.chars().take(MAX_NODES).map(GlobNode::Char)),
                ValuePiece::Glob(text) => {
                    let chars: Vec<char> = text.chars().take(MAX_NODES).collect();
                    nodes.extend(read(&chars, &mut 0, 0, false));
                }
                ValuePiece::OneOf(_) | ValuePiece::Unknown(_) => nodes.push(GlobNode::Star),
            }
        }
        Self::new(nodes)
    }

    /// Makes the glob of a text in which `*`, `?`, `[` and backslashes always count, as in a pathspec of git.
    pub fn parse(text: &str) -> Self {
        let chars: Vec<char> = text.chars().take(MAX_NODES).collect();
        Self::new(read(&chars, &mut 0, MAX_DEPTH, false))
    }

    fn new(mut nodes: Vec<GlobNode>) -> Self {
        nodes.dedup_by(|next, last| matches!((next, last), (GlobNode::Star, GlobNode::Star)));
        nodes.truncate(MAX_NODES);
        Self { nodes }
    }

    /// Returns whether the glob fits a name. As in the shell, only a written dot fits a leading dot.
    pub fn covers(&self, name: &str) -> bool {
        let hidden_fits = match self.nodes.first() {
            Some(GlobNode::Char(first)) => *first == '.',
            Some(GlobNode::Group { kind, .. }) => *kind != '!',
            _ => false,
        };
        if name.starts_with('.') && !hidden_fits {
            return false;
        }
        self.fits(name)
    }

    /// Returns whether the glob fits a name, in which a leading dot is a character like any other.
    pub fn fits(&self, name: &str) -> bool {
        let text: Vec<char> = name.chars().collect();
        self.reached_places(&text)[text.len()]
    }

    /// Returns a text without its shortest or longest prefix that fits, as in `${x#…}`.
    pub fn cut_front<'a>(&self, text: &'a str, longest: bool) -> &'a str {
        let chars: Vec<char> = text.chars().collect();
        let reached = self.reached_places(&chars);
        let mut ends = (0..reached.len()).filter(|at| reached[*at]);
        let end = if longest { ends.next_back() } else { ends.next() };
        let bytes: usize = chars[..end.unwrap_or(0)].iter().map(|char| char.len_utf8()).sum();
        &text[bytes..]
    }

    /// Returns a text without its shortest or longest suffix that fits, as in `${x%…}`.
    pub fn cut_back<'a>(&self, text: &'a str, longest: bool) -> &'a str {
        let chars: Vec<char> = text.chars().rev().collect();
        let reached = Self { nodes: reversed(&self.nodes) }.reached_places(&chars);
        let mut ends = (0..reached.len()).filter(|at| reached[*at]);
        let end = if longest { ends.next_back() } else { ends.next() };
        let bytes: usize = chars[..end.unwrap_or(0)].iter().map(|char| char.len_utf8()).sum();
        &text[..text.len() - bytes]
    }

    /// Returns at which places of a text the glob may end.
    fn reached_places(&self, text: &[char]) -> Vec<bool> {
        let mut start = vec![false; text.len() + 1];
        start[0] = true;
        walk(&self.nodes, text, start, 0)
    }

    /// Returns how much of any directory the glob covers.
    pub fn coverage(&self) -> GlobCoverage {
        let fits = || EVERYDAY.iter().filter(|name| self.covers(name)).count();
        if self.nodes.iter().any(|node| matches!(node, GlobNode::Group { kind: '!', .. })) {
            return if fits() > 3 { GlobCoverage::Most } else { GlobCoverage::Some };
        }
        if !has_letter_or_digit(&self.nodes) && fits() > 0 { GlobCoverage::All } else { GlobCoverage::Some }
    }
}

/// Returns the nodes in reverse order, for a text in reverse order.
fn reversed(nodes: &[GlobNode]) -> Vec<GlobNode> {
    let turn = |node: &GlobNode| match node {
        GlobNode::Group { kind, of } => {
            GlobNode::Group { kind: *kind, of: of.iter().map(|nodes| reversed(nodes)).collect() }
        }
        node => node.clone(),
    };
    nodes.iter().rev().map(turn).collect()
}

/// Returns whether a letter or digit occurs in the nodes, outside of classes.
fn has_letter_or_digit(nodes: &[GlobNode]) -> bool {
    nodes.iter().any(|node| match node {
        GlobNode::Char(char) => char.is_alphanumeric(),
        GlobNode::Group { of, .. } => of.iter().any(|nodes| has_letter_or_digit(nodes)),
        _ => false,
    })
}

/// Reads nodes up to the end, or inside a group up to its next `|` or `)`.
fn read(chars: &[char], at: &mut usize, depth: usize, grouped: bool) -> Vec<GlobNode> {
    let mut nodes = Vec::new();
    while let Some(&char) = chars.get(*at) {
        if grouped && matches!(char, '|' | ')') {
            break;
        }
        let next = chars.get(*at + 1).copied();
        let closes = || chars[*at..].contains(&')');
        if matches!(char, '?' | '*' | '+' | '@' | '!') && next == Some('(') && depth < MAX_DEPTH && closes() {
            *at += 2;
            let mut of = vec![read(chars, at, depth + 1, true)];
            while chars.get(*at) == Some(&'|') {
                *at += 1;
                of.push(read(chars, at, depth + 1, true));
            }
            nodes.push(GlobNode::Group { kind: char, of });
        } else if char == '['
            && let Some((class, end)) = class(chars, *at)
        {
            nodes.push(class);
            *at = end;
        } else {
            nodes.push(match char {
                '*' => GlobNode::Star,
                '?' => GlobNode::Any,
                '\\' if next.is_some() => {
                    *at += 1;
                    GlobNode::Char(next.unwrap_or('\\'))
                }
                char => GlobNode::Char(char),
            });
        }
        *at += 1;
    }
    nodes
}

/// Returns the class that begins at a place, and the place of its `]`.
fn class(chars: &[char], from: usize) -> Option<(GlobNode, usize)> {
    let mut at = from + 1;
    let not = matches!(chars.get(at), Some('!' | '^'));
    at += usize::from(not);
    let first = at;
    let mut ranges = Vec::new();
    loop {
        let char = *chars.get(at)?;
        if char == ']' && at > first {
            return Some((GlobNode::Class { not, ranges }, at));
        }
        if char == '[' && chars.get(at + 1) == Some(&':') {
            let end =
                (at + 2..chars.len().min(at + 12)).find(|&end| chars[end] == ':' && chars.get(end + 1) == Some(&']'));
            if let Some(end) = end {
                let name: String = chars[at + 2..end].iter().collect();
                ranges.extend_from_slice(match name.as_str() {
                    "lower" => &[('a', 'z')],
                    "upper" => &[('A', 'Z')],
                    "alpha" => &[('a', 'z'), ('A', 'Z')],
                    "digit" => &[('0', '9')],
                    "alnum" | "word" => &[('a', 'z'), ('A', 'Z'), ('0', '9'), ('_', '_')],
                    "punct" => &[('!', '/'), (':', '@'), ('[', '`'), ('{', '~')],
                    "space" | "blank" => &[(' ', ' '), ('\t', '\r')],
                    _ => &[('!', '~')],
                });
                at = end + 2;
                continue;
            }
        }
        match (chars.get(at + 1), chars.get(at + 2)) {
            (Some('-'), Some(&last)) if last != ']' => {
                ranges.push((char, last));
                at += 3;
            }
            _ => {
                ranges.push((char, char));
                at += 1;
            }
        }
    }
}

/// Returns the places of a text that the nodes lead to from a set of places. The work is bounded by the product of the
/// two.
fn walk(nodes: &[GlobNode], text: &[char], mut places: Vec<bool>, depth: usize) -> Vec<bool> {
    for node in nodes {
        places = match node {
            GlobNode::Char(char) => step(&places, text, |at| at == *char),
            GlobNode::Any => step(&places, text, |_| true),
            GlobNode::Class { not, ranges } => {
                step(&places, text, |at| ranges.iter().any(|&(from, to)| from <= at && at <= to) != *not)
            }
            GlobNode::Star => onwards(&places),
            GlobNode::Group { .. } if depth > MAX_DEPTH => onwards(&places),
            GlobNode::Group { kind, of } => group(*kind, of, text, &places, depth),
        };
    }
    places
}

fn step(places: &[bool], text: &[char], fits: impl Fn(char) -> bool) -> Vec<bool> {
    let mut next = vec![false; places.len()];
    for (at, &char) in text.iter().enumerate() {
        next[at + 1] = places[at] && fits(char);
    }
    next
}

fn onwards(places: &[bool]) -> Vec<bool> {
    let mut reached = false;
    let further = places.iter().map(|&here| {
        reached |= here;
        reached
    });
    further.collect()
}

fn group(kind: char, of: &[Vec<GlobNode>], text: &[char], places: &[bool], depth: usize) -> Vec<bool> {
    let once = |from: &[bool]| {
        let mut to = vec![false; from.len()];
        for nodes in of {
            for (place, reached) in to.iter_mut().zip(walk(nodes, text, from.to_vec(), depth + 1)) {
                *place |= reached;
            }
        }
        to
    };
    let with = |a: Vec<bool>, b: &[bool]| -> Vec<bool> { a.iter().zip(b).map(|(a, b)| *a | *b).collect() };
    match kind {
        '?' => with(once(places), places),
        '*' | '+' => {
            let mut all = if kind == '*' { places.to_vec() } else { once(places) };
            // Each turn reaches a new place, or is the last one.
            for _ in 0..text.len() {
                let more = with(once(&all), &all);
                if more == all {
                    break;
                }
                all = more;
            }
            all
        }
        '!' => {
            let mut all = vec![false; places.len()];
            for from in (0..places.len()).filter(|&from| places[from]) {
                let mut start = vec![false; places.len()];
                start[from] = true;
                let fits = once(&start);
                for at in from..all.len() {
                    all[at] |= !fits[at];
                }
            }
            all
        }
        _ => once(places),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn glob(text: &str) -> PathComponentGlob {
        PathComponentGlob::of(&[ValuePiece::Glob(text.to_owned())])
    }

    #[test]
    fn globs_cover_names_as_in_the_shell() {
        for (pattern, name, covers) in [
            ("*", "src", true),
            ("*", ".git", false),
            (".*", ".git", true),
            (".g*t", ".git", true),
            (".g?t", ".git", true),
            (".[fgh]it", ".git", true),
            (".[!g]it", ".git", false),
            (".git?", ".git", false),
            ("?git", ".git", false),
            ("hom?", "home", true),
            ("h*e", "home", true),
            ("@(.git|x)", ".git", true),
            ("!(src)", "src", false),
            ("!(src)", "lib", true),
            ("+(a|b)", "abab", true),
            ("+(a|b)", "abc", false),
            ("*(a)b", "b", true),
            ("?(a)b", "ab", true),
            ("[[:lower:]]*", "src", true),
            ("[]a]", "]", true),
            ("[", "[", true),
            ("a\\*", "a*", true),
            ("a\\*", "ab", false),
            ("*(", "x(", true),
        ] {
            assert_eq!(glob(pattern).covers(name), covers, "{pattern} {name}");
        }
    }

    #[test]
    fn coverage_tells_everything_from_names_of_a_kind() {
        for (pattern, reach) in [
            ("*", GlobCoverage::All),
            ("**", GlobCoverage::All),
            (".*", GlobCoverage::All),
            ("*.*", GlobCoverage::All),
            ("?*", GlobCoverage::All),
            (".[!.]*", GlobCoverage::All),
            ("..?*", GlobCoverage::All),
            ("[a-z]*", GlobCoverage::All),
            ("!(keep)", GlobCoverage::Most),
            ("*.js", GlobCoverage::Some),
            ("build*", GlobCoverage::Some),
            ("*~", GlobCoverage::Some),
            ("@(build|dist)", GlobCoverage::Some),
            ("[0-9]*", GlobCoverage::Some),
        ] {
            assert_eq!(glob(pattern).coverage(), reach, "{pattern}");
        }
    }

    #[test]
    fn ends_that_fit_are_cut_off() {
        for (pattern, text, front, longest_front, back, longest_back) in [
            ("*.", "a.b.c", "b.c", "c", "a.b.c", "a.b.c"),
            (".*", "a.b.c", "a.b.c", "a.b.c", "a.b", "a"),
            ("*/", "/x/y", "x/y", "y", "/x/y", "/x/y"),
            ("/*", "/x/y", "x/y", "", "/x", ""),
            ("x", "é", "é", "é", "é", "é"),
            ("?", "éa", "a", "a", "é", "é"),
            ("@(ab|b)", "ab", "", "", "a", ""),
        ] {
            let glob = glob(pattern);
            assert_eq!(glob.cut_front(text, false), front, "{pattern} {text}");
            assert_eq!(glob.cut_front(text, true), longest_front, "{pattern} {text}");
            assert_eq!(glob.cut_back(text, false), back, "{pattern} {text}");
            assert_eq!(glob.cut_back(text, true), longest_back, "{pattern} {text}");
        }
    }

    #[test]
    fn hostile_patterns_end() {
        for pattern in ["*a".repeat(5000), "*(".repeat(5000), "+(a|+(b|".repeat(500), "[".repeat(9000)] {
            glob(&pattern).covers("a very long name that takes its time aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
        }
    }
}
