// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// How a connection that speaks HTTP ends.
///
/// The session has the rest of the request and of its response; this is about the transport.
enum HTTPEnding: UInt8, CaseIterable {
    /// Requests are taken and answered.
    case serving
    /// The last response has been written; what still arrives is thrown away until the client ends its side. Closing with
    /// bytes unread would reset the connection and might take the response with it (RFC 9112 section 9.6).
    case lingering
    /// The channel is closed.
    case closed
    /// The channel is a WebSocket's.
    case upgraded

    enum Event: CaseIterable {
        /// The last response is written, and its request may not have arrived in whole.
        case answered
        /// The last response is written, and everything before it was read.
        case concluded
        /// The client ends its sending side. It still waits for its responses.
        case inputEnded
        /// The client has had its time to end its side.
        case timedOut
        /// The connection is given up at once, so that a part of a response isn't taken for the whole.
        case cut
        /// The transport has failed.
        case failed
        /// A WebSocket gets the channel.
        case upgraded
    }

    /// The next step for the channel.
    enum Action {
        /// Ends the outgoing stream and waits for the end of the incoming one.
        case linger
        /// Closes when everything is sent.
        case closeWhenSent
        case reset
        /// Lets go of it, as it has closed.
        case release
        /// Gives it to the WebSocket.
        case handOver
    }

    /// The state after an event.
    func next(_ event: Event) -> HTTPEnding {
        switch (self, event) {
        case (.serving, .answered): .lingering
        case (.serving, .upgraded): .upgraded
        case (.serving, .concluded), (.serving, .cut), (.serving, .failed): .closed
        case (.lingering, .inputEnded), (.lingering, .timedOut), (.lingering, .cut), (.lingering, .failed): .closed
        case (.serving, _), (.lingering, _), (.closed, _), (.upgraded, _): self
        }
    }

    /// Takes an event.
    ///
    /// - Returns: the next step; `nil` if the event changes nothing.
    mutating func take(_ event: Event) -> Action? {
        let next = next(event)
        guard next != self else { return nil }
        self = next
        return switch event {
        case .answered: .linger
        case .concluded, .inputEnded, .timedOut: .closeWhenSent
        case .cut: .reset
        case .failed: .release
        case .upgraded: .handOver
        }
    }
}
