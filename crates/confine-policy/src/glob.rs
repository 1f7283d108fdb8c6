//! Globs of texts.

/// Returns whether a text matches a glob, in which `*` stands for any characters and `?` for one.
pub(crate) fn matches_glob(glob: &[u8], text: &[u8]) -> bool {
    let (mut at, mut rest, mut star) = (0, 0, None);
    while rest < text.len() {
        match glob.get(at) {
            Some(b'*') => {
                star = Some((at, rest));
                at += 1;
            }
            Some(one) if *one == b'?' || *one == text[rest] => (at, rest) = (at + 1, rest + 1),
            _ => match star {
                Some((of, from)) => {
                    star = Some((of, from + 1));
                    (at, rest) = (of + 1, from + 1);
                }
                None => return false,
            },
        }
    }
    glob[at..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs() {
        for (glob, text, matches) in [
            ("/repos/acme/*", "/repos/acme/app", true),
            ("/repos/acme/*", "/repos/acme/app/pulls", true),
            ("/repos/acme/*", "/repos/acme", false),
            ("/repos/*/pulls", "/repos/a/b/pulls", true),
            ("/repos/?/pulls", "/repos/ab/pulls", false),
            ("*", "", true),
            ("", "", true),
            ("", "a", false),
            ("a*b*c", "aXbbXc", true),
            ("a*b*c", "aXbbX", false),
        ] {
            assert_eq!(matches_glob(glob.as_bytes(), text.as_bytes()), matches, "{glob} {text}");
        }
    }
}
