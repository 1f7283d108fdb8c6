//! The value of a word: known, known in parts, or unknown.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

/// A part of a word after its expansion.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Piece {
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
pub fn weight(words: &[Value]) -> usize {
    words.iter().map(|word| PART + word.weight()).sum()
}

/// A word after its expansion. Adjacent texts are joined, and no text is empty.
#[derive(Clone, Debug, Default)]
pub struct Value {
    pieces: Pieces,
    /// Whether a part of the word is text of a heredoc.
    from_heredoc: bool,
    /// The contents, as far as they are known without the text.
    contents: Option<Contents>,
}

/// The contents of a text that need not be known itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Contents {
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
    pub roots: Vec<Value>,
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
enum Pieces {
    #[default]
    None,
    One(Piece),
    Many(Vec<Piece>),
}

impl Pieces {
    fn push(&mut self, piece: Piece) {
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
            Self::One(Piece::Text(text)) => Some(text),
            Self::Many(pieces) => match pieces.last_mut() {
                Some(Piece::Text(text)) => Some(text),
                _ => None,
            },
            Self::None | Self::One(_) => None,
        }
    }
}

/// Values are equal if they are the same text, whatever its source.
impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.pieces() == other.pieces()
    }
}

impl Eq for Value {}

impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.pieces().hash(state);
    }
}

impl Value {
    /// Makes a known word.
    pub fn of(text: impl Into<String>) -> Self {
        let mut value = Self::default();
        value.push(Piece::Text(text.into()));
        value
    }

    /// Makes one word of which nothing is known.
    pub fn unknown() -> Self {
        Self::from(Piece::Unknown(false))
    }

    /// Makes text that cannot be known, perhaps none. Unquoted it may be several words.
    pub fn unknown_words() -> Self {
        Self::from(Piece::Unknown(true))
    }

    /// Makes a number. Which number does not matter, but `kill 0` and `kill 1` differ from `kill $!`.
    pub fn number() -> Self {
        Self::from(Piece::OneOf(vec!["2".to_owned(), "3".to_owned()]))
    }

    /// Returns the parts in order.
    pub fn pieces(&self) -> &[Piece] {
        match &self.pieces {
            Pieces::None => &[],
            Pieces::One(piece) => std::slice::from_ref(piece),
            Pieces::Many(pieces) => pieces,
        }
    }

    /// Returns the length in bytes.
    pub fn length(&self) -> usize {
        let length = |piece: &Piece| match piece {
            Piece::Text(text) | Piece::Glob(text) => text.len(),
            Piece::OneOf(texts) => texts.iter().map(String::len).sum(),
            Piece::Unknown(_) => 1,
        };
        self.pieces().iter().map(length).sum()
    }

    /// Returns how much work the word is, in bytes of plain text.
    pub fn weight(&self) -> usize {
        PART * self.pieces().len() + self.length()
    }

    /// Appends a part.
    pub fn push(&mut self, piece: Piece) {
        match piece {
            Piece::Text(text) if text.is_empty() => {}
            Piece::Text(text) => match self.pieces.last_text() {
                Some(last) => last.push_str(&text),
                None => self.pieces.push(Piece::Text(text)),
            },
            piece => self.pieces.push(piece),
        }
    }

    /// Appends known text.
    pub fn push_text(&mut self, text: &str) {
        match self.pieces.last_text() {
            _ if text.is_empty() => {}
            Some(last) => last.push_str(text),
            None => self.pieces.push(Piece::Text(text.to_owned())),
        }
    }

