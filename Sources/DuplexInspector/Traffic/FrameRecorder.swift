// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWebSockets
import DuplexWire
import Foundation
import Synchronization

/// Records the frames of those connections that somebody watches, and of no others.
///
/// Kept of each: the last 5,000 frames, 16 MiB at most, of a payload the first 64 KiB. When nobody has watched for a while,
/// the connection isn't looked at any more; what was recorded stays until 16 others have been watched since. More than 16 are
/// kept only while all of them are watched.
final class FrameRecorder: Sendable {
    static let frameLimit = 5_000
    static let byteLimit = ByteCount.mebibytes(16)
    static let payloadLimit = 64 * 1_024
    static let connectionLimit = 16

    /// How long a connection is looked at behind its last viewer, who may only have loaded the page again.
    private let grace: Duration
    private let state = Mutex(State())

    fileprivate struct State {
        var tracks: [Track] = []
    }

    /// A connection, and what was recorded of it.
    fileprivate struct Track: Sendable {
        let id: String
        let ring: LiveRing<RecordedFrame>
        weak var socket: WebSocket?
        /// As it was when it was first watched.
        let facts: ConnectionFacts
        let watchers: LiveWatchers
        var tap: LoopBound<SessionTap>?
    }

    init(grace: Duration = .seconds(10)) {
        self.grace = grace
    }

    /// Watches a connection for as long as the result is kept.
    func watch(_ socket: WebSocket, _ facts: ConnectionFacts) async -> FrameWatch {
        let id = "\(socket.id)"
        let (ring, hold, isNew) = state.withLock { state -> (LiveRing<RecordedFrame>, LiveHold, Bool) in
            let index = state.index(of: id, socket, facts, grace)
            let track = state.tracks[index]
            // The recorder is kept until then: a connection may live longer than the server whose page has looked at it.
            let hold = track.watchers.watch { await self.end(id) }
            return (track.ring, hold, track.watchers.count == 1 && track.tap == nil)
        }
        if isNew {
            let tap = await Self.begin(socket, ring)
            state.withLock { $0.set(tap, of: id) }
        }
        return FrameWatch(id: id, ring: ring, hold: hold)
    }

    private static func begin(_ socket: isolated WebSocket, _ ring: LiveRing<RecordedFrame>) -> LoopBound<SessionTap> {
        socket.beginLooking(FrameTracker(ring, keeping: payloadLimit, hasPieces: socket.receivesPieces).tap())
    }

    private func end(_ id: String) async {
        let found = state.withLock { state -> (WebSocket, LoopBound<SessionTap>)? in
            guard let index = state.tracks.firstIndex(where: { $0.id == id && !$0.watchers.areThere }),
                let tap = state.tracks[index].tap
            else { return nil }
            state.tracks[index].tap = nil
            let socket = state.tracks[index].socket
            state.makeRoom(for: 0)
            return socket.map { ($0, tap) }
        }
        if let (socket, tap) = found { await socket.endLooking(tap) }
    }

    /// What was recorded of a connection; nil where nobody has watched it.
    func ring(of id: String) -> LiveRing<RecordedFrame>? {
        state.withLock { state in state.tracks.first { $0.id == id }?.ring }
    }

    /// All that was recorded of connections, and these requests.
    func recording(with exchanges: [RecordedExchange]) async -> Recording {
        let tracks = state.withLock { $0.tracks }
        var recording = Recording(exchanges: exchanges)
        for track in tracks { recording.connections.append(await Self.connection(track)) }
        return recording
    }

    /// What was recorded of one connection; nil where nobody has watched it.
    func recording(of id: String) async -> Recording? {
        guard let track = state.withLock({ state in state.tracks.first { $0.id == id } }) else { return nil }
        return Recording(connections: [await Self.connection(track)])
    }

    private static func connection(_ track: Track) async -> RecordedConnection {
        let socket = track.socket
        let snapshot = await socket?.snapshot
        return RecordedConnection(track.facts, snapshot, track.ring)
    }

    /// Of how many connections something is kept.
    var count: Int { state.withLock { $0.tracks.count } }

    /// Whether a connection is being looked at.
    func isLooking(at id: String) -> Bool {
        state.withLock { state in state.tracks.contains { $0.id == id && $0.tap != nil } }
    }
}

extension FrameRecorder.State {
    /// The place of a connection, made where it has none: the one that was watched longest ago makes room.
    fileprivate mutating func index(
        of id: String,
        _ socket: WebSocket,
        _ facts: ConnectionFacts,
        _ grace: Duration
    ) -> Int {
        if let index = tracks.firstIndex(where: { $0.id == id }) {
            tracks.append(tracks.remove(at: index))
        } else {
            makeRoom(for: 1)
            let ring = LiveRing<RecordedFrame>(keeping: FrameRecorder.frameLimit, FrameRecorder.byteLimit)
            let watchers = LiveWatchers(grace: grace)
            tracks.append(FrameRecorder.Track(id: id, ring: ring, socket: socket, facts: facts, watchers: watchers))
        }
        return tracks.count - 1
    }

