//! Functions of any language that take secrets.

/// Functions that take a secret, in small letters without separators, with the place of the secret among the arguments.
const FUNCTIONS: &[(&str, usize)] = &[
    ("auth", 1),
    ("authenticate", 1),
    ("basicauth", 1),
    ("bcrypt", 0),
    ("changeuserpassword", 1),
    ("checkpassword", 0),
    ("comparesync", 0),
    ("connectionauth", 1),
    ("converttosecurestring", 0),
    ("createsuperuser", 2),
    ("createuser", 2),
    ("crypt", 0),
    ("ftplogin", 2),
    ("generatepasswordhash", 0),
    ("getconnection", 2),
    ("hash", 0),
    ("hashpassword", 0),
    ("hashpw", 0),
    ("hashsync", 0),
    ("httpbasicauth", 1),
    ("httpdigestauth", 1),
    ("ldapbind", 2),
    ("login", 1),
    ("makepassword", 0),
    ("mysqli", 2),
    ("mysqliconnect", 2),
    ("networkcredential", 1),
    ("newinstance", 2),
    ("passwordauthentication", 1),
    ("passwordhash", 0),
    ("passwordverify", 0),
    ("pdo", 2),
    ("plaintextauthprovider", 1),
    ("setpassword", 0),
    ("simplebind", 1),
    ("simplebinds", 1),
    ("usernamepasswordcredentials", 1),
];

/// What must stand before `hash`, which is a name of many things.
const HASHERS: &[&str] = &["argon2.", "bcrypt.", "bcryptjs."];

/// Longest name of a function.
const MAX_NAME: usize = 32;
/// Returns whether a function of the list may be called in a text.
pub fn may_call(text: &[u8]) -> bool {
    let mut signs = memchr::memchr3_iter(b'(', b'"', b'\'', text);
    signs.any(|at| secret_argument(text, if text[at] == b'(' { at } else { at.saturating_sub(1) }).is_some())
}

/// Returns the place of the secret among the arguments behind this sign: a bracket, or the blank of `basic_auth 'me',
/// 'X'` in Ruby.
pub fn secret_argument(text: &[u8], at: usize) -> Option<usize> {
    let signs = text[..at].iter().rev().take(6).take_while(|byte| b" =:>\"'\\".contains(byte)).count();
    let end = at - signs;
    let mut name = [0; MAX_NAME];
    let mut start = MAX_NAME;
    let mut before = end;
    for byte in text[..end].iter().rev() {
        match byte {
            b'_' | b'-' => {}
            byte if byte.is_ascii_alphanumeric() => {
                start = start.checked_sub(1)?;
                name[start] = byte.to_ascii_lowercase();
            }
            _ => break,
        }
        before -= 1;
    }
    let row = FUNCTIONS.binary_search_by(|row| row.0.as_bytes().cmp(&name[start..])).ok()?;
    let is_pair = signs > 0 && FUNCTIONS[row].0 == "auth";
    let is_call = match text[at] {
        b'(' => signs == 0 || is_pair,
        b'[' => is_pair,
        b' ' => signs == 0,
        _ => false,
    };
    let is_hasher = || HASHERS.iter().any(|hasher| text[..before].ends_with(hasher.as_bytes()));
    (is_call && (FUNCTIONS[row].0 != "hash" || is_hasher())).then_some(FUNCTIONS[row].1)
}

#[cfg(test)]
mod tests {
    use super::FUNCTIONS;

    #[test]
    fn names_are_in_order_to_be_searched() {
        assert!(FUNCTIONS.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert!(FUNCTIONS.iter().all(|(name, _)| name.len() <= super::MAX_NAME));
        assert!(FUNCTIONS.iter().all(|(name, _)| name.bytes().all(|byte| byte.is_ascii_lowercase())));
    }
}
