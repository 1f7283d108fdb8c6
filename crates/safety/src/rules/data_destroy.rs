//! Files outside of the project that are overwritten or deleted for good, and backups that are deleted at once.

use super::safety_rule::{RuleHit, RulePrograms, SafetyRule};
use super::support::backup_patterns::is_backups;
use super::support::operand_paths::{DirectoryLandmarks, OperandPath, OperandPlace};
use super::support::{lost_file_sets, quote, written_files};
use crate::name_lists::has_word;
use crate::options::{ParsedArguments, parse};
use crate::programs;
use crate::programs::network::RSYNC_DELETES;
use crate::simple_command_view::{ExpandedRedirect, SimpleCommandView};
use crate::verdict::SafetyVerdict;
use crate::word_value::WordValue;

pub static RULE: SafetyRule = SafetyRule {
    id: "data-destroy",
    level: SafetyVerdict::Ask,
    doc: "Overwrites or empties a file outside of the directory that the command starts in and of directories for \
          temporary files, lets `rsync` delete there, moves files to `/dev/null`, or deletes all backups that match \
          a pattern.",
    programs: RulePrograms::All,
    check,
    matches: &[
        "shred -u ~/notes.txt",
        "truncate -s 0 /var/log/syslog",
        "truncate --size=0 \"$FILE\"",
        "> /var/log/app.log",
        "echo '{}' > ../other/package.json",
        "dd if=/dev/zero of=/swapfile bs=1M count=10",
        "rsync -a --delete dist/ deploy@prod:/var/www/",
        "rsync -a --remove-source-files ~/Downloads/ in/",
        "mv notes.txt /dev/null",
        "rm -f backups/*.sql",
        "rm *.bak",
        "truncate -s 0 *",
        "cp /dev/null *",
        "mv .git /tmp/x",
        "mv * /tmp/x/",
        "mv ~/Documents /tmp/",
        "git rm -rfq .",
        "rsync -a --delete /tmp/empty/ .",
        "rsync -a --delete empty/ .git/",
    ],
    passes: &[
        "shred -u secret.txt",
        "truncate -s 0 log/test.log",
        "truncate -s 1G /tmp/disk.img",
        "echo x > notes.md",
        "echo x > /tmp/out.txt",
        "echo x > ~/.cache/x/state",
        "echo x >> /var/log/app.log",
        "npm test > /dev/null 2>&1",
        "echo x > \"$OUT\"",
        "dd if=/dev/zero of=disk.img bs=1M count=10",
        "rsync -a dist/ deploy@prod:/var/www/",
        "rsync -an --delete dist/ deploy@prod:/var/www/",
        "rsync -a --delete src/ build/src/",
        "mv a.txt b.txt",
        "rm backup.sql",
        "rm build/*.bak",
        "rm *",
        "rm *.log",
        "mv build /tmp/x",
        "mv .git .git.bak",
        "git rm -r --cached .",
        "git rm -r .",
        "git rm -rf build",
        "truncate -s 0 *.log",
    ],
};

fn check(command: &SimpleCommandView) -> Option<RuleHit> {
    let redirected = || {
        let replaces = |redirect: &&ExpandedRedirect| {
            let device = redirect.target.prefix().starts_with("/dev/");
            !device && redirect.writes_file() && matches!(redirect.op.as_str(), ">" | ">|" | "&>" | ">&")
        };
        let mut replaced = command.redirects.iter().filter(replaces);
        replaced.find_map(|redirect| {
            let files = OutsideFileCheck::new(command, &redirect.cwd);
            let lost = files.is_outside(&redirect.target) && !files.is_setting(&redirect.target);
            lost.then(|| overwritten(&redirect.target))
        })
    };
    let by_program = || match command.name()? {
        "rsync" => synchronized(command),
        "mv" | "gmv" => moved_away(command),
        "rm" | "grm" => backups(command),
        _ => erased(command),
    };
    let sets = || lost_file_sets::lost_file_set(command).map(emptied);
    let single = if command.redirects.is_empty() { by_program() } else { redirected().or_else(by_program) };
    single.or_else(sets)
}

/// `find . -type f | xargs truncate -s 0`
fn emptied(word: &WordValue) -> RuleHit {
    let message = format!(
        "this deletes, empties or moves away {}, also what is in no commit",
        lost_file_sets::set_contents(word)
    );
    RuleHit::exact(message, "git status --short")
}

/// The files of a command, seen from a directory.
struct OutsideFileCheck<'a> {
    landmarks: DirectoryLandmarks<'a>,
    cwd: &'a WordValue,
}

impl<'a> OutsideFileCheck<'a> {
    fn new(command: &SimpleCommandView<'a>, cwd: &'a WordValue) -> Self {
        Self { landmarks: DirectoryLandmarks::new(command.directories), cwd }
    }

    /// Returns whether a file is certainly outside of the project, and neither a device nor a cache.
    fn is_outside(&self, file: &WordValue) -> bool {
        let outside = match self.landmarks.place_of(file, self.cwd) {
            OperandPlace::Outside => true,
            OperandPlace::Critical { .. } => !self.landmarks.within_reach(file, self.cwd),
            OperandPlace::Nothing | OperandPlace::Inside | OperandPlace::Temp | OperandPlace::Unknown => false,
        };
        outside && !self.is_free(file)
    }

    /// Returns whether a file may be outside.
    fn may_be_outside(&self, file: &WordValue) -> bool {
        // An empty word is an unset variable.
        let unknown = matches!(self.landmarks.place_of(file, self.cwd), OperandPlace::Unknown | OperandPlace::Nothing);
        unknown || self.is_outside(file)
    }

