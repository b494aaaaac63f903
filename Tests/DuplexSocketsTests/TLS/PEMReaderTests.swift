// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestProcesses
import Foundation
import Testing

@testable import DuplexSockets

@Suite struct PEMReaderTests {
    @Test("All certificates of a text, in their order, and whatever stands between them is passed over")
    func certificates() throws {
        let chain = try TestCertificates.server.chain
        let text = chain.map { "a comment\n" + $0.pem }.joined()
        let read = try PEMReader.certificates(in: PEMReader.bytes(Array(text.utf8)), called: "it")
        #expect(read.map(\.der) == chain.map(\.der))
    }

    @Test("A byte order mark, and line ends of DOS, as editors of Windows write them, change nothing")
    func windows() async throws {
        let identity = try TestCertificates.server
        let texts = [identity.chain.map(\.pem).joined(), identity.keyPEM].map { text in
            Array(("\u{FEFF}" + text.replacing("\n", with: "\r\n")).utf8)
        }
        #expect(
            try PEMReader.certificates(in: PEMReader.bytes(texts[0]), called: "it").map(\.der)
                == identity.chain.map(\.der)
        )
        _ = try PEMReader.key(in: PEMReader.bytes(texts[1]), called: "it", password: nil)
        try await withTestFolder([:]) { folder in
            for (name, text) in zip(["cert.pem", "key.pem"], texts) {
                try Data(text).write(to: URL(fileURLWithPath: folder + name))
            }
            let read = try TLSIdentity.pem(certificatesAt: folder + "cert.pem", keyAt: folder + "key.pem")
            #expect(read.chain.map(\.der) == identity.chain.map(\.der))
        }
    }

    @Test("Every cut of a key is none")
    func keys() throws {
        let text = Array(try TestCertificates.server.keyPEM.utf8)
        _ = try PEMReader.key(in: PEMReader.bytes(text), called: "it", password: nil)
        for count in stride(from: 0, to: text.count - 2, by: 3) {
            #expect(throws: SocketError.self) {
                try PEMReader.key(in: PEMReader.bytes(Array(text.prefix(count))), called: "it", password: nil)
            }
        }
    }
}
