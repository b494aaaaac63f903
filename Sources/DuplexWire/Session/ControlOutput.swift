// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Control frames that wait to be sent.
///
/// Bounded: one pong, a few pings, one close frame.
struct ControlOutput: Sendable {
    struct Frame: Sendable {
        var opcode: Opcode
        var payload: [UInt8]
    }

    private(set) var frames: [Frame] = []

    /// The most pings that wait; a transport that takes none of so many gets no more.
    static let maximumPings = 16

    var isEmpty: Bool { frames.isEmpty }

    /// Answers a ping.
    ///
    /// When an earlier pong still waits, the later one replaces it (RFC 6455 section 5.5.3).
    mutating func pong(_ payload: [UInt8]) {
        frames.removeAll { $0.opcode == .pong }
        frames.append(Frame(opcode: .pong, payload: payload))
    }

    mutating func ping(_ payload: [UInt8]) {
        guard frames.count(where: { $0.opcode == .ping }) < Self.maximumPings else { return }
        frames.append(Frame(opcode: .ping, payload: payload))
    }

    /// The last frame there is.
    mutating func close(_ payload: [UInt8]) {
        frames.append(Frame(opcode: .close, payload: payload))
    }

    /// Nothing of it is to be sent any more.
    mutating func drop() { frames = [] }

    mutating func takeAll() -> [Frame] {
        defer { frames = [] }
        return frames
    }
}
