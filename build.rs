//! Lets the linker leave Node's symbols to be found when the addon is loaded.

fn main() {
    napi_build::setup();
}
