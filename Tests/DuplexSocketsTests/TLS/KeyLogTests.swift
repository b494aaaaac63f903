// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Foundation
import Testing

@testable import DuplexSockets

@Suite struct KeyLogTests {
    @Test("Each side's file gets the same keys, and is for its owner alone", arguments: [TLSVersion.tls12, .tls13])
    func keys(version: TLSVersion) throws {
        let paths = (0..<2).map { _ in NSTemporaryDirectory() + "duplex-keys-" + UUID().uuidString }
        defer { for path in paths { try? FileManager.default.removeItem(atPath: path) } }
        let pair = try EnginePair(
            TestCertificates.clientOptions {
                $0.versions = version...version
                $0.keyLogFile = paths[0]
            },
            TestCertificates.serverOptions { $0.keyLogFile = paths[1] }
        )
        pair.run()
        let logs = try paths.map { path in
            try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
        }
        #expect(Set(logs[0]) == Set(logs[1]))
        let labels = Set(logs[0].compactMap { $0.split(separator: " ").first })
        #expect(labels.contains(version == .tls12 ? "CLIENT_RANDOM" : "CLIENT_TRAFFIC_SECRET_0"))
        let attributes = try FileManager.default.attributesOfItem(atPath: paths[0])
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test("A file that can't be opened is an error before anything is sent")
    func noFile() throws {
        let options = try TestCertificates.clientOptions { $0.keyLogFile = "/nowhere/keys" }
        #expect { try options.context() } throws: { "\($0)".contains("The key log “/nowhere/keys” can't be opened") }
    }
}