    /// Those that were watched longest ago go, but for those that somebody watches.
    fileprivate mutating func makeRoom(for count: Int) {
        while tracks.count + count > FrameRecorder.connectionLimit,
            let old = tracks.firstIndex(where: { $0.watchers.count == 0 && $0.tap == nil })
        {
            tracks.remove(at: old)
        }
    }

    fileprivate mutating func set(_ tap: LoopBound<SessionTap>, of id: String) {
        if let index = tracks.firstIndex(where: { $0.id == id }) { tracks[index].tap = tap }
    }
}

/// A connection's frames for as long as somebody wants them.
struct FrameWatch: Sendable {
    let id: String
    let ring: LiveRing<RecordedFrame>
    let hold: LiveHold
}

/// Makes recorded frames of what a tap sees of one connection; on its loop.
///
/// A compressed message is recorded with what it says: a fragment of it without a payload, its last frame with all. One that
/// is read or written in pieces is recorded as it goes over the wire: nobody has it whole.
private final class FrameTracker {
    private let ring: LiveRing<RecordedFrame>
    private let limit: Int
    private let hasPieces: Bool
    /// Whether the message that goes or comes is compressed.
    private var isCompressed: (incoming: Bool, outgoing: Bool) = (false, false)
    /// What the next frame out says.
    private var outgoing: RecordedBytes?
    /// A frame whose message is known a moment later.
    private var held: RecordedFrame?

    /// - Parameters:
    ///   - ring: gets the frames.
    ///   - limit: how many bytes of a payload are kept.
    ///   - hasPieces: whether the connection reads its messages in pieces.
    init(_ ring: LiveRing<RecordedFrame>, keeping limit: Int, hasPieces: Bool) {
        self.hasPieces = hasPieces
        self.ring = ring
        self.limit = limit
    }

    /// The tap that calls this.
    func tap() -> SessionTap {
        SessionTap(payloadLimit: limit) { [self] direction, plain in
            let first = plain.extracting(first: min(limit, plain.byteCount))
            inflated(direction, RecordedBytes([UInt8](copying: first), of: UInt64(plain.byteCount)))
        } _: { [self] frame, payload in
            seen(frame, payload)
        }
    }

    private func seen(_ frame: TappedFrame, _ payload: RawSpan) {
        release()
        let isOutgoing = frame.direction == .outgoing
        var recorded = RecordedFrame(
            number: 0,
            time: Date().timeIntervalSince1970,
            isOutgoing: isOutgoing,
            opcode: frame.opcode,
            isFinal: frame.isFinal,
            isCompressed: isPartOfCompressed(frame, isOutgoing),
            wireLength: Self.wireLength(of: frame),
            payload: RecordedBytes([UInt8](copying: payload), of: frame.payloadLength)
        )
        let plain = isOutgoing && !frame.opcode.isControl ? outgoing.take() : nil
        guard recorded.isCompressed else { return append(recorded) }
        recorded.payload.isCoded = true
        if isOutgoing {
            recorded.payload = plain ?? recorded.payload
            append(recorded)
        } else if hasPieces {
            append(recorded)
        } else if !frame.isFinal {
            recorded.payload = RecordedBytes([], of: frame.payloadLength)
            append(recorded)
        } else {
            held = recorded
        }
    }

    private func isPartOfCompressed(_ frame: TappedFrame, _ isOutgoing: Bool) -> Bool {
        if frame.opcode.isControl { return false }
        if frame.opcode != .continuation {
            let path = isOutgoing ? \FrameTracker.isCompressed.outgoing : \FrameTracker.isCompressed.incoming
            self[keyPath: path] = frame.isCompressed
        }
        return isOutgoing ? isCompressed.outgoing : isCompressed.incoming
    }

    private func inflated(_ direction: TappedFrame.Direction, _ plain: RecordedBytes) {
        if direction == .outgoing {
            outgoing = plain
        } else {
            held?.payload = plain
            release()
        }
    }

    /// What is known of a frame that was held is all there is to know.
    private func release() {
        if let held { append(held) }
        held = nil
    }

    private func append(_ frame: RecordedFrame) {
        ring.append(size: frame.payload.bytes.count + 64) { number in
            var frame = frame
            frame.number = number - 1
            return frame
        }
    }

    /// RFC 6455 section 5.2.
    private static func wireLength(of frame: TappedFrame) -> UInt64 {
        let length = frame.payloadLength
        return length + 2 + (length > 65_535 ? 8 : length > 125 ? 2 : 0) + (frame.isMasked ? 4 : 0)
    }
}
