//! The value of a word: known, known in parts, or unknown.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

/// A part of a word after its expansion.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ValuePiece {
    /// Exactly this text.
    Text(String),
    /// The names that an unquoted glob fits: `*`, `?`, `[a-z]`, `@(a|b)`. If it fits none, the shell keeps its text.
    Glob(String),
    /// One of these texts. Which one depends on earlier commands.
    OneOf(Vec<String>),
    /// Text that cannot be known. If true, the text was not quoted and may be several words, or none.
    Unknown(bool),
}

/// The work on a part, in bytes of plain text.
const PART: usize = 16;

/// Returns the weight of words.
pub fn weight(words: &[WordValue]) -> usize {
    words.iter().map(|word| PART + word.weight()).sum()
}

/// A word after its expansion. Adjacent texts are joined, and no text is empty.
#[derive(Clone, Debug, Default)]
pub struct WordValue {
    pieces: ValuePieces,
    /// Whether a part of the word is text of a heredoc.
    from_heredoc: bool,
    /// The contents, as far as they are known without the text.
    contents: Option<ValueContents>,
}

/// The contents of a text that need not be known itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ValueContents {
    /// Secrets from this source, in words: `the file .env`.
    Secrets(Rc<str>),
    /// Numbers of processes that were found by a name.
    Processes,
    /// Numbers of processes in a variable. If the variable is quoted, it is one word, and at most one process.
    AssignedProcesses,
    /// Names of all files of a directory.
    Files(Rc<FileSet>),
}

/// All files of directories, or of a kind.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FileSet {
    /// The directories, absolute.
    pub roots: Vec<WordValue>,
    /// The files in them.
    pub listing: FileSetKind,
}

/// The kinds of files in a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileSetKind {
    /// Every file.
    All,
    /// The files and directories at the top.
    Top,
    /// The files of the repository.
    Tracked,
    /// The files of the repository that changed, and those that it does not know.
    Changed,
    /// The files that the repository does not know.
    Unknown,
}

/// The parts of a word. Most words have one, which takes no list.
#[derive(Clone, Debug, Default)]
enum ValuePieces {
    #[default]
    None,
    One(ValuePiece),
    Many(Vec<ValuePiece>),
}

impl ValuePieces {
    fn push(&mut self, piece: ValuePiece) {
        *self = match std::mem::take(self) {
            Self::None => Self::One(piece),
            Self::One(first) => Self::Many(vec![first, piece]),
            Self::Many(mut pieces) => {
                pieces.push(piece);
                Self::Many(pieces)
            }
        };
    }

    fn last_text(&mut self) -> Option<&mut String> {
        match self {
            Self::One(ValuePiece::Text(text)) => Some(text),
            Self::Many(pieces) => match pieces.last_mut() {
                Some(ValuePiece::Text(text)) => Some(text),
                _ => None,
            },
            Self::None | Self::One(_) => None,
        }
    }
}

/// Values are equal if they are the same text, whatever its source.
impl PartialEq for WordValue {
    fn eq(&self, other: &Self) -> bool {
        self.pieces() == other.pieces()
    }
}

impl Eq for WordValue {}

impl Hash for WordValue {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.pieces().hash(state);
    }
}

impl WordValue {
    /// Makes a known word.
    pub fn of(text: impl Into<String>) -> Self {
        let mut value = Self::default();
        value.push(ValuePiece::Text(text.into()));
        value
    }

    /// Makes one word of which nothing is known.
    pub fn unknown() -> Self {
        Self::from(ValuePiece::Unknown(false))
    }

    /// Makes text that cannot be known, perhaps none. Unquoted it may be several words.
    pub fn unknown_words() -> Self {
        Self::from(ValuePiece::Unknown(true))
    }

    /// Makes a number. Which number does not matter, but `kill 0` and `kill 1` differ from `kill $!`.
    pub fn number() -> Self {
        Self::from(ValuePiece::OneOf(vec!["2".to_owned(), "3".to_owned()]))
    }

    /// Returns the parts in order.
    pub fn pieces(&self) -> &[ValuePiece] {
        match &self.pieces {
            ValuePieces::None => &[],
            ValuePieces::One(piece) => std::slice::from_ref(piece),
            ValuePieces::Many(pieces) => pieces,
        }
    }

    /// Returns the length in bytes.
    pub fn length(&self) -> usize {
        let length = |piece: &ValuePiece| match piece {
            ValuePiece::Text(text) | ValuePiece::Glob(text) => text.len(),
            ValuePiece::OneOf(texts) => texts.iter().map(String::len).sum(),
            ValuePiece::Unknown(_) => 1,
        };
        self.pieces().iter().map(length).sum()
    }

    /// Returns how much work the word is, in bytes of plain text.
    pub fn weight(&self) -> usize {
        PART * self.pieces().len() + self.length()
    }

