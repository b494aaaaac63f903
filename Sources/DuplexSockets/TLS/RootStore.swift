// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

internal import CDuplexOpenSSL

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Certificates that peers' certificates have to lead to, in the form of OpenSSL.
// `@unchecked`: the pointer isn't Sendable. OpenSSL locks a store, which connections of all loops share
// (X509_STORE_new(3), openssl-threads(7)).
@safe final class RootStore: @unchecked Sendable {
    let pointer: OpaquePointer
    /// The number of certificates at the beginning; those of folders are read when they are needed.
    let count: Int

    private init(taking pointer: OpaquePointer) {
        unsafe self.pointer = unsafe pointer
        count = Int(unsafe cduplex_store_count(pointer))
    }

    /// Reads the roots of the system, which may take 200 ms.
    static func system() throws(SocketError) -> RootStore {
        OpenSSLErrors.clear()
        let store = unsafe X509_STORE_new()
        guard let store = unsafe store, unsafe X509_STORE_set_default_paths(store) == 1 else {
            unsafe X509_STORE_free(store)
            throw SocketError(.tls, message: "The system's roots can't be found: \(OpenSSLErrors.take()).")
        }
        OpenSSLErrors.clear()
        return unsafe RootStore(taking: store)
    }

    /// A store with the certificates of this one, and with others.
    func adding(_ certificates: [X509Reference]) throws(SocketError) -> RootStore {
        if certificates.isEmpty { return self }
        OpenSSLErrors.clear()
        guard let copy = unsafe cduplex_store_copy(pointer) else {
            throw SocketError(.tls, message: "The system's roots can't be shared: \(OpenSSLErrors.take()).")
        }
        for certificate in certificates { _ = unsafe X509_STORE_add_cert(copy, certificate.pointer) }
        OpenSSLErrors.clear()
        return unsafe RootStore(taking: copy)
    }

    deinit {
        unsafe X509_STORE_free(pointer)
    }
}
