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
    /// bcrypt, SHA-crypt and yescrypt: what takes long to try, and what the C libraries have.
    private static let prefixes = ["$2a$", "$2b$", "$2y$", "$5$", "$6$", "$y$"]
    /// The longest hash, with its zero (crypt(5)).
    private static let lengthBound = 384

    /// Why a hash can't be used; `nil` if it can.
    static func fault(of hash: String) -> String? {
        if hash.hasPrefix("$apr1$") {
            return "Apache's own MD5 (apr1), which crypt(3) doesn't have: make it anew by htpasswd -B"
        }
        if prefixes.contains(where: { hash.hasPrefix($0) }) && hash.utf8.count < lengthBound { return nil }
        return "neither bcrypt (htpasswd -B) nor SHA-crypt nor yescrypt"
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
