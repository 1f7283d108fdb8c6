use proptest::prelude::*;

use super::*;

fn parsed(text: &str) -> Result<AllowEntry, PolicyFault> {
    text.parse()
}

#[test]
fn entries_are_names_domains_addresses_and_networks() {
    let name = |name: &str| AllowHost::Name(name.into());
    let below = |domain: &str| AllowHost::Below(domain.into());
    let net = |address: &str, prefix| AllowHost::Net(address.parse().expect("an address"), prefix);
    for (text, host, port) in [
        ("registry.npmjs.org", name("registry.npmjs.org"), None),
        ("Registry.NPMjs.org.", name("registry.npmjs.org"), None),
        ("db", name("db"), None),
        ("_srv.a-b.example:8443", name("_srv.a-b.example"), Some(8443)),
        ("xn--bcher-kva.example", name("xn--bcher-kva.example"), None),
        ("7zip.org:80", name("7zip.org"), Some(80)),
        ("*.example.org", below("example.org"), None),
        ("*.Example.org:22", below("example.org"), Some(22)),
        ("10.1.2.3", net("10.1.2.3", 32), None),
        ("10.1.2.3:5432", net("10.1.2.3", 32), Some(5432)),
        ("10.0.0.0/8", net("10.0.0.0", 8), None),
        ("10.0.0.0/8:65535", net("10.0.0.0", 8), Some(65_535)),
        ("0.0.0.0/0", net("0.0.0.0", 0), None),
        ("::1", net("::1", 128), None),
        ("2001:db8::1", net("2001:db8::1", 128), None),
        ("[2001:db8::1]", net("2001:db8::1", 128), None),
        ("[2001:db8::1]:443", net("2001:db8::1", 128), Some(443)),
        ("2001:db8::/32", net("2001:db8::", 32), None),
        ("[2001:db8::/32]:443", net("2001:db8::", 32), Some(443)),
        ("::/0", net("::", 0), None),
        ("::ffff:10.0.0.1", net("10.0.0.1", 32), None),
        ("::ffff:10.0.0.0/104", net("10.0.0.0", 8), None),
    ] {
        assert_eq!(parsed(text), Ok(AllowEntry { host, port }), "{text}");
    }
}

#[test]
fn what_is_no_entry_has_a_reason() {
    for (text, fault) in [
        ("", PolicyFault::Empty),
        ("https://example.org", PolicyFault::Url),
        ("*", PolicyFault::Everything),
        ("*:443", PolicyFault::Everything),
        ("*.", PolicyFault::NoHost),
        ("*example.org", PolicyFault::NoHost),
        ("a.*.org", PolicyFault::NoHost),
        ("example.org/path", PolicyFault::NoHost),
        ("exa mple.org", PolicyFault::NoHost),
        ("-a.org", PolicyFault::NoHost),
        ("a-.org", PolicyFault::NoHost),
        ("a..org", PolicyFault::NoHost),
        (".org", PolicyFault::NoHost),
        (".", PolicyFault::NoHost),
        ("user@example.org", PolicyFault::NoHost),
        ("a\0b", PolicyFault::NoHost),
        ("bücher.example", PolicyFault::NotAscii),
        // Programs read these as addresses.
        ("127.1", PolicyFault::NoHost),
        ("1.2.3.4.5", PolicyFault::NoHost),
        ("256.1.1.1", PolicyFault::NoHost),
        ("2130706433", PolicyFault::NoHost),
        ("0x7f.1", PolicyFault::NoHost),
        ("0x7f000001", PolicyFault::NoHost),
        ("010.0.0.1", PolicyFault::NoHost),
        ("example.org:", PolicyFault::Port),
        ("example.org:0", PolicyFault::Port),
        ("example.org:65536", PolicyFault::Port),
        ("example.org:https", PolicyFault::Port),
        ("example.org:+80", PolicyFault::Port),
        ("example.org:-1", PolicyFault::Port),
        ("example.org:*", PolicyFault::Port),
        ("[::1]:0", PolicyFault::Port),
        ("[::1", PolicyFault::NoHost),
        ("[::1]80", PolicyFault::NoHost),
        ("[10.0.0.1]:80", PolicyFault::NoHost),
        ("[example.org]:80", PolicyFault::NoHost),
        ("fe80::1%eth0", PolicyFault::NoHost),
        ("10.0.0.0/33", PolicyFault::Prefix(32)),
        ("10.0.0.0/", PolicyFault::Prefix(32)),
        ("10.0.0.0/+8", PolicyFault::Prefix(32)),
        ("2001:db8::/129", PolicyFault::Prefix(128)),
        ("10.0.0.5/8", PolicyFault::HostBits("10.0.0.0/8".into())),
        ("2001:db8::1/32", PolicyFault::HostBits("2001:db8::/32".into())),
    ] {
        assert_eq!(parsed(text), Err(fault), "{text:?}");
    }
    assert_eq!(parsed(&format!("{}.org", "a".repeat(64))), Err(PolicyFault::NoHost));
    assert!(parsed(&format!("{}.org", "a".repeat(63))).is_ok());
    let long = vec!["a".repeat(49); 5].join(".");
    assert!(long.len() == 249 && parsed(&format!("{long}.org")).is_ok());
    assert_eq!(parsed(&format!("{long}.info")), Err(PolicyFault::NoHost));
}