    /// Appends a part.
    pub fn push(&mut self, piece: ValuePiece) {
        match piece {
            ValuePiece::Text(text) if text.is_empty() => {}
            ValuePiece::Text(text) => match self.pieces.last_text() {
                Some(last) => last.push_str(&text),
                None => self.pieces.push(ValuePiece::Text(text)),
            },
            piece => self.pieces.push(piece),
        }
    }

    /// Appends known text.
    pub fn push_text(&mut self, text: &str) {
        match self.pieces.last_text() {
            _ if text.is_empty() => {}
            Some(last) => last.push_str(text),
            None => self.pieces.push(ValuePiece::Text(text.to_owned())),
        }
    }

    /// Appends another word's parts.
    pub fn extend(&mut self, other: &Self) {
        for piece in other.pieces() {
            match piece {
                ValuePiece::Text(text) => self.push_text(text),
                piece => self.pieces.push(piece.clone()),
            }
        }
        self.derive(other);
    }

    /// Returns whether a part of the word is text of a heredoc, also through a pipe or a variable.
    pub fn is_from_heredoc(&self) -> bool {
        self.from_heredoc
    }

    /// Marks the word as text of a heredoc.
    pub fn of_heredoc(self) -> Self {
        Self { from_heredoc: true, ..self }
    }

    /// Returns the contents, also through a pipe or a variable.
    pub fn contents(&self) -> Option<&ValueContents> {
        self.contents.as_ref()
    }

    /// Returns the set of files that the text names.
    pub fn files(&self) -> Option<&FileSet> {
        match &self.contents {
            Some(ValueContents::Files(files)) => Some(files),
            _ => None,
        }
    }

    /// Sets the contents, unless others are known.
    pub fn with_contents(self, contents: Option<&ValueContents>) -> Self {
        let contents = self.contents.or_else(|| contents.cloned());
        Self { contents, ..self }
    }

    /// Returns the source of the secrets in the word, in words.
    pub fn secret(&self) -> Option<&Rc<str>> {
        self.contents.as_ref().and_then(ValueContents::secret)
    }

    /// Appends the value of a quoted variable. It is one word, so it holds at most one process.
    pub fn extend_quoted(&mut self, variable: &Self) {
        let contents = self.contents.take();
        self.extend(variable);
        self.contents =
            contents.or_else(|| self.contents.take().filter(|own| *own != ValueContents::AssignedProcesses));
    }

    /// Returns the value as an assignment keeps it.
    pub fn assigned(mut self) -> Self {
        if self.contents == Some(ValueContents::Processes) {
            self.contents = Some(ValueContents::AssignedProcesses);
        }
        self
    }

    /// Notes that this value was made from another value.
    pub fn derive(&mut self, source: &Self) {
        self.from_heredoc |= source.from_heredoc;
        let listed = self.files().is_some() && source.secret().is_some();
        if self.contents.is_none() || listed {
            self.contents.clone_from(&source.contents);
        }
    }

    /// Returns this value with a note that it was made from another value.
    pub fn derived_from(mut self, source: &Self) -> Self {
        self.derive(source);
        self
    }

