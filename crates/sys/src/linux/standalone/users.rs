//! The user database in `/etc/passwd`.

/// An entry of the user database.
#[derive(Debug, PartialEq, Eq)]
pub struct PasswdEntry<'t> {
    /// The name, the password, the description, the home and the shell.
    pub texts: [&'t str; 5],
    /// The number of the user.
    pub uid: u32,
    /// The number of the user's group.
    pub gid: u32,
}

/// Returns the first user with this number in the text of a database.
pub fn passwd_entry(text: &str, uid: u32) -> Option<PasswdEntry<'_>> {
    text.lines().find_map(|line| {
        let mut fields = line.split(':');
        let mut next = || fields.next();
        let (name, password) = (next()?, next()?);
        let (found, gid) = (next()?.parse::<u32>().ok()?, next()?.parse().ok()?);
        let texts = [name, password, next()?, next()?, next()?];
        (found == uid).then_some(PasswdEntry { texts, uid, gid })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_found_by_number_and_other_lines_are_none() {
        let text =
            "# users\n\nroot:x:0:0:root:/root:/bin/bash\n+::::::\nshort:x:7\ndev:x:1000:100:A, B:/home/dev:/bin/sh\n";
        let texts = ["dev", "x", "A, B", "/home/dev", "/bin/sh"];
        assert_eq!(passwd_entry(text, 1000), Some(PasswdEntry { texts, uid: 1000, gid: 100 }));
        assert_eq!(passwd_entry(text, 0).map(|user| user.texts[3]), Some("/root"));
        assert_eq!((passwd_entry(text, 7), passwd_entry("", 0)), (None, None));
    }
}
