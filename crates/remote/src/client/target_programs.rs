//! The programs that run commands on targets, and the forms in which they are sent.

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

use flate2::read::GzDecoder;

/// A program for targets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetProgram {
    /// The machine, as `uname -m` names it.
    pub machine: String,
    /// The SHA-256 of the program, in lower-case hexadecimal digits.
    pub sha256: String,
    /// The length of the program.
    pub bytes: u64,
    /// Its files on this machine. Empty: it runs only where it is already.
    pub forms: Vec<ProgramFile>,
}

/// A file with a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramFile {
    /// How it is coded.
    pub coding: ProgramEncoding,
    /// The length of the file.
    pub bytes: u64,
    /// The file.
    pub path: PathBuf,
}

/// How a program is coded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramEncoding {
    /// By `xz`.
    Xz,
    /// By `gzip`.
    Gzip,
    /// As it is.
    Raw,
}

impl ProgramEncoding {
    /// Returns the tool that decodes it.
    #[must_use]
    pub const fn tool(self) -> &'static str {
        match self {
            Self::Xz => "xz",
            Self::Gzip => "gzip",
            Self::Raw => "cat",
        }
    }
}

impl TargetProgram {
    /// Returns the codings in which the program can be sent with their lengths, the shortest first.
    #[must_use]
    pub fn encodings(&self) -> Vec<(ProgramEncoding, u64)> {
        let mut codings: Vec<_> = self.forms.iter().map(|form| (form.coding, form.bytes)).collect();
        if self.form(ProgramEncoding::Raw).is_none() && self.form(ProgramEncoding::Gzip).is_some() {
            codings.push((ProgramEncoding::Raw, self.bytes));
        }
        codings.sort_by_key(|(_, bytes)| *bytes);
        codings
    }

    fn form(&self, coding: ProgramEncoding) -> Option<&ProgramFile> {
        self.forms.iter().find(|form| form.coding == coding)
    }

    /// Reads the program in a coding. Decodes the gzip file if there is no file of the program as it is.
    ///
    /// # Errors
    /// If the file cannot be read, or has another length: the target waits for exactly that many bytes.
    pub fn read(&self, coding: ProgramEncoding) -> io::Result<Vec<u8>> {
        let gzip = || self.form(ProgramEncoding::Gzip).filter(|_| coding == ProgramEncoding::Raw);
        let form = self.form(coding).or_else(gzip).ok_or(io::ErrorKind::NotFound)?;
        let length = if form.coding == coding { form.bytes } else { self.bytes };
        let read = File::open(&form.path).and_then(|file| {
            let mut bytes = Vec::new();
            if form.coding == coding {
                file.take(length + 1).read_to_end(&mut bytes)?;
            } else {
                GzDecoder::new(file).take(length + 1).read_to_end(&mut bytes)?;
            }
            let fits = bytes.len() as u64 == length;
            if fits { Ok(bytes) } else { Err(io::Error::other(format!("it does not have {length} bytes"))) }
        });
        read.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", form.path.display())))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// A program with a gzip file of these bytes.
    fn with_gzip(file: &tempfile::NamedTempFile, content: &[u8], bytes: u64) -> TargetProgram {
        let mut coder = flate2::write::GzEncoder::new(file.as_file(), flate2::Compression::best());
        coder.write_all(content).and_then(|()| coder.finish()).expect("our file");
        let length = file.as_file().metadata().expect("our file").len();
        let forms = vec![ProgramFile { coding: ProgramEncoding::Gzip, bytes: length, path: file.path().into() }];
        TargetProgram { machine: "x86_64".into(), sha256: String::new(), bytes, forms }
    }

    #[test]
    fn the_program_itself_is_decoded_from_gzip() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let content = [b'x'; 1000];
        let program = with_gzip(&file, &content, 1000);
        let [gzip, raw] = program.encodings()[..] else { panic!("{:?}", program.encodings()) };
        assert_eq!((gzip.0, raw), (ProgramEncoding::Gzip, (ProgramEncoding::Raw, 1000)));
        assert_eq!(program.read(ProgramEncoding::Raw).expect("a form"), content);
        assert_eq!(program.read(ProgramEncoding::Gzip).expect("a form").len() as u64, gzip.1);
        assert_eq!(program.read(ProgramEncoding::Xz).expect_err("no such form").kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_file_of_another_length_is_not_sent() {
        for length in [999, 1001] {
            let file = tempfile::NamedTempFile::new().expect("a file");
            let program = with_gzip(&file, &[b'x'; 1000], length);
            let error = program.read(ProgramEncoding::Raw).expect_err("another length").to_string();
            assert_eq!(error, format!("{}: it does not have {length} bytes", file.path().display()));
            let other = ProgramFile { bytes: 1, ..program.forms[0].clone() };
            assert!(TargetProgram { forms: vec![other], ..program }.read(ProgramEncoding::Gzip).is_err());
        }
    }
}
