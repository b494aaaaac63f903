// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// The part of the peer's frames that comes next.
enum FrameArrival: UInt8, Sendable, CaseIterable {
    /// A frame between two messages, which no observer sees: a whole message goes the short way.
    case message
    /// A frame within a message, or one that an observer sees.
    case frame
    /// The rest of a header.
    case header
    /// Payload of the frame whose header came last.
    case payload
    /// Nothing: what comes is thrown away, after the peer's close frame and after a violation.
    case nothing

    enum Event: Sendable, CaseIterable {
        /// A part of a header has come.
        case headerBegins
        /// A header has come whole.
        case headerEnds
        /// A payload has come whole; its message goes on, or an observer sees what comes next.
        case frameEnds
        /// A payload has come whole, no message is open, and no observer sees frames. Also if the last observer leaves between two
        /// messages.
        case messageEnds
        /// An observer sees frames from here on.
        case isObserved
        /// Nothing that comes is parsed any more.
        case deafens
    }

    /// The state that an event leads to; an event that means nothing in a state leaves it as it is.
    func next(_ event: Event) -> FrameArrival {
        switch (event, self) {
        case (.headerBegins, .message), (.headerBegins, .frame): .header
        case (.headerEnds, .message), (.headerEnds, .frame), (.headerEnds, .header): .payload
        case (.frameEnds, .payload), (.isObserved, .message): .frame
        case (.messageEnds, .payload), (.messageEnds, .frame): .message
        case (.deafens, _): .nothing
        case (.headerBegins, _), (.headerEnds, _), (.frameEnds, _), (.messageEnds, _), (.isObserved, _): self
        }
    }

    mutating func take(_ event: Event) { self = next(event) }
}
