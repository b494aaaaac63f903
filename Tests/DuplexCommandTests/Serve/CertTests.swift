// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestTimes
import Foundation
import Testing

@testable import DuplexCommand

@Suite("duplex cert", .timeLimit(minutes: 1))
struct CertTests {
    @Test("Makes a certificate for localhost and a key that is its owner's alone")
    func defaults() async throws {
        try await withCertificate { folder in
            let identity = try TLSIdentity.pem(certificatesAt: folder + "cert.pem", keyAt: folder + "key.pem")
            #expect(identity.certificates[0].names == ["localhost", "127.0.0.1", "::1"])
            let attributes = try FileManager.default.attributesOfItem(atPath: folder + "key.pem")
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
    }

    @Test("Names and days can be given, and files that are there are left unless --force is given")
    func options() async throws {
        try await withTemporaryFolder { folder in
            let arguments = [
                "cert", "a.test", "192.0.2.1", "--days", "3", "--cert", folder + "c", "--key", folder + "k",
            ]
            #expect(try await RunningCommand.run(arguments).status == 0)
            let first = try TLSCertificate.pem(at: folder + "c")[0]
            #expect(first.names == ["a.test", "192.0.2.1"])
            #expect(first.notAfter.seconds - first.notBefore.seconds == 3 * 86_400 + 3_600)
            let again = try await RunningCommand.run(arguments)
            #expect(again.status == 1 && again.errors.contains("is there already; --force replaces it"))
            #expect(try await RunningCommand.run(arguments + ["--force"]).status == 0)
            #expect(try TLSCertificate.pem(at: folder + "c")[0].pin != first.pin)
        }
    }

    @Test("What can't be a name is refused")
    func badName() async throws {
        try await withTemporaryFolder { folder in
            let arguments = ["cert", "two words", "--cert", folder + "c", "--key", folder + "k"]
            let result = try await RunningCommand.run(arguments)
            #expect(result.status == 1 && result.errors.contains("can't be the name of a host"))
        }
    }
}
