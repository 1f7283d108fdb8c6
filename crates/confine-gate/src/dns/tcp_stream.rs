//! Queries over a connection, each after its length.

use std::io::{self, Read, Write};
use std::net::TcpStream;

use sys::PollInterest;

/// The most bytes of answers that are kept for a program that does not read them. Beyond that, the program's queries
/// are not read.
const MOST: usize = 64 * 1024;

/// A connection to the resolver.
#[derive(Debug)]
pub(crate) struct DnsTcpStream {
    socket: TcpStream,
    input: Vec<u8>,
    output: Vec<u8>,
    ended: bool,
}

impl DnsTcpStream {
    /// Begins a connection.
    pub fn new(socket: TcpStream) -> Self {
        Self { socket, input: Vec::new(), output: Vec::new(), ended: false }
    }

    /// Returns the socket.
    pub fn socket(&self) -> &TcpStream {
        &self.socket
    }

    /// Returns the number of bytes that are kept.
    pub fn kept_bytes(&self) -> usize {
        self.input.len() + self.output.len()
    }

    /// Returns the events to report about the socket.
    pub fn interest(&self) -> PollInterest {
        PollInterest { readable: !self.ended && self.output.len() < MOST, writable: !self.output.is_empty() }
    }

    /// Reads the queries that have arrived.
    pub fn read(&mut self, buffer: &mut [u8], queries: &mut Vec<Vec<u8>>) -> io::Result<()> {
        if self.interest().readable {
            match self.socket.read(buffer) {
                Ok(0) => self.ended = true,
                Ok(count) => self.input.extend_from_slice(&buffer[..count]),
                Err(error) if is_later(&error) => {}
                Err(error) => return Err(error),
            }
        }
        let mut read = 0;
        while let Some(query) = first_query(&self.input[read..]) {
            queries.push(query.to_vec());
            read += query.len() + 2;
        }
        self.input.drain(..read);
        Ok(())
    }

    /// Sends the answers in their order. Returns whether the connection goes on.
    pub fn answer(&mut self, answers: Vec<Vec<u8>>) -> io::Result<bool> {
        for answer in answers {
            self.output.extend((answer.len() as u16).to_be_bytes());
            self.output.extend(answer);
        }
        if !self.output.is_empty() {
            match self.socket.write(&self.output) {
                Ok(count) => drop(self.output.drain(..count)),
                Err(error) if is_later(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(!self.ended || !self.output.is_empty())
    }
}

fn is_later(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

/// Returns the first query, if it is whole.
fn first_query(input: &[u8]) -> Option<&[u8]> {
    let length = usize::from(u16::from_be_bytes(*input.first_chunk::<2>()?));
    input.get(2..2 + length)
}
