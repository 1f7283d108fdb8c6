//! Names that change with each run.

use super::write_glob::literal;

/// Directories for temporary files.
const TEMPORARY: [&str; 4] = ["/tmp/", "/var/tmp/", "/private/tmp/", "/dev/shm/"];

/// Returns the glob of a written file. In a directory for temporary files, `*` stands for numbers and random parts of
/// names, which are others at the next run.
pub fn glob_for_written_file(path: &str) -> String {
    let Some(root) = TEMPORARY.iter().find(|root| path.starts_with(**root)) else { return literal(path) };
    let names: Vec<String> = path[root.len()..].split('/').map(name).collect();
    format!("{root}{}", names.join("/"))
}

fn name(name: &str) -> String {
    // mktemp
    if name.starts_with("tmp.") {
        return "tmp.*".to_owned();
    }
    let parts = name.split_inclusive(['.', '-', '_']).map(|part| {
        let text = part.trim_end_matches(['.', '-', '_']);
        if is_volatile(text) { format!("*{}", &part[text.len()..]) } else { literal(part) }
    });
    parts.collect()
}

/// Returns whether a part of a name is a number, a hash or random.
fn is_volatile(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let is_number = digits == text.len() && digits >= 2;
    is_number || digits > 0 && text.len() >= 6 && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_random_parts_of_temporary_names_become_stars() {
        for (path, wanted) in [
            ("/tmp/tmp.Xy12/out", "/tmp/tmp.*/out"),
            ("/tmp/build-12345.log", "/tmp/build-*.log"),
            ("/var/tmp/a1b2c3d4/x.txt", "/var/tmp/*/x.txt"),
            ("/tmp/out.txt", "/tmp/out.txt"),
            ("/tmp/v2/a b*", "/tmp/v2/a b\\*"),
            ("/srv/12345/out", "/srv/12345/out"),
            ("out-12345", "out-12345"),
        ] {
            assert_eq!(glob_for_written_file(path), wanted);
        }
    }
}
