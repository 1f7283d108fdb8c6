//! Opens compressed bodies as they arrive.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use brotli_decompressor::{Allocator, BrotliDecompressStream, BrotliResult, BrotliState, SliceWrapper, StandardAlloc};
use bytes::{Buf, Bytes};
use flate2::write::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use zstd::stream::write::Decoder as ZstdDecoder;

use super::memory_budget::{BudgetShare, MemoryBudget};

/// The bytes that brotli gives at once. The other decoders have buffers of 32 and 128 KiB.
const PIECE: usize = 64 * 1024;

/// The memory that a decoder takes besides its window.
const OWN_MEMORY: usize = 64 * 1024;

/// The largest window of zstd in HTTP: 8 MiB (RFC 9659, 3).
const ZSTD_WINDOW: u32 = 23;

/// The codings that are opened. Requests ask for no others.
pub(crate) const CODINGS: [&str; 6] = ["gzip", "x-gzip", "br", "zstd", "deflate", "identity"];

/// Opens a body in small pieces, however much comes out of it.
pub(crate) struct BodyDecoder {
    coding: CodingDecoder,
    memory: BudgetShare,
    opened: usize,
}

enum CodingDecoder {
    Gzip(Box<MultiGzDecoder<Vec<u8>>>),
    Zlib(Box<ZlibDecoder<Vec<u8>>>),
    Deflate(Box<DeflateDecoder<Vec<u8>>>),
    /// The first byte tells zlib's form from a bare one.
    UnknownDeflate,
    Brotli(Box<BrotliDecoder>),
    Zstd(Box<ZstdDecoder<'static, Vec<u8>>>),
}

impl BodyDecoder {
    /// Returns the decoder of a coding. `None`: the coding compresses nothing that is known.
    pub fn of(coding: &str, memory: &Arc<MemoryBudget>) -> io::Result<Option<Self>> {
        let coding = match coding {
            "gzip" | "x-gzip" => CodingDecoder::Gzip(Box::new(MultiGzDecoder::new(Vec::new()))),
            "deflate" => CodingDecoder::UnknownDeflate,
            "br" => CodingDecoder::Brotli(Box::new(BrotliDecoder::new())),
            "zstd" => {
                let mut decoder = ZstdDecoder::new(Vec::new())?;
                decoder.window_log_max(ZSTD_WINDOW)?;
                CodingDecoder::Zstd(Box::new(decoder))
            }
            _ => return Ok(None),
        };
        let mut memory = memory.share();
        memory.grow_to(OWN_MEMORY)?;
        Ok(Some(Self { coding, memory, opened: 0 }))
    }

    /// Takes some of the next bytes. Returns their content.
    pub fn push(&mut self, bytes: &mut Bytes) -> io::Result<Vec<u8>> {
        let opened = self.coding.push(bytes)?;
        self.opened = self.opened.saturating_add(opened.len());
        let window = match &self.coding {
            CodingDecoder::Brotli(decoder) => decoder.memory.taken.load(Ordering::Relaxed),
            // Its window takes memory as far as it has something in it.
            CodingDecoder::Zstd(_) => self.opened.min(1 << ZSTD_WINDOW),
            _ => 0,
        };
        self.memory.grow_to(OWN_MEMORY + window)?;
        Ok(opened)
    }

    /// Returns whether there is more content of the bytes that were taken.
    pub fn has_more(&self) -> bool {
        matches!(&self.coding, CodingDecoder::Brotli(decoder) if decoder.has_more)
    }

