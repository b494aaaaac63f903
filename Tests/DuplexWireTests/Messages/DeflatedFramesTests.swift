// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexDeflate
import Testing

@testable import DuplexWire

@Suite("One compression for all")
struct DeflatedFramesTests {
    @Test("A message needs no larger window than itself")
    func forms() {
        let form = DeflatedForm(windowBits: 12, level: 1)
        let bits = [0, 1, 256, 257, 1_024, 4_096, 4_097, 100_000].map { form.fitting($0).windowBits }
        #expect(bits == [8, 8, 8, 9, 10, 12, 12, 12])
        #expect(form.fitting(300).level == 1)
    }

    @Test("A form is made once, also where nothing comes of it")
    func once() {
        let frames = DeflatedFrames()
        let form = DeflatedForm(windowBits: 12, level: 1)
        var count = 0
        for _ in 0..<3 {
            let frame = frames.frame(form) {
                count += 1
                return DeflatedFrames.Frame(bytes: [1], payloadCount: 0)
            }
            #expect(frame?.bytes == [1])
            let nothing = frames.frame(DeflatedForm(windowBits: 9, level: 1)) {
                count += 1
                return nil
            }
            #expect(nothing == nil)
        }
        #expect(count == 2)
    }

    /// A client's end of a connection, and the server's.
    private static func pair(
        _ bits: Int,
        takesOver: Bool,
        _ pool: DeflatePool
    ) -> (client: WebSocketSession, server: WebSocketSession) {
        var agreement = DeflateAgreement()
        agreement.serverMaxWindowBits = bits
        agreement.serverNoContextTakeover = !takesOver
        let now = Instant(nanoseconds: 0)
        let settings = Deflater.Settings(windowBits: 15)
        return (
            WebSocketSession(
                role: .client,
                maskingKeys: MaskingKeys { 7 },
                compression: DeflatePool().compression(agreement, role: .client, settings: settings),
                now: now
            ),
            WebSocketSession(
                role: .server,
                compression: pool.compression(agreement, role: .server, settings: settings),
                now: now
            )
        )
    }

    @Test("It goes the same to all whose windows fit, and each understands it and what refers to it")
    func toAll() throws {
        let pool = DeflatePool()
        let pairs = [8, 9, 12, 15].flatMap { bits in [true, false].map { Self.pair(bits, takesOver: $0, pool) } }
        let texts = (0..<12).map { round in
            String(repeating: "{\"round\":\(round),\"price\":101.25},", count: 1 + round * round * 8)
        }
        for text in texts {
            let payload = Array(text.utf8)
            let frame = MessageFrame(.text, payload.span.raw)
            var sent: Set<[UInt8]> = []
            for pair in pairs {
                let bytes = try #require(pair.server.sendsCompressed(frame))
                sent.insert(bytes)
                // And one of its own behind it, which may refer to it.
                let own = written(room: 100_000) { output in
                    _ = pair.server.compress(payload.span.raw) {
                        pair.server.encode(compressed: .text, $0, into: &output)
                    }
                }
                let all = bytes + own
                var position = 0
                var received: [String] = []
                _ = changed(all) { input in
                    while let event = pair.client.nextEvent(in: &input, at: &position, now: Instant(nanoseconds: 0)) {
                        switch event {
                        case .message(.text, .assembled(let bytes)):
                            received.append(String(decoding: bytes, as: UTF8.self))
                        case .message(.text, .input(let range)):
                            received.append(String(decoding: all[range], as: UTF8.self))
                        default: break
                        }
                    }
                }
                #expect(received == (own.isEmpty ? [text] : [text, text]), "\(text.utf8.count) bytes")
            }
            #expect(sent.count <= 4)
            if payload.count <= 256 { #expect(sent.count == 1) }
        }
        #expect(pairs[0].server.compression?.counts.messagesDeflated ?? 0 > 12)
    }

    @Test("Below the threshold, and where it gets no shorter, it goes as it is")
    func plain() {
        let compression = DeflatePool().compression(
            DeflateAgreement(),
            role: .server,
            settings: .init(),
            threshold: 100
        )
        let session = WebSocketSession(role: .server, compression: compression, now: Instant(nanoseconds: 0))
        let short = [UInt8](repeating: 0x61, count: 99)
        let odd = (0..<200).map { UInt8(truncatingIfNeeded: $0 &* 151 ^ $0 >> 1) }
        for payload in [short, odd] {
            let frame = MessageFrame(.binary, payload.span.raw)
            #expect(session.sendsCompressed(frame) == frame.bytes)
        }
        #expect(session.counts.messagesSent == 2 && session.compression?.counts.messagesDeflated == 0)
    }
}
