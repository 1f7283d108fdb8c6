//! Texts that stand for secrets: of the same length and form as a value, and worth nothing.
//!
//! Programs check the form of a token before they use it. So a stand-in keeps what tells the kind of a token: its
//! prefix, its separators, the class of each character, and the checksum where the kind has one. Each letter and each
//! digit besides is random. As each character stays in its class, the stand-in is as long as the value in every
//! encoding that a request may have: percent, JSON and base64.

use std::io;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// The fewest characters of a stand-in that are random. Fewer would be guessed, or found in ordinary text.
const RANDOM: usize = 8;

/// Prefixes of tokens that end with the checksum of their random part: GitHub's and npm's.
/// <https://github.blog/2021-04-05-behind-githubs-new-authentication-token-formats/>
const WITH_CHECKSUM: [&str; 6] = ["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "npm_"];

/// The lengths of the random part and of the checksum of these tokens.
const CHECKED: (usize, usize) = (30, 6);

/// Prefixes that are not told by a separator: AWS access keys, and the first words of a macaroon of PyPI.
const PREFIXES: [&str; 7] =
    ["AKIA", "ASIA", "pypi-AgEIcHlwaS5vcmc", "pypi-AgENdGVzdC5weXBpLm9yZw", "AIza", "ya29.", "SG."];

/// The most characters of a prefix that separators tell, as in `sk-ant-api03-`.
const LONGEST_PREFIX: usize = 16;

/// Random numbers below a bound.
pub(super) struct RandomDigits(Vec<u8>);

impl RandomDigits {
    /// Returns numbers from the system's source.
    pub fn new() -> Self {
        Self(Vec::new())
    }

    /// Returns a number below `bound`, each with the same chance.
    fn below(&mut self, bound: u8) -> io::Result<u8> {
        let most = u8::MAX - u8::MAX % bound;
        loop {
            if let Some(byte) = self.0.pop() {
                if byte < most {
                    return Ok(byte % bound);
                }
                continue;
            }
            self.0.resize(64, 0);
            getrandom::fill(&mut self.0)?;
        }
    }

    /// Returns a character of the set.
    fn one_of(&mut self, set: &[u8]) -> io::Result<char> {
        let bound = u8::try_from(set.len()).map_err(io::Error::other)?;
        Ok(char::from(set[usize::from(self.below(bound)?)]))
    }
}

/// Returns a stand-in for a value. `None`: too few characters of the value can be random.
pub(super) fn stand_in_for(value: &str, random: &mut RandomDigits) -> io::Result<Option<String>> {
    if let Some(token) = checked_token(value, random)? {
        return Ok(Some(token));
    }
    if let Some(token) = web_token(value, random)? {
        return Ok(Some(token));
    }
    let kept = prefix_of(value);
    let (mut stand_in, mut count) = (value[..kept].to_owned(), 0);
    let alphabet = TokenAlphabet::of(&value[kept..]);
    // Programs find a key in PEM by its first and its last line.
    for line in value[kept..].split_inclusive('\n') {
        if line.starts_with("-----") {
            stand_in.push_str(line);
            continue;
        }
        for character in line.chars() {
            match alphabet.class_of(character) {
                Some(class) => {
                    stand_in.push(random.one_of(class)?);
                    count += 1;
                }
                None => stand_in.push(character),
            }
        }
    }
    Ok((count >= RANDOM && stand_in != value).then_some(stand_in))
}

/// The characters that take each other's place.
struct TokenAlphabet {
    upper: &'static [u8],
    lower: &'static [u8],
    digits: &'static [u8],
}

impl TokenAlphabet {
    /// Returns the alphabet of a text: hexadecimal, base 32, or all letters and digits.
    fn of(text: &str) -> Self {
        let all = |is_one: fn(&u8) -> bool| text.bytes().filter(u8::is_ascii_alphanumeric).all(|byte| is_one(&byte));
        if all(u8::is_ascii_hexdigit) {
            return Self { upper: b"ABCDEF", lower: b"abcdef", digits: b"0123456789" };
        }
        let digits: &[u8] =
            if all(|byte| matches!(byte, b'A'..=b'Z' | b'2'..=b'7')) { b"234567" } else { b"0123456789" };
        Self { upper: b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", lower: b"abcdefghijklmnopqrstuvwxyz", digits }
    }

    /// Returns the characters that may take the place of this one. `None`: it stays.
    fn class_of(&self, character: char) -> Option<&'static [u8]> {
        match character {
            'A'..='Z' => Some(self.upper),
            'a'..='z' => Some(self.lower),
            '0'..='9' => Some(self.digits),
            _ => None,
        }
    }
}

/// Returns the length of the prefix that tells the kind of a token.
fn prefix_of(value: &str) -> usize {
    let random_in = |rest: &str| rest.bytes().filter(u8::is_ascii_alphanumeric).count();
    let listed = PREFIXES.iter().find(|prefix| value.starts_with(**prefix)).map(|prefix| prefix.len());
    let told = || {
        let head = value.get(..LONGEST_PREFIX).unwrap_or(value);
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let end = head.bytes().position(|byte| !is_word(byte)).unwrap_or(head.len());
        head[..end].rfind(['_', '-']).map(|at| at + 1).filter(|_| !head.starts_with(['_', '-']))
    };
    let found = listed.or_else(told).unwrap_or(0);
    // A password may have a separator anywhere.
    if random_in(&value[found..]) >= 2 * RANDOM { found } else { 0 }
}

/// Returns a stand-in of a kind with a checksum. `None`: the value is of another kind.
fn checked_token(value: &str, random: &mut RandomDigits) -> io::Result<Option<String>> {
    let (length, sum) = CHECKED;
    let Some(prefix) = WITH_CHECKSUM.iter().find(|prefix| value.starts_with(**prefix)) else { return Ok(None) };
    let rest = &value[prefix.len()..];
    if rest.len() != length + sum || !rest.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Ok(None);
    }
    let alphabet = TokenAlphabet::of("zZ");
    let mut part = String::with_capacity(length);
    for character in rest.chars().take(length) {
        if let Some(class) = alphabet.class_of(character) {
            part.push(random.one_of(class)?);
        }
    }
    Ok(Some(format!("{prefix}{part}{}", checksum(&part))))
}