    /// Ends the body. Returns the rest of its content.
    pub fn finish(&mut self) -> io::Result<Vec<u8>> {
        self.coding.finish()
    }
}

impl CodingDecoder {
    fn push(&mut self, bytes: &mut Bytes) -> io::Result<Vec<u8>> {
        if let (Self::UnknownDeflate, Some(first)) = (&self, bytes.first()) {
            // RFC 1950, 2.2: the low bits of zlib's first byte are 8.
            *self = if first & 0x0f == 8 {
                Self::Zlib(Box::new(ZlibDecoder::new(Vec::new())))
            } else {
                Self::Deflate(Box::new(DeflateDecoder::new(Vec::new())))
            };
        }
        let taken = match self {
            Self::Gzip(decoder) => decoder.write(bytes)?,
            Self::Zlib(decoder) => decoder.write(bytes)?,
            Self::Deflate(decoder) => decoder.write(bytes)?,
            Self::Zstd(decoder) => decoder.write(bytes)?,
            Self::Brotli(decoder) => return decoder.push(bytes),
            Self::UnknownDeflate => 0,
        };
        if taken == 0 && !bytes.is_empty() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "there is more than the body"));
        }
        bytes.advance(taken);
        Ok(self.taken())
    }

    fn finish(&mut self) -> io::Result<Vec<u8>> {
        match self {
            Self::Gzip(decoder) => decoder.try_finish()?,
            Self::Zlib(decoder) => decoder.try_finish()?,
            Self::Deflate(decoder) => decoder.try_finish()?,
            Self::Zstd(decoder) => decoder.flush()?,
            Self::Brotli(decoder) if !decoder.ended => return Err(io::ErrorKind::UnexpectedEof.into()),
            Self::Brotli(_) | Self::UnknownDeflate => {}
        }
        Ok(self.taken())
    }

    fn taken(&mut self) -> Vec<u8> {
        match self {
            Self::Gzip(decoder) => std::mem::take(decoder.get_mut()),
            Self::Zlib(decoder) => std::mem::take(decoder.get_mut()),
            Self::Deflate(decoder) => std::mem::take(decoder.get_mut()),
            Self::Zstd(decoder) => std::mem::take(decoder.get_mut()),
            Self::Brotli(_) | Self::UnknownDeflate => Vec::new(),
        }
    }
}

/// Counts the memory of a decoder of brotli.
#[derive(Clone, Default)]
struct CountingAlloc {
    taken: Arc<AtomicUsize>,
}

impl<T: Clone + Default> Allocator<T> for CountingAlloc {
    type AllocatedMemory = <StandardAlloc as Allocator<T>>::AllocatedMemory;

    fn alloc_cell(&mut self, len: usize) -> Self::AllocatedMemory {
        self.taken.fetch_add(len * size_of::<T>(), Ordering::Relaxed);
        StandardAlloc::default().alloc_cell(len)
    }

    fn free_cell(&mut self, cell: Self::AllocatedMemory) {
        self.taken.fetch_sub(size_of_val(cell.slice()), Ordering::Relaxed);
    }
}

/// Opens brotli, whose library gives all content of some bytes at once otherwise.
struct BrotliDecoder {
    state: BrotliState<CountingAlloc, CountingAlloc, CountingAlloc>,
    memory: CountingAlloc,
    total: usize,
    has_more: bool,
    ended: bool,
}

impl BrotliDecoder {
    fn new() -> Self {
        let memory = CountingAlloc::default();
        let [bytes, words, codes] = [(); 3].map(|()| memory.clone());
        // The strict form has no windows of up to 1 GiB, which are not those of HTTP.
        Self { state: BrotliState::new_strict(bytes, words, codes), memory, total: 0, has_more: false, ended: false }
    }

