// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// How far a connection is in ending (RFC 6455 section 7): what was sent and heard of it, and what may still be sent.
///
/// Whether anything is still parsed isn't said here: a rule that the peer breaks ends that at any time.
struct SessionEnding: Sendable {
    enum Phase: UInt8, Sendable, CaseIterable {
        /// Messages go both ways.
        case open
        /// The peer's close frame lies behind what isn't parsed yet, and isn't answered.
        case closeFound
        /// The peer's close frame has been parsed, or what came in front of it can't be; it isn't answered.
        case closeHeard
        /// This side's close frame is sent, and the peer's is awaited.
        case closeSent
        /// Both are exchanged, or the transport has ended; what came in front of that isn't parsed yet.
        case closedAhead
        /// Both are exchanged, or the transport has ended.
        case closed

        /// What an event makes of it; what means nothing in a phase leaves it as it is.
        func next(_ event: Event) -> Phase {
            switch (event, self) {
            case (.finds, .open): .closeFound
            case (.hears, .open), (.hears, .closeFound), (.deafens, .closeFound): .closeHeard
            case (.hears, .closeSent), (.hears, .closedAhead), (.deafens, .closedAhead): .closed
            case (.sends, .open): .closeSent
            case (.sends, .closeFound): .closedAhead
            case (.sends, .closeHeard): .closed
            case (.ends, .closeFound), (.endsAhead, .open), (.endsAhead, .closeFound), (.endsAhead, .closeSent):
                .closedAhead
            case (.ends, .open), (.ends, .closeHeard), (.ends, .closeSent), (.endsAhead, .closeHeard): .closed
            case (.finds, _), (.hears, _), (.deafens, _), (.sends, _), (.ends, _), (.endsAhead, _): self
            }
        }
    }

    enum Event: Sendable, CaseIterable {
        /// The peer's close frame was found in what isn't to be parsed yet.
        case finds
        /// The peer's close frame has been parsed.
        case hears
        /// Nothing that has come or comes is parsed any more.
        case deafens
        /// This side sends its close frame.
        case sends
        /// The transport has ended, and all that came is parsed or thrown away.
        case ends
        /// The transport has ended, and what came isn't parsed yet.
        case endsAhead
    }

    private(set) var phase = Phase.open

    mutating func take(_ event: Event) { phase = phase.next(event) }

    /// Whether messages may be sent.
    var canSend: Bool { phase.rawValue < Phase.closeSent.rawValue }

    /// Whether the end is known although what came in front of it isn't parsed yet.
    var isAhead: Bool { phase == .closeFound || phase == .closedAhead }

    var state: WebSocketSession.State {
        switch phase {
        case .open: .open
        case .closeFound, .closeHeard, .closeSent: .closing
        case .closedAhead, .closed: .closed
        }
    }
}
