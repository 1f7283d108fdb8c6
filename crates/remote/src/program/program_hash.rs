//! The SHA-256 of this program (FIPS 180-4), for machines that have no tool for it.

use std::fs::File;
use std::io::{self, Read};

/// Bytes of a block.
const BLOCK: usize = 64;
/// Bytes of one read, whole blocks.
const READ: usize = 64 * 1024;

/// The first bits of the fractional parts of the square roots of the first primes.
const INITIAL_STATE: [u32; 8] =
    [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];

/// Those of the cube roots.
const ROUND_CONSTANTS: [u32; 64] = [
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
    0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
    0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
    0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
    0xc67178f2,
];

/// Returns whether the file of this program has this hash, in hexadecimal digits.
///
/// # Errors
/// If the file cannot be read.
pub fn matches_own_hash(sum: &str) -> io::Result<bool> {
    Ok(sum_of(File::open("/proc/self/exe")?)? == sum)
}

fn sum_of(mut file: impl Read) -> io::Result<String> {
    let (mut state, mut length) = (INITIAL_STATE, 0_u64);
    let mut bytes = Vec::with_capacity(READ);
    // All reads but the last are whole blocks.
    while file.by_ref().take(READ as u64).read_to_end(&mut bytes)? == READ {
        length += READ as u64;
        bytes.chunks_exact(BLOCK).for_each(|block| mix(&mut state, block));
        bytes.clear();
    }
    length += bytes.len() as u64;
    bytes.push(0x80);
    bytes.resize((bytes.len() + 8).next_multiple_of(BLOCK) - 8, 0);
    bytes.extend((length * 8).to_be_bytes());
    bytes.chunks_exact(BLOCK).for_each(|block| mix(&mut state, block));
    Ok(state.iter().map(|word| format!("{word:08x}")).collect())
}

/// Mixes a block into the state.
fn mix(state: &mut [u32; 8], block: &[u8]) {
    let mut words = [0_u32; 64];
    for (word, bytes) in words.iter_mut().zip(block.as_chunks().0) {
        *word = u32::from_be_bytes(*bytes);
    }
    for at in 16..64 {
        let (early, late) = (words[at - 15], words[at - 2]);
        let early = early.rotate_right(7) ^ early.rotate_right(18) ^ (early >> 3);
        let late = late.rotate_right(17) ^ late.rotate_right(19) ^ (late >> 10);
        words[at] = words[at - 16].wrapping_add(early).wrapping_add(words[at - 7]).wrapping_add(late);
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
    for (word, round) in words.into_iter().zip(ROUND_CONSTANTS) {
        let sum = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let choice = (e & f) ^ (!e & g);
        let first = h.wrapping_add(sum).wrapping_add(choice).wrapping_add(round).wrapping_add(word);
        let sum = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let second = sum.wrapping_add((a & b) ^ (a & c) ^ (b & c));
        (h, g, f, e) = (g, f, e, d.wrapping_add(first));
        (d, c, b, a) = (c, b, a, first.wrapping_add(second));
    }
    for (word, more) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
        *word = word.wrapping_add(more);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_the_tool() {
        for length in [0, 1, 55, 56, 63, 64, 119, 120, READ - 1, READ, READ + 1, 3 * READ + 100] {
            let bytes: Vec<u8> = (0..length).map(|at| (at * 7 % 251) as u8).collect();
            let file = tempfile::NamedTempFile::new().expect("a file");
            std::fs::write(&file, &bytes).expect("written");
            let said = std::process::Command::new("sha256sum").arg(file.path()).output().expect("sha256sum").stdout;
            assert_eq!(sum_of(bytes.as_slice()).expect("read").as_bytes(), &said[..64], "{length}");
        }
    }
}
