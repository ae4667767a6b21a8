// SPDX-License-Identifier: LGPL-2.1-or-later
// Links libperfctr from the directory PERFCTR_LIBDIR, or if that is not set from the linker's path.
fn main() {
    println!("cargo:rerun-if-env-changed=PERFCTR_LIBDIR");
    println!("cargo:rerun-if-env-changed=PERFCTR_STATIC");
    if let Ok(dir) = std::env::var("PERFCTR_LIBDIR") {
        println!("cargo:rustc-link-search=native={dir}");
    }
    let kind = if std::env::var_os("PERFCTR_STATIC").is_some() {
        "static"
    } else {
        "dylib"
    };
    println!("cargo:rustc-link-lib={kind}=perfctr");
}
