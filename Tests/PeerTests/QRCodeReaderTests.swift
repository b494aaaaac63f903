// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import Foundation
import Testing

@testable import DuplexCommand

/// What the terminal shows, read by a reader that others wrote (zxing-cpp).
@Suite("A QR code's reader", .timeLimit(minutes: 1)) struct QRCodeReaderTests {
    @Test(
        "It reads addresses and other text",
        arguments: [
            "http://192.0.2.2:8080", "https://[2001:db8::1]:8443/", "a", "WiFi-Straße 路",
            "https://example.test/" + String(repeating: "long/", count: 100),
        ]
    )
    func read(text: String) async throws {
        let lines = try #require(QRCode(text)?.lines)
        let folder = FileManager.default.temporaryDirectory.appending(path: "duplex-qr-\(UUID().uuidString)")
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: folder)
        defer { try? FileManager.default.removeItem(at: folder) }
        let script = "\"\(Peer.python)\" \"\(Peer.path("Tests/PeerTests/Peers/qr_reader.py"))\" < \"\(folder.path)\""
        #expect(try await PeerProcess.run(["/bin/sh", "-c", script]) == text + "\n")
    }
}
