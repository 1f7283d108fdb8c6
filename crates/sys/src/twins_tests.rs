//! Compares the twins: what `linux` and `macos` both have looks the same to the rest of the crates, and is documented.
//!
//! What only one of them has is used on its system alone, which the compiler proves when it checks both targets.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use quote::ToTokens;
use syn::{Attribute, FnArg, ImplItem, Item, Pat, Signature, Type, Visibility};

/// What callers can see of an item, and where it is.
struct TwinItem {
    signature: String,
    is_documented: bool,
    file: String,
}

/// The items of one system by their names, methods by `Type::name`.
type TwinItems = BTreeMap<String, Vec<TwinItem>>;

#[test]
fn both_systems_have_the_same_signatures_and_documentation() {
    let (linux, macos) = (items_of("linux"), items_of("macos"));
    let shared: Vec<&String> = linux.keys().filter(|name| macos.contains_key(*name)).collect();
    assert!(shared.len() > 200, "only {} twins were found", shared.len());
    let mut wrong = Vec::new();
    for name in shared {
        let [on_linux, on_macos] = [&linux, &macos].map(|items| &items[name]);
        for one in on_linux.iter().chain(on_macos).filter(|one| !one.is_documented) {
            wrong.push(format!("{name} has no documentation in {}", one.file));
        }
        let seen = |items: &[TwinItem]| items.iter().map(|one| one.signature.clone()).collect::<Vec<_>>();
        if seen(on_linux) != seen(on_macos) {
            wrong.push(format!("{name} differs:\n  {:?}\n  {:?}", seen(on_linux), seen(on_macos)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The exports and their types are the same on all systems, because no line of the addon depends on one.
#[test]
fn the_addon_names_no_system() {
    for file in sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../src")) {
        let text = fs::read_to_string(&file).expect("a source");
        assert!(!text.contains("target_os") && !text.contains("cfg(unix"), "{}", file.display());
    }
}

/// Returns the sources below a directory.
fn sources(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).expect("a directory").map(|entry| entry.expect("an entry").path());
    let mut found: Vec<PathBuf> =
        entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect();
    found.retain(|path| path.extension().is_some_and(|extension| extension == "rs"));
    found
}

/// Returns the items of a system that other modules can use.
fn items_of(system: &str) -> TwinItems {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(system);
    let mut found = TwinItems::new();
    for file in sources(&directory) {
        let parsed = syn::parse_file(&fs::read_to_string(&file).expect("a source")).expect("Rust");
        let name = file.strip_prefix(&directory).expect("below").display().to_string();
        let file = format!("{system}/{name}");
        let mut add = |name: String, signature: String, attributes: &[Attribute]| {
            let is_documented = attributes.iter().any(|attribute| attribute.path().is_ident("doc"));
            found.entry(name).or_default().push(TwinItem { signature, is_documented, file: file.clone() });
        };
        for item in &parsed.items {
            match item {
                Item::Fn(it) if is_visible(&it.vis) => {
                    add(it.sig.ident.to_string(), seen_of_function(&it.sig), &it.attrs)
                }
                Item::Const(it) if is_visible(&it.vis) => add(it.ident.to_string(), plain(&it.ty), &it.attrs),
                Item::Static(it) if is_visible(&it.vis) => add(it.ident.to_string(), plain(&it.ty), &it.attrs),
                // It may stand for a type of the system, as a struct may have fields of the system.
                Item::Type(it) if is_visible(&it.vis) => add(it.ident.to_string(), plain(&it.generics), &it.attrs),
                Item::Struct(it) if is_visible(&it.vis) => {
                    let fields = it.fields.iter().filter(|field| is_visible(&field.vis));
                    let seen = fields.map(|field| plain(&field.ident) + ": " + &plain(&field.ty)).collect::<Vec<_>>();
                    add(it.ident.to_string(), plain(&it.generics) + &seen.join(", "), &it.attrs);
                }
                // An enum without variants stands for a struct that is never made.
                Item::Enum(it) if is_visible(&it.vis) => {
                    let mut variants = it.variants.clone();
                    variants.iter_mut().for_each(|variant| variant.attrs.clear());
                    add(it.ident.to_string(), plain(&it.generics) + &plain(&variants), &it.attrs);
                }
                Item::Impl(it) if it.trait_.is_none() => {
                    let Type::Path(of) = &*it.self_ty else { continue };
                    let of = &of.path.segments.last().expect("a name").ident;
                    for item in &it.items {
                        if let ImplItem::Fn(method) = item
                            && is_visible(&method.vis)
                        {
                            add(format!("{of}::{}", method.sig.ident), seen_of_function(&method.sig), &method.attrs);
                        }
                    }
                }
                _ => {}
            }
        }
    }
    found
}

/// Returns whether other modules can use an item.
fn is_visible(visibility: &Visibility) -> bool {
    !matches!(visibility, Visibility::Inherited)
}

/// Returns a signature without the names of its arguments.
fn seen_of_function(signature: &Signature) -> String {
    let mut signature = signature.clone();
    signature.inputs.pop_punct();
    for argument in &mut signature.inputs {
        if let FnArg::Typed(argument) = argument {
            *argument.pat = Pat::Verbatim(quote::quote!(_));
        }
    }
    plain(&signature)
}

/// Returns the tokens of a piece of code, with paths that do not depend on their module.
fn plain(code: &impl ToTokens) -> String {
    ["crate :: ", "super :: ", "std :: "]
        .iter()
        .fold(code.to_token_stream().to_string(), |text, head| text.replace(head, ""))
}
