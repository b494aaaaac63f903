// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Told how many bytes of a write the system has taken so far; all of them in the end.
///
/// Called on the socket's loop, so it must not block.
package typealias WriteProgress = @Sendable (_ written: UInt64) -> Void

/// A write that a socket sends piece by piece when its turn comes: of a file, or of bytes with progress or behind a
/// file.
///
/// Belongs to its socket's loop.
package final class Transfer {
    /// What is sent.
    package enum Content {
        case bytes([[UInt8]])
        case file(FileRange)
    }

    /// What sending a piece gave.
    package enum Step: Equatable {
        /// The system has that many bytes.
        case sent
        /// That many bytes wait in the channel.
        case queued
        case wouldBlock
        /// The disk would have to be waited for: ``readAhead(on:then:)`` comes next.
        case notCached
        case disconnected(Int32)
    }

    /// How much goes in one turn, so that other connections have theirs: of a file that the system moves, whose calls cost
    /// more than its bytes, as much as of what is written.
    static let directSize = Channel.fairShare
    static let queuedSize = 64 * 1_024

    let id: UInt64
    let total: UInt64
    let began: Instant
    let extend: TimeoutExtension?
    /// The task that waits; `nil` once it has given up.
    var waiter: Waiter<UInt64>?
    var timer: TimerID?
    var progress: WriteProgress?
    /// How many bytes have gone to the channel or past it.
    package private(set) var taken: UInt64 = 0
    /// How many of them were reported as progress.
    var reported: UInt64 = 0
    private let content: Content
    /// The piece that goes next, and how much of it has gone.
    private var place = (piece: 0, position: 0)
    private var isDirect = true
    /// How many bytes of a file may be moved without looking whether they are in the system's cache, and until when.
    private var cached = (end: UInt64(0), until: Instant(nanoseconds: 0))

    package init(
        _ content: Content,
        id: UInt64,
        waiter: Waiter<UInt64>? = nil,
        began: Instant,
        timer: TimerID? = nil,
        extend: TimeoutExtension? = nil,
        progress: WriteProgress? = nil
    ) {
        self.content = content
        self.id = id
        self.waiter = waiter
        self.began = began
        self.timer = timer
        self.extend = extend
        self.progress = progress
        switch content {
        case .bytes(let pieces): total = pieces.reduce(0) { $0 + UInt64($1.count) }
        case .file(let file): total = file.remaining
        }
    }

    var isFile: Bool {
        if case .file = content { true } else { false }
    }

    /// Whether all has gone to the channel or past it.
    package var isTaken: Bool { taken == total }

    /// Moves a piece.
    ///
    /// - Parameters:
    ///   - channel: where to; nothing waits in it.
    ///   - mayBeDirect: whether the bytes of a file may go past the channel.
    /// - Returns: the result.
    /// - Throws: ``SocketError`` with ``SocketError/Code/unreadableFile``.
    package func move(to channel: Channel, mayBeDirect: Bool) throws(SocketError) -> Step {
        guard case .file(let file) = content else {
            queue(to: channel, limit: Self.queuedSize)
            return .queued
        }
        guard isNextCached(now: channel.core.now) else { return .notCached }
        let known = Int(clamping: cached.end - taken)
        if mayBeDirect && isDirect, let step = try channel.send(file, limit: min(known, Self.directSize)) {
            switch step {
            case .sent(let count):
                taken += UInt64(count)
                return .sent
            case .wouldBlock: return .wouldBlock
            case .disconnected(let code): return .disconnected(code)
            case .unsupported: isDirect = false
            }
        }
        let bytes = try file.read(limit: min(known, Self.queuedSize))
        channel.write(bytes.span.raw)
        taken += UInt64(bytes.count)
        return .queued
    }

    /// Whether what is moved next is in the system's cache, as far as was seen within the last second.
    ///
    /// - Parameter now: the time.
    /// - Returns: whether ``move(to:mayBeDirect:)`` waits for no disk.
    package func isNextCached(now: Instant) -> Bool {
        guard case .file(let file) = content, taken >= cached.end || now >= cached.until else { return true }
        let part = file.part.prefix(UInt64(Self.directSize))
        guard part.isCached(now: now) else { return false }
        noteCached(part.count, now)
        return true
    }

    private func noteCached(_ count: UInt64, _ now: Instant) {
        cached = (taken + count, now.advanced(by: FilePart.cachedTime))
    }

    /// Has a thread read what is to be moved next, so that it is in the system's cache.
    ///
    /// - Parameters:
    ///   - loop: the transfer's.
    ///   - body: called on it when moving may go on.
    package func readAhead(on loop: EventLoop, then body: @escaping @Sendable () -> Void) {
        guard case .file(let file) = content else { return body() }
        let part = file.part.prefix(UInt64(Self.directSize))
        let bound = LoopBound(self, on: loop.thread)
        BlockingThreads.files.run(unawaited: {
            part.readAhead()
            loop.execute { core in
                bound.value.noteCached(part.count, core.now)
                body()
            }
        })
    }

    /// Moves all that is left of bytes to the channel.
    func queueRest(to channel: Channel) {
        queue(to: channel, limit: .max)
    }

    private func queue(to channel: Channel, limit: Int) {
        guard case .bytes(let pieces) = content else { return }
        var free = limit
        while free > 0, place.piece < pieces.count {
            let piece = pieces[place.piece]
            let count = min(free, piece.count - place.position)
            channel.write(piece.span.raw.extracting(place.position..<(place.position + count)))
            taken += UInt64(count)
            free -= count
            place.position += count
            if place.position == piece.count { place = (place.piece + 1, 0) }
        }
    }
}
