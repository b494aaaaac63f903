// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

@testable import DuplexSockets

/// A client and a server of TLS that exchange bytes without a socket, in pieces of any size.
final class EnginePair {
    final class Side {
        let engine: TLSEngine
        /// What the network still has to bring here.
        var arriving: [UInt8] = []
        var plaintext: [UInt8] = []
        var isComplete = false
        var hasEnded = false
        var failure: SocketError?
        /// What the side is asked to decide, and what it answers.
        var asked: [TLSPeer] = []
        var answer = true

        init(_ engine: TLSEngine) {
            self.engine = engine
        }
    }

    let client: Side
    let server: Side
    /// How many bytes arrive at once.
    let pieceSize: Int
    /// Changes what a client's or a server's bytes look like on their way.
    var tamper: (_ isFromClient: Bool, inout [UInt8]) -> Void = { _, _ in }

    init(
        _ clientOptions: TLSOptions,
        _ serverOptions: TLSServerOptions,
        name: String? = "localhost",
        pieceSize: Int = .max
    ) throws {
        let memory = TLSMemory()
        let serverName = clientOptions.serverName ?? name
        client = Side(try TLSEngine(context: clientOptions.context(), serverName: serverName, memory: memory))
        server = Side(try TLSEngine(context: serverOptions.context(), serverName: nil, memory: memory))
        self.pieceSize = pieceSize
    }

    /// Shakes hands until nothing moves any more.
    func run() {
        step(client, [])
        carry()
    }

    /// Carries bytes back and forth until there are none.
    func carry() {
        while !client.arriving.isEmpty || !server.arriving.isEmpty {
            for side in [server, client] where !side.arriving.isEmpty {
                let piece = Array(side.arriving.prefix(pieceSize))
                side.arriving.removeFirst(piece.count)
                step(side, piece)
            }
        }
    }

    func write(_ bytes: [UInt8], from side: Side) throws {
        var rest = bytes
        while !rest.isEmpty {
            rest.removeFirst(try side.engine.encrypt(rest.span.raw))
            drain(side)
        }
    }

    func end(_ side: Side) {
        side.engine.sendEnd()
        drain(side)
    }

    private func step(_ side: Side, _ bytes: [UInt8]) {
        side.engine.withInput(bytes.span.raw) {
            if !side.isComplete && side.failure == nil { shakeHands(side) }
            if side.isComplete && side.failure == nil { read(side) }
        }
    }

    private func shakeHands(_ side: Side) {
        while true {
            let progress = side.engine.handshake()
            drain(side)
            switch progress {
            case .wantsInput: return
            case .wantsOutput: continue
            case .wantsDecision(let peer):
                side.asked.append(peer)
                side.engine.decide(side.answer)
            case .complete:
                side.isComplete = true
                return
            case .failed(let error):
                side.failure = error
                return
            }
        }
    }

    private func read(_ side: Side) {
        while true {
            let result = side.engine.decrypt(limit: 10_000)
            drain(side)
            switch result {
            case .bytes(let count):
                side.engine.memory.withPlaintext(count) { side.plaintext += [UInt8](copying: $0.bytes) }
            case .wantsInput: return
            case .ended:
                side.hasEnded = true
                return
            case .failed(let error):
                side.failure = error
                return
            }
        }
    }

    private func drain(_ side: Side) {
        side.engine.memory.drain { bytes in
            var bytes = [UInt8](copying: bytes)
            tamper(side === client, &bytes)
            (side === client ? server : client).arriving += bytes
        }
    }
}
