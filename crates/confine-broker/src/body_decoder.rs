//! Opens compressed bodies as they arrive.

use std::io::{self, Write};

use brotli_decompressor::DecompressorWriter;
use flate2::write::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use zstd::stream::write::Decoder as ZstdDecoder;

/// Compressed bytes that are opened at once, so that little memory is needed however much comes out of them.
pub(crate) const STEP: usize = 512;

/// The bytes that brotli reads at once.
const BROTLI_BUFFER: usize = 4096;

/// The largest window of zstd in HTTP: 8 MiB (RFC 9659, 3).
const ZSTD_WINDOW: u32 = 23;

/// The codings that are opened. Requests ask for no others.
pub(crate) const CODINGS: [&str; 6] = ["gzip", "x-gzip", "br", "zstd", "deflate", "identity"];

/// Opens a body.
pub(crate) enum BodyDecoder {
    Gzip(Box<MultiGzDecoder<Vec<u8>>>),
    Zlib(Box<ZlibDecoder<Vec<u8>>>),
    Deflate(Box<DeflateDecoder<Vec<u8>>>),
    /// The first byte tells zlib's form from a bare one.
    UnknownDeflate,
    Brotli(Box<DecompressorWriter<Vec<u8>>>),
    Zstd(Box<ZstdDecoder<'static, Vec<u8>>>),
}

impl BodyDecoder {
    /// Returns the decoder of a coding. `None`: the coding compresses nothing that is known.
    pub fn of(coding: &str) -> io::Result<Option<Self>> {
        Ok(Some(match coding {
            "gzip" | "x-gzip" => Self::Gzip(Box::new(MultiGzDecoder::new(Vec::new()))),
            "deflate" => Self::UnknownDeflate,
            "br" => Self::Brotli(Box::new(DecompressorWriter::new(Vec::new(), BROTLI_BUFFER))),
            "zstd" => {
                let mut decoder = ZstdDecoder::new(Vec::new())?;
                decoder.window_log_max(ZSTD_WINDOW)?;
                Self::Zstd(Box::new(decoder))
            }
            _ => return Ok(None),
        }))
    }

    /// Opens the next bytes, at most [`STEP`]. Returns their content.
    pub fn push(&mut self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        if let (Self::UnknownDeflate, Some(first)) = (&self, bytes.first()) {
            // RFC 1950, 2.2: the low bits of zlib's first byte are 8.
            *self = if first & 0x0f == 8 {
                Self::Zlib(Box::new(ZlibDecoder::new(Vec::new())))
            } else {
                Self::Deflate(Box::new(DeflateDecoder::new(Vec::new())))
            };
        }
        match self {
            Self::Gzip(decoder) => decoder.write_all(bytes)?,
            Self::Zlib(decoder) => decoder.write_all(bytes)?,
            Self::Deflate(decoder) => decoder.write_all(bytes)?,
            Self::Brotli(decoder) => decoder.write_all(bytes)?,
            Self::Zstd(decoder) => decoder.write_all(bytes)?,
            Self::UnknownDeflate => {}
        }
        Ok(self.taken())
    }

    /// Ends the body. Returns the rest of its content.
    pub fn finish(&mut self) -> io::Result<Vec<u8>> {
        match self {
            Self::Gzip(decoder) => decoder.try_finish()?,
            Self::Zlib(decoder) => decoder.try_finish()?,
            Self::Deflate(decoder) => decoder.try_finish()?,
            Self::Brotli(decoder) => decoder.close()?,
            Self::Zstd(decoder) => decoder.flush()?,
            Self::UnknownDeflate => {}
        }
        Ok(self.taken())
    }

    fn taken(&mut self) -> Vec<u8> {
        match self {
            Self::Gzip(decoder) => std::mem::take(decoder.get_mut()),
            Self::Zlib(decoder) => std::mem::take(decoder.get_mut()),
            Self::Deflate(decoder) => std::mem::take(decoder.get_mut()),
            Self::Brotli(decoder) => std::mem::take(decoder.get_mut()),
            Self::Zstd(decoder) => std::mem::take(decoder.get_mut()),
            Self::UnknownDeflate => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Opens a body that arrives in pieces.
    fn opened(coding: &str, body: &[u8], piece: usize) -> io::Result<Vec<u8>> {
        let mut decoder = BodyDecoder::of(coding)?.expect("it is known");
        let mut out = Vec::new();
        for bytes in body.chunks(piece) {
            out.extend(decoder.push(bytes)?);
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
            for piece in [1, 7, STEP] {
                assert!(opened(coding, &body, piece).expect(coding) == text, "{coding} in pieces of {piece}");
            }
        }
    }

    #[test]
    fn what_is_no_body_of_its_coding_is_an_error() {
        for coding in ["gzip", "deflate", "br", "zstd"] {
            assert!(opened(coding, &[0xff; 300], STEP).is_err(), "{coding}");
        }
        assert!(BodyDecoder::of("identity").expect("valid").is_none());
    }

    #[test]
    fn a_bomb_comes_out_in_small_pieces() {
        let bomb = zstd::encode_all(vec![0_u8; 64 << 20].as_slice(), 19).expect("encoded");
        let mut decoder = BodyDecoder::of("zstd").expect("valid").expect("known");
        let largest = bomb.chunks(STEP).map(|bytes| decoder.push(bytes).expect("valid").len()).max();
        assert!(largest.is_some_and(|largest| largest <= 32 << 20), "{largest:?}");
    }
}
