//! A search for the text that an engine takes longest for, by byte. Texts that took long are changed and mixed, and
//! what takes longer takes their place.

use std::hint::black_box;
use std::time::{Duration, Instant};

use reduce::ReductionLevel;

use crate::{TAIL, judge, prove, read, view};

/// An engine by its name, and its work on one text.
pub(crate) type Engine = (&'static str, fn(&str));

/// The engines that read what programs and models write.
pub(crate) const ENGINES: [Engine; 7] = [
    ("analyze", judge),
    ("highlight", |text| drop(black_box(grammar::highlight(text, &safety::parse::starts(text))))),
    ("redact", |text| drop(black_box(redact::redact(text)))),
    ("sanitize", |text| read(1, text, TAIL)),
    ("view", |text| view(1, text, ReductionLevel::Salient { budget: 500 })),
    ("view without loss", |text| view(1, text, ReductionLevel::Lossless)),
    ("evidence", prove),
];

/// Bytes of a text.
pub(crate) const LENGTH: usize = 8 * 1024;
/// Texts that are kept.
const KEPT: usize = 24;
/// Pieces that a text has at most before it is repeated up to its length.
const PIECES: usize = 12;

/// Pieces of shell, of outputs, and of what frightens parsers.
const WORDS: &str = "a|·a||·&&·;·\n·f(){·}·a=(·)·((·))·$(·`·<<E\n·E\n·<<-E\n·<<<·if ·then ·fi\n·else ·[[ ·]]·{ ·\"·'·$'·! ·${·${!·\
    @P}·a[·]·@(·<(·>(·case a in ·x) ·;;·esac\n·for x in ·do ·done\n·while ·select ·$((·1+·*·?·\\·#·{1..9}·{a,b}·~·=·+=·x·\
    a+=(x);·\"${a[@]}\"·$x·$@·eval ·bash -c ·xargs ·git ·rm -rf ·find . ·-exec ·--·-x ·| sh·alias a=·shopt -s expand_aliases\n·function f ·\
    local ·declare -n ·printf %s ·echo ·cd ·sudo ·env ·A=b ·trap ·export ·return\n·read x ·token=·AKIA·password ·ghp_·\
    Bearer ·://u:p@h/·0123456789·abcdef·\u{1b}[·\u{1b}[31m·\u{1b}]0;·\r·\x08·\t·\u{1b}[2K·\u{1b}[9C·m·\0·é·日·\u{301}·\
    error: ·FAIL ·Traceback (most recent call last):\n·  File \"a\", line 1\n·    at x (y:1:2)\n·ok 1\n·not ok 1\n·\
    --- FAIL: \n·warning·[1/9]·100%·1.5s·{\"a\":·[·]·,·<·>·/·.·-----BEGIN A-----\n·==·:·";

/// Numbers that look random.
pub(crate) struct RandomNumbers(u64);

impl RandomNumbers {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).expect("31 bits") % bound.max(1)
    }

    fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

/// Pieces, each with how often it is repeated.
type Genes = Vec<(String, usize)>;

struct TimedText {
    genes: Genes,
    time: Duration,
}

/// Returns the text that an engine takes longest for among those that a search of this length comes upon.
pub(crate) fn search(act: fn(&str), length: Duration, seed: u64, lines: &[String]) -> String {
    let numbers = &mut RandomNumbers::new(seed);
    let words: Vec<&str> = WORDS.split('·').chain(lines.iter().map(String::as_str)).collect();
    let mut kept: Vec<TimedText> = Vec::new();
    let begin = Instant::now();
    while begin.elapsed() < length {
        let genes = if kept.len() < KEPT || numbers.below(10) == 0 {
            (0..=numbers.below(PIECES)).map(|_| piece(numbers, &words)).collect()
        } else {
            child(numbers, &words, &kept)
        };
        let time = time_of(act, &text_of(&genes));
        let least = kept.last().map_or(Duration::ZERO, |text| text.time);
        if kept.len() < KEPT || time > least {
            // A time counts that holds when it is taken again: another program may have had the processor.
            let time = time.min(time_of(act, &text_of(&genes)));
            let at = kept.partition_point(|text| text.time >= time);
            kept.insert(at, TimedText { genes, time });
            kept.truncate(KEPT);
        }
    }
    let worst = kept.first().expect("a search has a text");
    text_of(&worst.genes)
}

fn time_of(act: fn(&str), text: &str) -> Duration {
    let begin = Instant::now();
    act(text);
    begin.elapsed()
}

fn piece(numbers: &mut RandomNumbers, words: &[&str]) -> (String, usize) {
    let often = [1, 1, 1, 2, 8, 64, 512][numbers.below(7)];
    ((*numbers.of(words)).to_owned(), often)
}

/// Returns the genes of a kept text with a few changes, in half of the cases with a part of another one.
fn child(numbers: &mut RandomNumbers, words: &[&str], kept: &[TimedText]) -> Genes {
    let mut genes = numbers.of(kept).genes.clone();
    if numbers.below(2) == 0 {
        let other = &numbers.of(kept).genes;
        let cut = numbers.below(other.len());
        genes.truncate(numbers.below(genes.len()) + 1);
        genes.extend_from_slice(&other[cut..]);
    }
    for _ in 0..=numbers.below(3) {
        let at = numbers.below(genes.len());
        match numbers.below(5) {
            0 => genes.insert(at, piece(numbers, words)),
            1 if genes.len() > 1 => drop(genes.remove(at)),
            2 => genes[at].1 = piece(numbers, words).1,
            3 => genes[at].0.push_str(words[numbers.below(words.len())]),
            _ => genes[at] = piece(numbers, words),
        }
    }
    genes.truncate(PIECES);
    genes
}

/// Returns the pieces of the genes in their order, again and again up to the length of a text.
fn text_of(genes: &Genes) -> String {
    let mut text = String::with_capacity(2 * LENGTH);
    while text.len() < LENGTH {
        let before = text.len();
        for (piece, often) in genes {
            for _ in 0..*often {
                if text.len() >= LENGTH {
                    break;
                }
                text.push_str(piece);
            }
        }
        if text.len() == before {
            text.push('x');
        }
    }
    text.truncate(text.floor_char_boundary(LENGTH));
    text
}
