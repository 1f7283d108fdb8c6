//! Functions of the C library, as a static program has them.

use std::ffi::{CStr, c_char, c_int};
use std::fs;
use std::mem::MaybeUninit;
use std::net::{IpAddr, SocketAddr};
use std::{ptr, slice};

use libc::{addrinfo, passwd, sockaddr, sockaddr_in, sockaddr_in6, sockaddr_storage, socklen_t};

use super::lookup::{NoAddress, addresses};
use super::users::passwd_entry;

/// Finds a user by number.
///
/// # Safety
/// As for the function of the C library: `entry` and `result` can be written to, and `buffer` up to its length.
// SAFETY: it replaces the function of this name, and keeps its contract.
#[unsafe(no_mangle)]
unsafe extern "C" fn getpwuid_r(
    uid: libc::uid_t,
    entry: *mut passwd,
    buffer: *mut c_char,
    length: usize,
    result: *mut *mut passwd,
) -> c_int {
    // SAFETY: the caller lets us write there.
    unsafe { result.write(ptr::null_mut()) };
    let text = fs::read(PASSWD).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let Some(found) = passwd_entry(&text, uid) else { return 0 };
    // SAFETY: the caller lets us write there.
    let mut rest = unsafe { slice::from_raw_parts_mut(buffer.cast::<MaybeUninit<u8>>(), length) };
    let mut places = [ptr::null_mut(); 5];
    for (text, place) in found.texts.iter().zip(&mut places) {
        let Some((own, after)) = rest.split_at_mut_checked(text.len() + 1) else { return libc::ERANGE };
        *place = own.as_mut_ptr().cast();
        for (to, byte) in own.iter_mut().zip(text.bytes().chain([0])) {
            to.write(byte);
        }
        rest = after;
    }
    let [pw_name, pw_passwd, pw_gecos, pw_dir, pw_shell] = places;
    let (pw_uid, pw_gid) = (found.uid, found.gid);
    // SAFETY: the caller lets us write there.
    unsafe { entry.write(passwd { pw_name, pw_passwd, pw_uid, pw_gid, pw_gecos, pw_dir, pw_shell }) };
    // SAFETY: the caller lets us write there.
    unsafe { result.write(entry) };
    0
}

/// The user database.
const PASSWD: &str = "/etc/passwd";

/// An address in the list that the caller gets. The list points into it.
#[repr(C)]
struct AddressListEntry {
    info: addrinfo,
    address: sockaddr_storage,
}

/// Finds the addresses of a name, for streams. A service is a number, or there is none.
///
/// # Safety
/// As for the function of the C library: texts end with NUL, `hints` is null or can be read, `list` can be written to.
// SAFETY: it replaces the function of this name, and keeps its contract for what this program asks.
#[unsafe(no_mangle)]
unsafe extern "C" fn getaddrinfo(
    name: *const c_char,
    service: *const c_char,
    hints: *const addrinfo,
    list: *mut *mut addrinfo,
) -> c_int {
    // SAFETY: a text of the caller.
    let text = |text: *const c_char| (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_str());
    let Some(Ok(name)) = text(name) else { return libc::EAI_NONAME };
    let port = match text(service).map(|service| service.unwrap_or_default().parse()) {
        None => 0,
        Some(Ok(port)) => port,
        Some(Err(_)) => return libc::EAI_SERVICE,
    };
    // SAFETY: the caller's hints, if there are any.
    let hints = unsafe { hints.as_ref() };
    let (family, kind) = hints.map_or((libc::AF_UNSPEC, 0), |hints| (hints.ai_family, hints.ai_socktype));
    let found = match addresses(name) {
        Ok(found) => found,
        Err(NoAddress::Name) => return libc::EAI_NONAME,
        Err(NoAddress::Server) => return libc::EAI_AGAIN,
    };
    let mut next = ptr::null_mut();
    for address in found.into_iter().rev() {
        let own = if address.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 };
        if family == libc::AF_UNSPEC || family == own {
            next = listed(own, kind, SocketAddr::new(address, port), next);
        }
    }
    if next.is_null() {
        return libc::EAI_NONAME;
    }
    // SAFETY: the caller lets us write there.
    unsafe { list.write(next) };
    0
}

/// Returns an entry of the list, before `next`.
fn listed(family: c_int, kind: c_int, address: SocketAddr, next: *mut addrinfo) -> *mut addrinfo {
    // SAFETY: all zeros are an address without a family.
    let place: sockaddr_storage = unsafe { std::mem::zeroed() };
    // SAFETY: all zeros are an entry without an address.
    let info: addrinfo = unsafe { std::mem::zeroed() };
    let entry = Box::leak(Box::new(AddressListEntry { info, address: place }));
    let at = ptr::from_mut(&mut entry.address);
    let length = match address.ip() {
        IpAddr::V4(ip) => {
            // SAFETY: room for an address of any family, of which this is the kind that its family says.
            let four = unsafe { &mut *at.cast::<sockaddr_in>() };
            four.sin_family = libc::AF_INET as libc::sa_family_t;
            four.sin_port = address.port().to_be();
            four.sin_addr.s_addr = u32::from_ne_bytes(ip.octets());
            size_of::<sockaddr_in>()
        }
        IpAddr::V6(ip) => {
            // SAFETY: as above.
            let six = unsafe { &mut *at.cast::<sockaddr_in6>() };
            six.sin6_family = libc::AF_INET6 as libc::sa_family_t;
            six.sin6_port = address.port().to_be();
            six.sin6_addr.s6_addr = ip.octets();
            size_of::<sockaddr_in6>()
        }
    };
    entry.info.ai_family = family;
    entry.info.ai_socktype = kind;
    entry.info.ai_addrlen = length as socklen_t;
    entry.info.ai_addr = at.cast::<sockaddr>();
    entry.info.ai_next = next;
    ptr::from_mut(entry).cast()
}

/// Frees a list of addresses.
///
/// # Safety
/// `list` is what [`getaddrinfo`] has given, and is not used again.
// SAFETY: it replaces the function of this name, and keeps its contract.
#[unsafe(no_mangle)]
unsafe extern "C" fn freeaddrinfo(mut list: *mut addrinfo) {
    while !list.is_null() {
        // SAFETY: each entry is the beginning of what was boxed above.
        let entry = unsafe { Box::from_raw(list.cast::<AddressListEntry>()) };
        list = entry.info.ai_next;
    }
}

#[cfg(test)]
mod tests {
    use std::net::ToSocketAddrs;

    #[test]
    fn a_static_program_finds_users_and_names_by_itself() {
        let own = nix::unistd::getuid();
        let user = nix::unistd::User::from_uid(own).expect("read").expect("an entry");
        assert_eq!((user.uid, user.dir.to_str()), (own, crate::home().as_deref()));
        let other = nix::unistd::User::from_uid(nix::unistd::Uid::from_raw(4_000_000_000));
        assert_eq!(other.expect("read"), None);
        let found: Vec<_> = ("localhost", 7).to_socket_addrs().expect("known").collect();
        assert!(!found.is_empty() && found.iter().all(|place| place.ip().is_loopback() && place.port() == 7));
        assert!(("no such name", 7).to_socket_addrs().is_err());
    }
}
