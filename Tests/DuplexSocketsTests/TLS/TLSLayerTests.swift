// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite struct TLSLayerTests {
    private func layer(_ trust: TLSTrust, _ loop: EventLoop) throws -> TLSLayer {
        let options = try TestCertificates.clientOptions { $0.trust = trust }
        let engine = try TLSEngine(context: options.context(), serverName: "localhost", memory: TLSMemory())
        return TLSLayer(engine: engine, timeout: .seconds(1), loop: loop) { _ in }
    }

    @Test("A decision is asked for off the loop, and its answer comes on it", arguments: [true, false])
    func decision(answer: Bool) async throws {
        try await withLoop { loop in
            let (answers, continuation) = AsyncStream<Bool>.makeStream()
            try await loop.run { _ in
                let trust = try TestCertificates.trust.decided { _ in
                    #expect(!loop.isCurrent)
                    return answer
                }
                let layer = try layer(trust, loop)
                let peer = TLSPeer(certificates: [], serverName: nil, failure: nil)
                layer.decide(on: peer) {
                    #expect(loop.isCurrent)
                    continuation.yield($0)
                }
                #expect(layer.stage == .deciding)
            }
            for await decided in answers {
                #expect(decided == answer)
                break
            }
        }
    }

    @Test("What arrives is for the engine once the handshake has begun")
    func stages() async throws {
        try await withLoop { loop in
            try await loop.run { _ in
                let layer = try layer(TestCertificates.trust, loop)
                #expect(!layer.takesInput && layer.wireCount == 0)
                layer.stage = .shakingHands
                #expect(layer.takesInput)
            }
        }
    }
}
