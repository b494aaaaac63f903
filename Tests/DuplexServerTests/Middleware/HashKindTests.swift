// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexServer

@Suite("Kinds of hashes of passwords")
struct HashKindTests {
    private static let salt = String(repeating: "a", count: 22)
    private static let hash = String(repeating: "b", count: 31)

    @Test("A hash of bcrypt has a cost, a salt and 31 characters")
    func bcrypt() {
        let kind = HashKind.bcryptY
        for cost in ["04", "12", "31"] { #expect(kind.isWhole("$2y$\(cost)$\(Self.salt)\(Self.hash)".utf8)) }
        for cost in ["", "4", "03", "32", "+5", "1x", "012"] {
            #expect(!kind.isWhole("$2y$\(cost)$\(Self.salt)\(Self.hash)".utf8), "\(cost)")
        }
        for rest in ["", "x", "$", "-\(Self.salt)\(Self.hash.dropFirst())", "\(Self.salt)\(Self.hash)$"] {
            #expect(!kind.isWhole("$2y$10$\(rest)".utf8), "\(rest)")
        }
    }

    @Test("A hash of SHA-crypt has a salt of 16 characters at most, perhaps rounds, and its own length")
    func shaCrypt() {
        let hash = String(repeating: "b", count: 43)
        for rest in [
            "$\(hash)", "salt-_,$\(hash)", "rounds=1000$s$\(hash)", "rounds=999999999$$\(hash)", "rounds=5$\(hash)",
        ] {
            #expect(HashKind.sha256.isWhole("$5$\(rest)".utf8), "\(rest)")
            #expect(!HashKind.sha512.isWhole("$6$\(rest)".utf8), "\(rest)")
            #expect(HashKind.sha512.isWhole("$6$\(rest)\(hash)".utf8), "\(rest)")
        }
        for rest in [
            hash, "rounds=999$s$\(hash)", "rounds=01000$s$\(hash)", "rounds=x000$s$\(hash)", "a$b$\(hash)",
            "a b$\(hash)",
            "12345678901234567$\(hash)", "s$\(hash)$", "s$\(hash) ", "s*$\(hash)", "é$\(hash)",
        ] {
            #expect(!HashKind.sha256.isWhole("$5$\(rest)".utf8), "\(rest)")
        }
    }

    @Test("A hash of yescrypt has parameters, a salt and 43 characters")
    func yescrypt() {
        let hash = String(repeating: "b", count: 43)
        for rest in ["j75$$\(hash)", "j9T$salt./$\(hash)"] { #expect(HashKind.yescrypt.isWhole("$y$\(rest)".utf8)) }
        for rest in ["", "j75$\(hash)", "$s$\(hash)", "j75$s$\(hash)$", "j75$s$\(hash)b", "j75$s,$\(hash)"] {
            #expect(!HashKind.yescrypt.isWhole("$y$\(rest)".utf8), "\(rest)")
        }
    }

    #if os(Linux)
    @Test("This machine's crypt(3) has every kind", arguments: HashKind.allCases)
    func kinds(kind: HashKind) throws {
        #expect(try !PasswordHash.isHash(kind.cheapest, of: ""))
        #expect(PasswordHash.missingKind(of: [kind.cheapest]) == nil)
    }
    #endif
}