#[test]
fn a_domain_has_the_names_below_it_and_not_itself() {
    let below = parsed("*.example.org").expect("valid").host;
    for (name, has) in
        [("a.example.org", true), ("a.b.example.org", true), ("example.org", false), ("badexample.org", false)]
    {
        assert_eq!(below.has_name(name), has, "{name}");
    }
    assert!(!below.has_name(".example.org"));
    let one = parsed("example.org").expect("valid").host;
    assert!(one.has_name("example.org") && !one.has_name("a.example.org"));
}

#[test]
fn names_are_mapped_to_addresses_that_can_be_connected_to() {
    for text in ["127.0.0.1", "10.0.0.1", "::1", "fd00::1"] {
        assert_eq!(address_of(text), Ok(text.parse().expect("an address")));
    }
    for text in ["", "localhost", "10.0.0", "0.0.0.0", "::", "224.0.0.1", "ff02::1", "255.255.255.255", "10.0.0.1:80"] {
        assert_eq!(address_of(text), Err(PolicyFault::NoAddress), "{text}");
    }
}

fn a_name() -> impl Strategy<Value = String> {
    prop::collection::vec("[a-z0-9_]([a-z0-9_-]{0,10}[a-z0-9_])?", 0..4)
        .prop_flat_map(|labels| {
            "[a-z_]([a-z0-9-]{0,5}[a-z])?".prop_map(move |last| [labels.clone(), vec![last]].concat())
        })
        .prop_map(|labels| labels.join("."))
}

fn a_host() -> impl Strategy<Value = AllowHost> {
    let v4 = (any::<u32>(), 0..=32_u8).prop_map(|(bits, prefix)| (IpAddr::V4(bits.into()), prefix));
    // Not the part of IPv6 that is IPv4.
    let v6 = (any::<u128>(), 0..=128_u8).prop_map(|(bits, prefix)| (IpAddr::V6((bits | 1 << 127).into()), prefix));
    let net = prop_oneof![v4, v6].prop_map(|(address, prefix)| AllowHost::Net(masked_address(address, prefix), prefix));
    prop_oneof![a_name().prop_map(AllowHost::Name), a_name().prop_map(AllowHost::Below), net]
}

proptest! {
    #[test]
    fn an_entry_is_read_as_it_is_written(host in a_host(), port in prop::option::of(1..=u16::MAX)) {
        let entry = AllowEntry { host, port };
        prop_assert_eq!(parsed(&entry.to_string()), Ok(entry));
    }

    #[test]
    fn case_and_a_final_dot_make_no_difference(name in a_name()) {
        let other = format!("{}.", name.to_ascii_uppercase());
        prop_assert_eq!(parsed(&other), parsed(&name));
    }

    #[test]
    fn any_text_is_an_entry_or_has_a_reason(text in ".{0,40}|[0-9a-f:./*\\[\\]x]{0,24}") {
        if let Ok(entry) = parsed(&text) {
            prop_assert_eq!(parsed(&entry.to_string()), Ok(entry.clone()), "{} is {}", text, entry);
            prop_assert!(entry.port != Some(0));
        }
    }

    #[test]
    fn a_network_is_what_its_addresses_share(a in any::<u32>(), b in any::<u32>(), prefix in 0..=32_u8) {
        let network = |bits: u32| masked_address(IpAddr::V4(bits.into()), prefix);
        let same = u32::BITS - (a ^ b).leading_zeros() <= 32 - u32::from(prefix);
        prop_assert_eq!(network(a) == network(b), same);
    }
}