    /// Returns the whole text, if it is known. A glob is not known, since it stands for names.
    pub fn known(&self) -> Option<&str> {
        match self.pieces() {
            [] => Some(""),
            [ValuePiece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// Returns the whole text, if it is known, without a copy.
    pub fn into_known(self) -> Option<String> {
        match self.pieces {
            ValuePieces::None => Some(String::new()),
            ValuePieces::One(ValuePiece::Text(text)) => Some(text),
            ValuePieces::One(_) | ValuePieces::Many(_) => None,
        }
    }

    /// Returns the text with its globs. `None` if a part of it is not known.
    pub fn pattern(&self) -> Option<Cow<'_, str>> {
        if let Some(text) = self.known() {
            return Some(Cow::Borrowed(text));
        }
        let parts = self.pieces().iter().map(|piece| match piece {
            ValuePiece::Text(text) | ValuePiece::Glob(text) => Some(text.as_str()),
            ValuePiece::OneOf(_) | ValuePiece::Unknown(_) => None,
        });
        parts.collect::<Option<String>>().map(Cow::Owned)
    }

    /// Returns the known prefix.
    pub fn prefix(&self) -> &str {
        match self.pieces().first() {
            Some(ValuePiece::Text(text)) => text,
            _ => "",
        }
    }

    /// Returns the known suffix.
    pub fn suffix(&self) -> &str {
        match self.pieces().last() {
            Some(ValuePiece::Text(text)) => text,
            _ => "",
        }
    }

    /// Returns the rest from a byte of the known prefix on: the value in `NAME=value` or `--name=value`.
    pub fn after(&self, from: usize) -> Self {
        let mut rest = Self::default();
        for (index, piece) in self.pieces().iter().enumerate() {
            match piece {
                ValuePiece::Text(text) if index == 0 => rest.push_text(text.get(from..).unwrap_or_default()),
                piece => rest.push(piece.clone()),
            }
        }
        rest.derived_from(self)
    }

    /// Returns the path as seen from a directory: `b` in `/a` is `/a/b`.
    pub fn seen_from(&self, folder: &Self) -> Self {
        if self.prefix().starts_with('/') {
            return self.clone();
        }
        let mut path = folder.clone();
        if !self.pieces().is_empty() {
            path.push_text("/");
            path.extend(self);
        }
        path
    }

    /// Returns whether a part of the word is an unquoted glob.
    pub fn has_glob(&self) -> bool {
        self.pieces().iter().any(|piece| matches!(piece, ValuePiece::Glob(_)))
    }

    /// Returns whether a part of the word is not known.
    pub fn has_unknown(&self) -> bool {
        self.pieces().iter().any(|piece| matches!(piece, ValuePiece::Unknown(_) | ValuePiece::OneOf(_)))
    }

    /// Returns the last component of the path, if it is known: `eslint` in `$(npm bin)/eslint`.
    pub fn base_name(&self) -> Option<&str> {
        match self.known() {
            Some(text) => Some(memchr::memrchr(b'/', text.as_bytes()).map_or(text, |slash| &text[slash + 1..])),
            None => self.suffix().rsplit_once('/').map(|(_, name)| name),
        }
    }
}

impl ValueContents {
    /// Returns the source of the secrets, in words.
    pub fn secret(&self) -> Option<&Rc<str>> {
        match self {
            Self::Secrets(source) => Some(source),
            Self::Processes | Self::AssignedProcesses | Self::Files(_) => None,
        }
    }
}

impl From<ValuePiece> for WordValue {
    fn from(piece: ValuePiece) -> Self {
        Self { pieces: ValuePieces::One(piece), ..Self::default() }
    }
}

impl From<&str> for WordValue {
    fn from(text: &str) -> Self {
        Self::of(text)
    }
}

#[cfg(test)]
mod tests {
    use super::{ValueContents, ValuePiece, WordValue};

    fn partly_known() -> WordValue {
        let mut value = WordValue::of("a/");
        value.push(ValuePiece::Unknown(false));
        value.push(ValuePiece::Text("/b".to_owned()));
        value
    }

    #[test]
    fn a_value_is_known_with_texts_alone() {
        let mut value = WordValue::of("a");
        value.push(ValuePiece::Text("b".to_owned()));
        value.push(ValuePiece::Text(String::new()));
        assert_eq!((value.known(), value.pieces().len()), (Some("ab"), 1));
        assert_eq!(WordValue::default().known(), Some(""));
        value.push(ValuePiece::Glob("*".to_owned()));
        assert_eq!((value.known(), value.pattern().as_deref()), (None, Some("ab*")));
        assert_eq!(partly_known().pattern(), None);
    }

    #[test]
    fn the_known_ends_of_a_value_are_found() {
        let value = partly_known();
        assert_eq!((value.prefix(), value.suffix(), value.base_name()), ("a/", "/b", Some("b")));
        assert_eq!(WordValue::unknown().base_name(), None);
        assert_eq!(WordValue::of("/usr/bin/rm").base_name(), Some("rm"));
        assert_eq!(WordValue::of("--a=b").after(4), WordValue::of("b"));
    }

    #[test]
    fn a_value_keeps_the_source_of_its_secrets() {
        let secret = WordValue::unknown().with_contents(Some(&ValueContents::Secrets("the file .env".into())));
        let mut sent = WordValue::of("-d");
        sent.extend(&secret);
        assert_eq!(sent.secret().map(|source| &**source), Some("the file .env"));
        assert_eq!(sent.after(2).secret(), sent.secret());
        assert_eq!(WordValue::of("x").secret(), None);
    }

    #[test]
    fn a_quoted_variable_is_no_list_of_processes() {
        let list = WordValue::unknown().with_contents(Some(&ValueContents::Processes));
        let mut quoted = WordValue::default();
        quoted.extend_quoted(&list.clone().assigned());
        assert_eq!((quoted.contents(), list.contents()), (None, Some(&ValueContents::Processes)));
        quoted.extend_quoted(&list);
        assert_eq!(quoted.contents(), Some(&ValueContents::Processes));
    }

    #[test]
    fn a_path_is_seen_from_a_directory() {
        let from = |path: &str| WordValue::of(path).seen_from(&WordValue::of("/a"));
        assert_eq!(
            (from("b"), from("/b"), from("")),
            (WordValue::of("/a/b"), WordValue::of("/b"), WordValue::of("/a"))
        );
    }
}
