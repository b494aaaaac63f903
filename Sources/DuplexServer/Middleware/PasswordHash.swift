// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import CDuplexSystem
import DuplexSockets
import DuplexWire

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Hashes of passwords as crypt(3) makes them.
enum PasswordHash {
    /// The longest hash, with its zero (crypt(5)).
    private static let lengthBound = 384

    /// Why a hash can't be used; `nil` if it can.
    static func fault(of hash: String) -> String? {
        if hash.hasPrefix("$apr1$") {
            return "Apache's own MD5 (apr1), which crypt(3) doesn't have: make it anew by htpasswd -B"
        }
        guard let kind = HashKind.allCases.first(where: { hash.hasPrefix($0.rawValue) }) else {
            return "neither bcrypt (htpasswd -B) nor SHA-crypt nor yescrypt"
        }
        if hash.utf8.count < lengthBound && kind.isWhole(hash.utf8) { return nil }
        return "damaged: it is cut off, or something follows it: make it anew by htpasswd -B"
    }

    /// Says which kind of these hashes this machine's crypt(3) doesn't have; `nil` if it has all of them.
    ///
    /// It takes a millisecond for each kind.
    static func missingKind(of hashes: some Sequence<String>) -> String? {
        let kinds = Set(hashes.compactMap { hash in HashKind.allCases.first { hash.hasPrefix($0.rawValue) } })
        let missing = kinds.first { (try? isHash($0.cheapest, of: "")) == nil }
        return missing.map { "this machine's crypt(3) has no hashes that begin with \($0.rawValue)" }
    }

    /// Whether the hash is of that password; takes as long as whoever made it wanted, and blocks.
    ///
    /// - Throws: `SocketError` when this machine's crypt(3) doesn't have the kind.
    static func isHash(_ hash: String, of password: String) throws(SocketError) -> Bool {
        var computed = [CChar](repeating: 0, count: lengthBound)
        // Two strings that end with a zero, and a buffer of the given length; none is kept.
        let code = unsafe cduplex_crypt(password, hash, &computed, computed.count)
        // A password that is longer than it takes is nobody's.
        if code == ERANGE { return false }
        guard code == 0 else {
            throw SocketError(.system, message: "crypt(3) can't make a hash such as \(hash.prefix(4))….", errno: code)
        }
        let bytes = computed.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return ConstantTime.areSame(Array(hash.utf8), bytes)
    }
}
