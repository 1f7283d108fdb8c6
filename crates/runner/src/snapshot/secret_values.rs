//! Finds statements of a snapshot that hold a secret: by its shape, by the name of the assigned variable, or because it
//! is the value of a variable that carries a secret.

use protocol::plan;

/// The shortest value that counts. Shorter values occur in other texts by chance.
const SHORTEST: usize = 6;

/// The values of the secret variables of a shell.
#[derive(Debug, Default)]
pub struct SecretValues(Vec<Vec<u8>>);

impl SecretValues {
    /// Returns the secret values among these variables.
    pub fn of<'a>(variables: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let secret = variables.filter(|(name, value)| value.len() >= SHORTEST && plan::is_secret(name, value));
        Self(secret.map(|(_, value)| value.as_bytes().to_vec()).collect())
    }

    /// Returns whether the text holds any of the secrets.
    pub fn are_in(&self, text: &[u8]) -> bool {
        if self.0.iter().any(|secret| memchr::memmem::find(text, secret).is_some()) {
            return true;
        }
        // A reference to a variable or a program is not a secret itself: `-H "Authorization: $TOKEN"`.
        let literal: Vec<u8> = text.iter().map(|byte| if matches!(byte, b'$' | b'`') { b' ' } else { *byte }).collect();
        let literal = String::from_utf8_lossy(&literal);
        plan::has_secret_shape(&literal) || assigns_one(&literal)
    }
}

/// Returns whether a variable with the name of a secret is given a literal value: `API_KEY=abc123`.
fn assigns_one(text: &str) -> bool {
    let is_part = |char: char| char.is_ascii_alphanumeric() || char == '_';
    text.match_indices('=').any(|(at, _)| {
        let name = &text[text[..at].trim_end_matches(is_part).len()..at];
        let rest = text[at + 1..].trim_start_matches(['"', '\'', '\\']);
        let value = &rest[..rest.find([' ', '\t', '\n', '"', '\'', ';', '&', '|', ')']).unwrap_or(rest.len())];
        !name.is_empty() && value.len() >= SHORTEST && plan::is_secret(name, value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_known_by_shape_name_and_value() {
        let secrets =
            SecretValues::of([("DB_PASSWORD", "hunter-2"), ("HOME", "/home/x"), ("PIN_TOKEN", "1")].into_iter());
        let token = format!("curl -H 'x: {}{}'", "ghp_", "a1".repeat(18));
        for secret in ["mysql -phunter-2 x", "API_KEY=abc123def deploy", "export OPENAI_API_KEY='abc-123-x'", &token] {
            assert!(secrets.are_in(secret.as_bytes()), "{secret}");
        }
        for plain in [
            "cd /home/x",
            "API_KEY=$(pass show key) deploy",
            "export API_KEY=\"$1\"",
            "curl -H \"Authorization: ${NVM_AUTH_HEADER}\" x",
            "local token=1",
            "git clone https://user:$TOKEN@host/x",
        ] {
            assert!(!secrets.are_in(plain.as_bytes()), "{plain}");
        }
    }
}