/// Returns the checksum of a random part: its CRC-32 in base 62, six digits.
pub(super) fn checksum(part: &str) -> String {
    const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut rest = crc32fast::hash(part.as_bytes());
    let mut digits = [b'0'; CHECKED.1];
    for digit in digits.iter_mut().rev() {
        *digit = DIGITS[(rest % 62) as usize];
        rest /= 62;
    }
    digits.iter().copied().map(char::from).collect()
}

/// Returns a stand-in for a JSON web token, with the header of the token, and of its claims the times, which programs
/// read. `None`: the value is no such token.
fn web_token(value: &str, random: &mut RandomDigits) -> io::Result<Option<String>> {
    let mut parts = value.split('.');
    let (Some(header), Some(claims), Some(signature), None) = (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Ok(None);
    };
    let object = |part: &str| -> Option<serde_json::Map<String, serde_json::Value>> {
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).ok()?).ok()
    };
    let (Some(_), Some(given)) = (object(header), object(claims)) else { return Ok(None) };
    let times = ["exp", "iat", "nbf"].iter().filter_map(|name| Some((*name, given.get(*name)?.as_i64()?)));
    let mut text: String = times.map(|(name, time)| format!(r#""{name}":{time},"#)).collect();
    // The last claim fills the text up to the length of the claims of the token.
    let length = URL_SAFE_NO_PAD.decode(claims).map_or(0, |bytes| bytes.len());
    if length < text.len() + r#"{"_":""}"#.len() {
        text.clear();
    }
    let room = length.checked_sub(text.len() + r#"{"_":""}"#.len());
    let mut filler = String::new();
    for _ in 0..room.unwrap_or(0) {
        filler.push(random.one_of(b"abcdefghijklmnopqrstuvwxyz0123456789")?);
    }
    let claims = match room {
        Some(_) => URL_SAFE_NO_PAD.encode(format!(r#"{{{text}"_":"{filler}"}}"#)),
        None => claims.to_owned(),
    };
    let mut sign = String::with_capacity(signature.len());
    for character in signature.chars() {
        match TokenAlphabet::of("zZ").class_of(character) {
            Some(class) => sign.push(random.one_of(class)?),
            None => sign.push(character),
        }
    }
    Ok((signature.len() >= RANDOM).then(|| format!("{header}.{claims}.{sign}")))
}