    fn push(&mut self, bytes: &mut Bytes) -> io::Result<Vec<u8>> {
        if self.ended {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "there is more than the body"));
        }
        let mut out = vec![0; PIECE];
        let (mut left, mut taken, mut room, mut made) = (bytes.len(), 0, out.len(), 0);
        let result = BrotliDecompressStream(
            &mut left,
            &mut taken,
            bytes,
            &mut room,
            &mut made,
            &mut out,
            &mut self.total,
            &mut self.state,
        );
        self.has_more = matches!(result, BrotliResult::NeedsMoreOutput);
        self.ended = matches!(result, BrotliResult::ResultSuccess);
        if matches!(result, BrotliResult::ResultFailure) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the body is no brotli"));
        }
        bytes.advance(taken);
        out.truncate(made);
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoder(coding: &str) -> BodyDecoder {
        BodyDecoder::of(coding, &Arc::default()).expect("valid").expect("known")
    }

    /// 64 MiB of zeros by the reference encoder of brotli, with the largest window.
    const BROTLI_BOMB: &[u8] = &[
        0xcf, 0xff, 0xff, 0x7f, 0xf8, 0x27, 0x00, 0xe2, 0xb1, 0x40, 0x20, 0xf7, 0xfe, 0x9f, 0xff, 0xff, 0xff, 0xf0,
        0x4f, 0x00, 0xc4, 0x61, 0x01, 0x80, 0xee, 0xfd, 0x3f, 0xff, 0xff, 0xff, 0xe1, 0x9f, 0x00, 0x88, 0xc3, 0x22,
        0x00, 0xdd, 0xfb, 0xff, 0xfc, 0xff, 0xff, 0xc7, 0x3f, 0x01, 0x10, 0x87, 0x05, 0x00, 0xba, 0xf7, 0xff,
    ];
    /// Opens a body that arrives in pieces.
    fn opened(coding: &str, body: &[u8], piece: usize) -> io::Result<Vec<u8>> {
        let mut decoder = decoder(coding);
        let mut out = Vec::new();
        for bytes in body.chunks(piece) {
            let mut bytes = Bytes::copy_from_slice(bytes);
            while !bytes.is_empty() || decoder.has_more() {
                out.extend(decoder.push(&mut bytes)?);
            }
        }
        out.extend(decoder.finish()?);
        Ok(out)
    }

    #[test]
    fn bodies_are_opened_in_any_pieces() {
        let text: Vec<u8> = (0..20_000_u32).flat_map(|number| number.to_string().into_bytes()).collect();
        let gzip = |text: &[u8]| {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(text).expect("written");
            encoder.finish().expect("finished")
        };
        let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        zlib.write_all(&text).expect("written");
        let mut bare = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
        bare.write_all(&text).expect("written");
        for (coding, body) in [
            ("gzip", gzip(&text)),
            ("x-gzip", [gzip(&text[..100]), gzip(&text[100..])].concat()),
            ("deflate", zlib.finish().expect("finished")),
            ("deflate", bare.finish().expect("finished")),
            ("zstd", zstd::encode_all(text.as_slice(), 3).expect("encoded")),
        ] {
            for piece in [1, 7, 512, usize::MAX] {
                assert!(opened(coding, &body, piece).expect(coding) == text, "{coding} in pieces of {piece}");
            }
        }
    }

    #[test]
    fn what_is_no_body_of_its_coding_is_an_error() {
        for coding in ["gzip", "deflate", "br", "zstd"] {
            assert!(opened(coding, &[0xff; 300], 512).is_err(), "{coding}");
        }
        assert!(BodyDecoder::of("identity", &Arc::default()).expect("valid").is_none());
    }

    /// Returns the largest piece that comes out of a body, and how many bytes come out at all.
    fn largest_piece(coding: &str, bomb: Vec<u8>) -> (usize, usize) {
        let (mut decoder, mut bytes, mut pieces) = (decoder(coding), Bytes::from(bomb), Vec::new());
        while !bytes.is_empty() || decoder.has_more() {
            pieces.push(decoder.push(&mut bytes).expect("valid").len());
        }
        pieces.push(decoder.finish().expect("finished").len());
        (pieces.iter().copied().max().unwrap_or(0), pieces.iter().sum())
    }

    #[test]
    fn a_bomb_comes_out_in_small_pieces() {
        let zeros = vec![0; 64 << 20];
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        gzip.write_all(&zeros).expect("written");
        for (coding, bomb) in [
            ("zstd", zstd::encode_all(zeros.as_slice(), 19).expect("encoded")),
            ("gzip", gzip.finish().expect("finished")),
            ("br", BROTLI_BOMB.to_vec()),
        ] {
            let (largest, all) = largest_piece(coding, bomb);
            assert!(largest <= 256 * 1024 && all == 64 << 20, "{coding}: {largest} of {all}");
        }
    }

    #[test]
    fn decoders_share_their_memory() {
        let memory = Arc::default();
        let mut open = Vec::new();
        let failed = loop {
            let Some(mut decoder) = BodyDecoder::of("br", &memory).expect("room") else { panic!("known") };
            let mut bytes = Bytes::from_static(BROTLI_BOMB);
            let filled = (0..300).try_for_each(|_| decoder.push(&mut bytes).map(drop));
            if let Err(error) = filled {
                break error;
            }
            open.push(decoder);
        };
        assert_eq!((open.len(), failed.to_string().as_str()), (15, "too many large bodies are open at once"));
    }

    #[test]
    fn a_window_that_http_has_not_is_an_error() {
        // RFC 7932, 9.1: this first byte is reserved. Some libraries read windows of up to 1 GiB from the next one.
        assert!(decoder("br").push(&mut Bytes::from_static(&[0x11, 0x1e, 0x03])).is_err());
    }
}
