// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Testing

@testable import DuplexServer

#if os(Linux)
@Suite("Hashes of passwords by crypt(3)")
struct PasswordHashTests {
    private static let hashes = PasswordEntriesTests.hashes

    @Test("One password is right and no other is", arguments: hashes)
    func checking(hash: String) throws {
        #expect(PasswordHash.fault(of: hash) == nil)
        #expect(try PasswordHash.isHash(hash, of: "secret ä"))
        for wrong in ["", "secret", "secret a", "secret ä ", "Secret ä", hash, String(repeating: "x", count: 600)] {
            #expect(try !PasswordHash.isHash(hash, of: wrong))
        }
        // What is cut short is no hash, or another.
        #expect((try? PasswordHash.isHash(String(hash.dropLast()), of: "secret ä")) != true)
    }

    @Test("A hash that is cut, goes on after its end, or has other characters can't be used", arguments: hashes)
    func damages(hash: String) {
        let blank = hash.dropLast() + " "
        let longer = hash + "a"
        for damaged in [
            String(hash.dropLast()), longer, hash + " # note", String(blank), hash.replacing("abc", with: "a b"),
        ]
        where damaged != hash {
            #expect(PasswordHash.fault(of: damaged) != nil, "\(damaged)")
        }
    }

    @Test("What can't be used is told")
    func faults() throws {
        #expect(PasswordHash.fault(of: "$apr1$a$b")?.contains("htpasswd -B") == true)
        let long = "$6$" + String(repeating: "a", count: 400)
        for hash in [
            "", "x", "$1$a$b", "{SHA}a", "rl.3StKT.4T8M", "$2x$10$", "*0", "$2y$10$abc", "$6$salt", "$5$", long,
        ] {
            #expect(PasswordHash.fault(of: hash) != nil, "\(hash)")
        }
        let error = #expect(throws: SocketError.self) { try PasswordHash.isHash("$2y$99$a", of: "x") }
        #expect(error?.message.contains("crypt(3)") == true)
    }
}
#endif
