//! Has the linker leave the symbols of Node to be found when the addon is loaded.

fn main() {
    napi_build::setup();
}
