// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Testing

@testable import DuplexServer

#if os(Linux)
@Suite("Hashes of passwords by crypt(3)")
struct PasswordHashTests {
    /// Of “secret ä”, made by openssl passwd and by crypt(3) itself.
    static let hashes = [
        "$2y$04$abcdefghijklmnopqrstuurydDy6ajAR/b4uUYXRl/HDpX6JrEDzC",
        "$5$saltsalt$OaWrK4nmhlHO8SCAHqi9g.e0kcKiZNwbxYhWI.cXR3B",
        "$5$rounds=1000$abc$3s9Oe5be0w.2.K7bkqWaKxBJu11RayEBLxv0FWuv7u5",
        "$6$saltsalt$bF1CGxXrXd8t3M5P5A4BftQgLa5/4Gb7KGxv.tqILmZo0ZJ/DUCqnXITceKwyk1NCcmbGhbHuW4U8Tm9PrsxK0",
        "$y$j75$abcdefgh$gnht3Fuf8dNcnXgqnst8.SWMVFBrxjyf7GiiaX.21K5",
    ]

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

    @Test("What can't be used is told")
    func faults() throws {
        #expect(PasswordHash.fault(of: "$2y$10$abc") == nil)
        #expect(PasswordHash.fault(of: "$apr1$a$b")?.contains("htpasswd -B") == true)
        let long = "$6$" + String(repeating: "a", count: 400)
        for hash in ["", "x", "$1$a$b", "{SHA}a", "rl.3StKT.4T8M", "$2x$10$", "*0", long] {
            #expect(PasswordHash.fault(of: hash) != nil, "\(hash)")
        }
        let error = #expect(throws: SocketError.self) { try PasswordHash.isHash("$2y$99$a", of: "x") }
        #expect(error?.message.contains("crypt(3)") == true)
    }
}
#endif
