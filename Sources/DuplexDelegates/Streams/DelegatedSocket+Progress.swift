// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Synchronization

// Reads of a length and long writes, which are served piece by piece so that the delegate hears how far they have come.

extension DelegatedSocket {
    /// How far a read or a write has come.
    struct Progress: Sendable {
        var count: Int
        var tag: Int
    }

    /// Which of the two.
    enum Direction: Sendable {
        case reading
        case writing
    }

    /// The bytes of a write that are handed to the connection at once.
    private static let pieceSize = 65_536

    /// Reads that many bytes.
    ///
    /// - Returns: the bytes.
    func read(exactly count: Int, tag: Int, from socket: Socket, _ time: PieceTime) async throws -> [UInt8] {
        if count == 0 { return [] }
        var bytes: [UInt8] = []
        while bytes.count < count {
            if !bytes.isEmpty { tellProgress(.reading, bytes.count, tag) { $0.socket($1, hasRead: $2, tag: $3) } }
            let missing = count - bytes.count
            let (timeout, extend) = time.rest(after: bytes.count)
            guard let piece = try await socket.read(upTo: missing, timeout: timeout, extend: extend) else {
                let message = "The stream ended after \(bytes.count) of \(count) bytes."
                throw SocketError(.endOfStream, message: message)
            }
            if bytes.isEmpty { bytes = piece } else { bytes += piece }
        }
        shared.withLock { $0[.reading] = nil }
        return bytes
    }

    /// Writes bytes, a long row of them in pieces.
    func write(_ write: SocketOrders.Write, to socket: Socket) async throws {
        let time = PieceTime(socket.loop.clock, write.timeout, write.extend)
        var sent = 0
        repeat {
            let end = min(write.bytes.count, sent + Self.pieceSize)
            let isWhole = sent == 0 && end == write.bytes.count
            let (timeout, extend) = time.rest(after: sent)
            let piece = isWhole ? write.bytes : Array(write.bytes[sent..<end])
            try await socket.write(piece, timeout: timeout, extend: extend)
            sent = end
            if sent < write.bytes.count {
                tellProgress(.writing, sent, write.tag) { $0.socket($1, hasWritten: $2, tag: $3) }
            }
        } while sent < write.bytes.count
        shared.withLock { $0[.writing] = nil }
    }

    /// Has the delegate called with the latest progress, unless a call is on its way.
    private func tellProgress(
        _ direction: Direction,
        _ count: Int,
        _ tag: Int,
        _ call: @escaping @Sendable (any SocketDelegate, DelegatedSocket, Int, Int) -> Void
    ) {
        let isOnItsWay = shared.withLock { shared in
            defer { shared[direction] = Progress(count: count, tag: tag) }
            return shared[direction] != nil
        }
        if isOnItsWay { return }
        let tell: @Sendable (any SocketDelegate) -> Void = { delegate in
            // None if it has been served meanwhile: the delegate hears of that next.
            guard let progress = self.shared.withLock({ $0[direction].take() }) else { return }
            call(delegate, self, progress.count, progress.tag)
        }
        delegates.post(if: { !self.isSilent }, tell)
    }
}

extension DelegatedSocket.Shared {
    /// What the delegate is about to hear of.
    fileprivate subscript(direction: DelegatedSocket.Direction) -> DelegatedSocket.Progress? {
        get { direction == .reading ? readProgress : writeProgress }
        set { if direction == .reading { readProgress = newValue } else { writeProgress = newValue } }
    }
}

/// The time of a read or a write that is served in pieces: all of them have one deadline, which may be moved.
final class PieceTime: Sendable {
    private let clock: LoopClock
    private let began: Instant
    private let deadline: Mutex<Instant?>
    private let extend: TimeoutExtension?

    init(_ clock: LoopClock, _ timeout: Duration?, _ extend: TimeoutExtension?) {
        self.clock = clock
        let began = clock.now()
        self.began = began
        self.extend = extend
        deadline = Mutex(timeout.map { began.advanced(by: $0) })
    }

    /// What is left of the time, and what asks for more.
    ///
    /// - Parameter count: the bytes of the pieces before.
    /// - Returns: the time for the next piece, `nil` for no limit, and what is asked when it is over.
    func rest(after count: Int) -> (Duration?, TimeoutExtension?) {
        let timeout = deadline.withLock { $0 }.map { max(.nanoseconds(1), clock.now().duration(to: $0)) }
        guard let extend else { return (timeout, nil) }
        return (
            timeout,
            { [self] _, bytes in
                let now = clock.now()
                guard let more = extend(began.duration(to: now), count + bytes), more > .zero else { return nil }
                deadline.withLock { $0 = now.advanced(by: more) }
                return more
            }
        )
    }
}
