//! The resolver of a world. It answers from the rules alone and asks no other resolver.

mod answer;
mod message;
mod pairs;
mod stream;

pub(super) use answer::WorldResolver;
#[cfg(test)]
pub(super) use message::build_query;
pub(super) use pairs::UnpairedQueries;
pub(super) use stream::DnsTcpStream;
