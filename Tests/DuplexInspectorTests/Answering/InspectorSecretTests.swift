// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestProcesses
import DuplexTesting
import DuplexWire
import Foundation
import Testing

@testable import DuplexInspector

@Suite("What lets somebody in to an inspector")
struct InspectorSecretTests {
    @Test("It is masked wherever it stands, and forgotten with its inspector")
    func masking() async {
        let (token, session) = ("\(RandomText.hexadecimal())/ä", RandomText.hexadecimal())
        var secret: InspectorSecret? = InspectorSecret([token, session])
        #expect(InspectorSecret.masked("a \(token)\(session) b \(session)") == "a •••••••••••• b ••••••")
        #expect(InspectorSecret.masked("?token=\(PercentEncoding.segment(token))&x") == "?token=••••••&x")
        #expect(InspectorSecret.masked(Array("\(session.dropLast())".utf8)) == Array("\(session.dropLast())".utf8))
        #expect(secret != nil)
        secret = nil
        // Whoever masks something at this moment keeps it for as long.
        #expect(await comesTrue { InspectorSecret.masked(session) == session })
    }

    @Test("Bytes are found at each place, as the slow way finds them")
    func places() {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<2_000 {
            let pattern = (0..<Int.random(in: 1...4, using: &random)).map { _ in UInt8.random(in: 0...1, using: &random)
            }
            let others = (0..<Int.random(in: 0...20, using: &random)).map { _ in UInt8.random(in: 0...2, using: &random)
            }
            let slow = (0...others.count).first { others[$0...].starts(with: pattern) }
            #expect(BytePattern(pattern).place(in: others) == slow)
            let text = { (bytes: [UInt8]) in String(decoding: bytes.map { $0 + 48 }, as: UTF8.self) }
            let replaced = BytePattern(pattern).replaced(in: others, by: [9, 9])
            #expect(text(replaced) == text(others).replacing(text(pattern), with: "99"))
        }
        #expect(BytePattern([]).place(in: [1]) == nil)
    }
}