    /// Returns whether a file is a device, a setting of the kernel or a cache.
    fn is_free(&self, file: &WordValue) -> bool {
        let path = OperandPath::new(file, self.cwd);
        let of_kernel = path.known > 0 && ["dev", "proc", "sys"].iter().any(|name| path.parts[0].covers(name));
        let cache = |file: String| matches!(file.split('/').next(), Some(".cache" | ".Trash"));
        of_kernel
            || path.known > 2 && path.parts.windows(2).any(|pair| pair[0].covers("Library") && pair[1].covers("Caches"))
            || self.landmarks.home_dotfile(file, self.cwd).is_some_and(cache)
    }

    /// Returns whether home-dotfile-write reports the file.
    fn is_setting(&self, file: &WordValue) -> bool {
        self.landmarks.home_dotfile(file, self.cwd).is_some()
    }
}

/// `shred FILE`, `truncate -s 0 FILE`, `dd of=FILE`
fn erased(command: &SimpleCommandView) -> Option<RuleHit> {
    let mut lost = None;
    written_files::for_each_erased(command, |file: &WordValue, cwd: &WordValue| {
        if lost.is_none() && OutsideFileCheck::new(command, cwd).may_be_outside(file) {
            lost = Some(overwritten(file));
        } else if lost.is_none() && lost_file_sets::is_whole(file, command) {
            lost = Some(emptied(file));
        }
    });
    lost
}

/// `rsync --delete` onto a directory outside, or `--remove-source-files` from a directory outside.
fn synchronized(command: &SimpleCommandView) -> Option<RuleHit> {
    let parsed = parse(command.args(), &programs::of("rsync").options);
    if parsed.has("n dry-run list-only help version") {
        return None;
    }
    let operands: Vec<&WordValue> = parsed.operands.iter().filter_map(|at| command.args().get(*at)).collect();
    let (target, sources) = operands.split_last().filter(|(_, sources)| !sources.is_empty())?;
    let files = OutsideFileCheck::new(command, command.cwd);
    let lost = |place: &WordValue| is_remote(place) || files.may_be_outside(place);
    let critical = || matches!(files.landmarks.place_of(target, files.cwd), OperandPlace::Critical { .. });
    let deletes = parsed.options.iter().any(|given| has_word(RSYNC_DELETES, &given.name));
    let what = if deletes && (lost(target) || critical()) {
        format!("deletes in {} what the source does not have", shown(target))
    } else if parsed.has("remove-source-files") && sources.iter().any(|source| lost(source)) {
        "deletes the files of the source after it has copied them".to_owned()
    } else {
        return None;
    };
    let message = format!("this {what}. A dry run shows what would be deleted");
    let mut words = command.argv.to_vec();
    words.insert(1, WordValue::of("--dry-run"));
    Some(RuleHit::exact(message, quote::line(&words).unwrap_or_default()))
}

/// Returns whether an operand of rsync is on another machine: `host:path`, `rsync://host/path`.
fn is_remote(operand: &WordValue) -> bool {
    operand.prefix().split('/').next().is_some_and(|first| first.contains(':'))
}

/// `mv FILE /dev/null`
fn moved_away(command: &SimpleCommandView) -> Option<RuleHit> {
    let parsed = parse(command.args(), &programs::of("mv").options);
    let operands = operands(command, &parsed);
    let (target, count) = match parsed.value("t target-directory") {
        Some(target) => (target, operands.len() + 1),
        None => (*operands.last()?, operands.len()),
    };
    (count > 1 && target.known() == Some("/dev/null")).then(|| {
        let message = "this moves files to /dev/null, where nothing is kept. Move them to another name, or delete them by \
                       their names";
        RuleHit::exact(message, "")
    })
}

/// `rm backups/*.sql`
fn backups(command: &SimpleCommandView) -> Option<RuleHit> {
    let parsed = parse(command.args(), &programs::of("rm").options);
    if parsed.has("help version") {
        return None;
    }
    let landmarks = DirectoryLandmarks::new(command.directories);
    let all = operands(command, &parsed);
    let found = all.into_iter().find(|word| {
        word.has_glob() && is_backups(word, command) && landmarks.place_of(word, command.cwd) != OperandPlace::Temp
    })?;
    let message = format!("this deletes all backups that {} fits. Keep the latest, and name the others", shown(found));
    Some(RuleHit::exact(message, listing(found)))
}

fn operands<'a>(command: &SimpleCommandView<'a>, parsed: &ParsedArguments) -> Vec<&'a WordValue> {
    parsed.operands.iter().filter_map(|at| command.args().get(*at)).collect()
}

fn overwritten(file: &WordValue) -> RuleHit {
    let message = match file.has_unknown() || file.known() == Some("") {
        true => "this overwrites a file whose name is not known before it runs. What was in it is gone".to_owned(),
        false => format!(
            "this overwrites {}, which is outside of the working directory. What was in it is gone",
            shown(file)
        ),
    };
    RuleHit::exact(message, listing(file))
}

/// Returns a command that lists files.
fn listing(file: &WordValue) -> String {
    let line = quote::line([file]).filter(|text| !text.starts_with('-') && text != "''");
    line.map(|text| format!("ls -l {text}")).unwrap_or_default()
}

/// Returns a file as people read it.
fn shown(file: &WordValue) -> String {
    quote::line([file]).unwrap_or_else(|| "a place that is not known".to_owned())
}
