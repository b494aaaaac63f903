// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Network faults of connections: in memory (``TestClient``, ``MemoryConnection``), or through a ``FaultProxy``.
///
/// ```swift
/// client.faults = .slow(1_000, every: .seconds(1), in: .toClient)
/// proxy.faults = .split(every: 1, resetAfter: 40)
/// proxy.faults = .stall(after: 1_000, in: .toClient)
/// ```
public struct Faults: Sendable, Hashable {
    /// Where bytes go to.
    public enum Direction: Sendable, Hashable, CaseIterable {
        /// From the client to the server.
        case toServer
        /// From the server to the client.
        case toClient
    }

    /// Network faults in one direction of a connection.
    ///
    /// Default: nothing. Bytes are counted from the beginning of the connection, or from when the faults were set while it was open.
    package struct Flow: Sendable, Hashable {
        /// The most bytes that are sent at once.
        ///
        /// Default: as they arrive. Each piece is sent in a system call of its own. TCP may still put together what the receiver doesn't take in
        /// time.
        package var pieceSize: Int?
        /// The number of bytes after which both sides have their connection reset.
        package var resetAfter: Int?
        /// The number of bytes after which the stream ends for the receiver; the rest is thrown away.
        package var endAfter: Int?
        /// The number of bytes after which nothing more gets through until it is released.
        package var stallAfter: Int?
        /// How fast a slow reader takes bytes.
        ///
        /// Default: as they come.
        ///
        /// Of connections in memory only: a ``FaultProxy`` depends on no time.
        package var pace: Pace?

        /// So many bytes, and then nothing for an interval of the loop's time.
        package struct Pace: Sendable, Hashable {
            /// How many bytes are taken in an interval; one at least.
            package var bytes: Int
            /// How long an interval is.
            package var interval: Duration

            /// Makes a value.
            ///
            /// - Parameters:
            ///   - bytes: how many bytes are taken in an interval; one at least.
            ///   - interval: how long an interval is; longer than zero.
            package init(bytes: Int, interval: Duration) {
                precondition(bytes > 0, "A slow reader takes one byte at least.")
                precondition(interval > .zero, "The interval of a slow reader is longer than zero.")
                self.bytes = bytes
                self.interval = interval
            }
        }

        /// Makes a value; `nil` is no such fault.
        ///
        /// - Parameters:
        ///   - pieceSize: the most bytes that are sent at once; one at least.
        ///   - resetAfter: the number of bytes after which the connections are reset.
        ///   - endAfter: the number of bytes after which the stream ends.
        ///   - stallAfter: the number of bytes after which nothing gets through.
        package init(
            pieceSize: Int? = nil,
            resetAfter: Int? = nil,
            endAfter: Int? = nil,
            stallAfter: Int? = nil
        ) {
            precondition(pieceSize.map { $0 > 0 } ?? true, "A piece has one byte at least.")
            self.pieceSize = pieceSize
            self.resetAfter = resetAfter
            self.endAfter = endAfter
            self.stallAfter = stallAfter
        }

        /// How many of `waiting` bytes may go out at once when `passed` are through already: not further than to the next
        /// place where something happens.
        func piece(of waiting: Int, passed: Int) -> Int {
            var length = min(waiting, pieceSize ?? waiting)
            for place in [resetAfter, endAfter, stallAfter] {
                if let place, place > passed { length = min(length, place - passed) }
            }
            return length
        }
    }

    /// What goes wrong with what the client sends.
    package var toServer: Flow
    /// What goes wrong with what the server sends.
    package var toClient: Flow

    /// Makes a value.
    ///
    /// - Parameters:
    ///   - toServer: what goes wrong with what the client sends.
    ///   - toClient: what goes wrong with what the server sends.
    package init(toServer: Flow = Flow(), toClient: Flow = Flow()) {
        self.toServer = toServer
        self.toClient = toClient
    }

    private init(_ flow: Flow, in direction: Direction?) {
        self.init(
            toServer: direction == .toClient ? Flow() : flow,
            toClient: direction == .toServer ? Flow() : flow
        )
    }

    /// Nothing goes wrong.
    public static let none = Faults()

    /// Bytes arrive in small pieces, and after some of them the connection is lost.
    ///
    /// - Parameters:
    ///   - length: the most bytes of a piece.
    ///   - resetAfter: the number of bytes after which both sides have their connection reset. Default: never.
    ///   - direction: which way, counted by itself. Default: both.
    /// - Returns: the faults.
    public static func split(every length: Int, resetAfter: Int? = nil, in direction: Direction? = nil) -> Faults {
        Faults(Flow(pieceSize: length, resetAfter: resetAfter), in: direction)
    }

    /// The connection is lost: both sides have it reset, as when a machine between them was switched off and on.
    ///
    /// - Parameters:
    ///   - count: after that many bytes; at 0 as soon as there is a connection.
    ///   - direction: which way, counted by itself. Default: whichever comes first.
    /// - Returns: the faults.
    public static func reset(after count: Int, in direction: Direction? = nil) -> Faults {
        Faults(Flow(resetAfter: count), in: direction)
    }

    /// The stream ends before all of it has come, in order as far as the receiver can see.
    ///
    /// - Parameters:
    ///   - count: after that many bytes.
    ///   - direction: which way, counted by itself. Default: both.
    /// - Returns: the faults.
    public static func end(after count: Int, in direction: Direction? = nil) -> Faults {
        Faults(Flow(endAfter: count), in: direction)
    }

    /// Nothing more gets through until it is released: ``TestClient/release(_:bytes:)``,
    /// ``MemoryConnection/release(_:bytes:)``, ``FaultProxy/release(_:pieces:)``.
    ///
    /// With `pieces` released one at a time it is a delay, of which the test says when it is over.
    ///
    /// - Parameters:
    ///   - count: after that many bytes. Default: at once.
    ///   - length: the most bytes of a piece. Default: as they arrive.
    ///   - direction: which way, counted by itself. Default: both.
    /// - Returns: the faults.
    public static func stall(
        after count: Int = 0,
        every length: Int? = nil,
        in direction: Direction? = nil
    ) -> Faults {
        Faults(Flow(pieceSize: length, stallAfter: count), in: direction)
    }

    /// The receiver is slow: it takes some bytes, and then nothing for an interval of the loop's time.
    ///
    /// Of connections in memory only.
    ///
    /// - Parameters:
    ///   - count: how many bytes are taken in an interval; one at least.
    ///   - interval: how long an interval is; longer than zero.
    ///   - direction: which way. Default: both.
    /// - Returns: the faults.
    public static func slow(_ count: Int, every interval: Duration, in direction: Direction? = nil) -> Faults {
        var flow = Flow()
        flow.pace = Flow.Pace(bytes: count, interval: interval)
        return Faults(flow, in: direction)
    }

    subscript(direction: Direction) -> Flow {
        direction == .toServer ? toServer : toClient
    }
}