    /// Appends another word's parts.
    pub fn extend(&mut self, other: &Self) {
        for piece in other.pieces() {
            match piece {
                Piece::Text(text) => self.push_text(text),
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
    pub fn contents(&self) -> Option<&Contents> {
        self.contents.as_ref()
    }

    /// Returns the set of files that the text names.
    pub fn files(&self) -> Option<&FileSet> {
        match &self.contents {
            Some(Contents::Files(files)) => Some(files),
            _ => None,
        }
    }

    /// Sets the contents, unless others are known.
    pub fn with_contents(self, contents: Option<&Contents>) -> Self {
        let contents = self.contents.or_else(|| contents.cloned());
        Self { contents, ..self }
    }

    /// Returns the source of the secrets in the word, in words.
    pub fn secret(&self) -> Option<&Rc<str>> {
        self.contents.as_ref().and_then(Contents::secret)
    }

    /// Appends the value of a quoted variable. It is one word, so it holds at most one process.
    pub fn extend_quoted(&mut self, variable: &Self) {
        let contents = self.contents.take();
        self.extend(variable);
        self.contents = contents.or_else(|| self.contents.take().filter(|own| *own != Contents::AssignedProcesses));
    }

    /// Returns the value as an assignment keeps it.
    pub fn assigned(mut self) -> Self {
        if self.contents == Some(Contents::Processes) {
            self.contents = Some(Contents::AssignedProcesses);
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
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// Returns the whole text, if it is known, without a copy.
    pub fn into_known(self) -> Option<String> {
        match self.pieces {
            Pieces::None => Some(String::new()),
            Pieces::One(Piece::Text(text)) => Some(text),
            Pieces::One(_) | Pieces::Many(_) => None,
        }
    }

    /// Returns the text with its globs. `None` if a part of it is not known.
    pub fn pattern(&self) -> Option<Cow<'_, str>> {
        if let Some(text) = self.known() {
            return Some(Cow::Borrowed(text));
        }
        let parts = self.pieces().iter().map(|piece| match piece {
            Piece::Text(text) | Piece::Glob(text) => Some(text.as_str()),
            Piece::OneOf(_) | Piece::Unknown(_) => None,
        });
        parts.collect::<Option<String>>().map(Cow::Owned)
    }

    /// Returns the known prefix.
    pub fn prefix(&self) -> &str {
        match self.pieces().first() {
            Some(Piece::Text(text)) => text,
            _ => "",
        }
    }

    /// Returns the known suffix.
    pub fn suffix(&self) -> &str {
        match self.pieces().last() {
            Some(Piece::Text(text)) => text,
            _ => "",
        }
    }

    /// Returns the rest from a byte of the known prefix on: the value in `NAME=value` or `--name=value`.
    pub fn after(&self, from: usize) -> Self {
        let mut rest = Self::default();
        for (index, piece) in self.pieces().iter().enumerate() {
            match piece {
                Piece::Text(text) if index == 0 => rest.push_text(text.get(from..).unwrap_or_default()),
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
        self.pieces().iter().any(|piece| matches!(piece, Piece::Glob(_)))
    }

    /// Returns whether a part of the word is not known.
    pub fn has_unknown(&self) -> bool {
        self.pieces().iter().any(|piece| matches!(piece, Piece::Unknown(_) | Piece::OneOf(_)))
    }

    /// Returns the last component of the path, if it is known: `eslint` in `$(npm bin)/eslint`.
    pub fn base_name(&self) -> Option<&str> {
        match self.known() {
            Some(text) => Some(memchr::memrchr(b'/', text.as_bytes()).map_or(text, |slash| &text[slash + 1..])),
            None => self.suffix().rsplit_once('/').map(|(_, name)| name),
        }
    }
}

impl Contents {
    /// Returns the source of the secrets, in words.
    pub fn secret(&self) -> Option<&Rc<str>> {
        match self {
            Self::Secrets(source) => Some(source),
            Self::Processes | Self::AssignedProcesses | Self::Files(_) => None,
        }
    }
}

impl From<Piece> for Value {
    fn from(piece: Piece) -> Self {
        Self { pieces: Pieces::One(piece), ..Self::default() }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::of(text)
    }
}

#[cfg(test)]
mod tests {
    use super::{Contents, Piece, Value};

    fn partly_known() -> Value {
        let mut value = Value::of("a/");
        value.push(Piece::Unknown(false));
        value.push(Piece::Text("/b".to_owned()));
        value
    }

    #[test]
    fn a_value_is_known_with_texts_alone() {
        let mut value = Value::of("a");
        value.push(Piece::Text("b".to_owned()));
        value.push(Piece::Text(String::new()));
        assert_eq!((value.known(), value.pieces().len()), (Some("ab"), 1));
        assert_eq!(Value::default().known(), Some(""));
        value.push(Piece::Glob("*".to_owned()));
        assert_eq!((value.known(), value.pattern().as_deref()), (None, Some("ab*")));
        assert_eq!(partly_known().pattern(), None);
    }

    #[test]
    fn the_known_ends_of_a_value_are_found() {
        let value = partly_known();
        assert_eq!((value.prefix(), value.suffix(), value.base_name()), ("a/", "/b", Some("b")));
        assert_eq!(Value::unknown().base_name(), None);
        assert_eq!(Value::of("/usr/bin/rm").base_name(), Some("rm"));
        assert_eq!(Value::of("--a=b").after(4), Value::of("b"));
    }

    #[test]
    fn a_value_keeps_the_source_of_its_secrets() {
        let secret = Value::unknown().with_contents(Some(&Contents::Secrets("the file .env".into())));
        let mut sent = Value::of("-d");
        sent.extend(&secret);
        assert_eq!(sent.secret().map(|source| &**source), Some("the file .env"));
        assert_eq!(sent.after(2).secret(), sent.secret());
        assert_eq!(Value::of("x").secret(), None);
    }

    #[test]
    fn a_quoted_variable_is_no_list_of_processes() {
        let list = Value::unknown().with_contents(Some(&Contents::Processes));
        let mut quoted = Value::default();
        quoted.extend_quoted(&list.clone().assigned());
        assert_eq!((quoted.contents(), list.contents()), (None, Some(&Contents::Processes)));
        quoted.extend_quoted(&list);
        assert_eq!(quoted.contents(), Some(&Contents::Processes));
    }

    #[test]
    fn a_path_is_seen_from_a_directory() {
        let from = |path: &str| Value::of(path).seen_from(&Value::of("/a"));
        assert_eq!((from("b"), from("/b"), from("")), (Value::of("/a/b"), Value::of("/b"), Value::of("/a")));
    }
}
