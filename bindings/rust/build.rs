// SPDX-License-Identifier: LGPL-2.1-or-later
// Links libperfctr: from PERFCTR_LIBDIR if that is set, else from where the linker looks.
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
