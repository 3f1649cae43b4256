//! Everything that touches the kernel or clang: building, loading, attaching, maps, namespaces, probes.
