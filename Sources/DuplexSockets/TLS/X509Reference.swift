// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

internal import CDuplexOpenSSL

#if canImport(Glibc)
import CDuplexSystem
import Glibc
#else
import Darwin
#endif

/// A certificate in the form of OpenSSL.
// `@unchecked`: the pointer isn't Sendable. A certificate that has been read isn't changed any more, and OpenSSL locks what
// it computes later (X509_up_ref(3), openssl-threads(7)).
@safe final class X509Reference: @unchecked Sendable {
    let pointer: OpaquePointer

    /// Takes over one reference.
    init(taking pointer: OpaquePointer) {
        unsafe self.pointer = unsafe pointer
    }

    /// Adds a reference of its own.
    convenience init(sharing pointer: OpaquePointer) {
        unsafe X509_up_ref(pointer)
        unsafe self.init(taking: pointer)
    }

    convenience init(der: [UInt8]) throws(SocketError) {
        let (certificate, rest) = unsafe der.withUnsafeBufferPointer { buffer -> (OpaquePointer?, Int) in
            var position = buffer.baseAddress
            let certificate = unsafe d2i_X509(nil, &position, buffer.count)
            let taken = unsafe position.flatMap { end in unsafe buffer.baseAddress.map { unsafe end - $0 } } ?? 0
            return unsafe (certificate, buffer.count - taken)
        }
        guard let certificate = unsafe certificate else {
            throw SocketError(.invalidCertificate, message: "\(der.count) bytes are not a certificate in DER.")
        }
        unsafe self.init(taking: certificate)
        if rest != 0 { throw SocketError(.invalidCertificate, message: "\(rest) bytes follow the certificate.") }
    }

    deinit {
        unsafe X509_free(pointer)
    }

    enum NameKind { case subject, issuer }
    enum TimeKind { case notBefore, notAfter }

    var der: [UInt8] {
        unsafe OpenSSLBytes.encoded { unsafe i2d_X509(pointer, $0) }
    }

    func name(_ kind: NameKind) -> String {
        let name = unsafe kind == .subject ? X509_get_subject_name(pointer) : X509_get_issuer_name(pointer)
        return unsafe OpenSSLBytes.text { bio in unsafe cduplex_print_name(bio, name) }
    }

    var alternativeNames: [String] {
        guard let names = unsafe cduplex_alternative_names(pointer) else { return [] }
        defer { unsafe cduplex_names_free(names) }
        var result: [String] = []
        for index in 0..<(unsafe cduplex_name_count(names)) {
            var (kind, length) = (Int32(0), Int32(0))
            guard let start = unsafe cduplex_name_at(names, index, &kind, &length) else { continue }
            let bytes = unsafe Array(UnsafeBufferPointer(start: start, count: Int(length)))
            if kind == GEN_DNS {
                result.append(String(decoding: bytes, as: UTF8.self))
            } else if bytes.count == 4 || bytes.count == 16 {
                result.append(SocketAddress(ip: bytes, port: 0).host)
            }
        }
        return result
    }

    func time(_ kind: TimeKind) -> UnixTime {
        let time = unsafe kind == .notBefore ? X509_get0_notBefore(pointer) : X509_get0_notAfter(pointer)
        var fields = unsafe tm()
        guard unsafe ASN1_TIME_to_tm(time, &fields) == 1 else { return UnixTime(seconds: 0) }
        let (year, month, day) = unsafe (fields.tm_year, fields.tm_mon, fields.tm_mday)
        let days = CivilDate(year: Int64(year) + 1_900, month: Int64(month) + 1, day: Int64(day)).daysSince1970
        let (hour, minute, second) = unsafe (fields.tm_hour, fields.tm_min, fields.tm_sec)
        return UnixTime(seconds: days * 86_400 + Int64(hour) * 3_600 + Int64(minute) * 60 + Int64(second))
    }

    var key: (type: String, bits: Int) {
        guard let key = unsafe X509_get0_pubkey(pointer) else { return ("unknown", 0) }
        let name = unsafe OBJ_nid2sn(EVP_PKEY_get_base_id(key)).map { unsafe String(cString: $0) }
        return (name ?? "unknown", Int(unsafe EVP_PKEY_get_bits(key)))
    }

    var pin: String {
        let key = unsafe OpenSSLBytes.encoded { unsafe i2d_X509_PUBKEY(X509_get_X509_PUBKEY(pointer), $0) }
        return "sha256/" + OpenSSLBytes.base64(OpenSSLBytes.sha256(key))
    }

    var fingerprint: String {
        Base16.encode(OpenSSLBytes.sha256(der))
    }

    var pem: String {
        unsafe OpenSSLBytes.text { bio in _ = unsafe PEM_write_bio_X509(bio, pointer) }
    }

    /// Whether it names itself as its issuer.
    var isSelfIssued: Bool {
        unsafe X509_NAME_cmp(X509_get_subject_name(pointer), X509_get_issuer_name(pointer)) == 0
    }
}

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
