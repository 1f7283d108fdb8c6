//! The resolver of a world. It answers from the rules alone and asks no other resolver.

mod answer;
mod message;
mod tcp_stream;
mod unpaired_queries;

pub(super) use answer::WorldResolver;
#[cfg(test)]
pub(super) use message::build_query;
pub(super) use tcp_stream::DnsTcpStream;
pub(super) use unpaired_queries::UnpairedQueries;
