// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// The state of a channel: who decides its end, and what happens to bytes that arrive and bytes that are written.
///
/// It has no descriptor, no buffer and no clock. What happens is handed in, and what is to be done comes out; an event that
/// comes too late changes nothing.
struct ChannelState: Sendable, Equatable {
    /// Who decides when the channel ends.
    enum Course: Sendable {
        /// Its owner.
        case owned
        /// Nobody: it closes once all that waits is sent, and takes nothing any more.
        case closingWhenSent
        /// Nobody: it ends the outgoing stream after what waits, throws away what arrives, and closes once the peer has
        /// ended its side.
        case leaving
        /// It has ended.
        case closed
    }

    /// What happens to bytes that arrive.
    enum Input: Sendable {
        /// It stays in the system's buffer, which fills and slows the peer down.
        case paused
        case taken
        /// Nothing comes any more.
        case ended
    }

    /// What happens to bytes that are written.
    enum Output: Sendable, Equatable {
        case open
        /// The stream ends after what waits.
        case finishing
        case finished
        /// Nothing can be sent any more, with that error number, but nothing is lost that somebody wrote: reading goes on.
        case muted(Int32)
        /// Something that was written is lost; the channel fails with that error number at the end of the turn.
        case failed(Int32)
    }

    /// What is to be done once all output is sent.
    enum AllSent: Sendable, Equatable {
        case nothing
        /// The handler may send by itself.
        case sendMore
        case endStream
        case endStreamAndLinger
        /// Give the peer a moment to end its side, too.
        case linger
        case close
    }

    /// What is to be done when the time to end is over.
    enum TimedOut: Sendable {
        case close
        case reset
    }

    private(set) var course = Course.owned
    private(set) var input = Input.paused
    private(set) var output = Output.open

    var isOpen: Bool { course != .closed }

    /// Whether what is written is sent.
    var canWrite: Bool {
        if case .open = output { course == .owned } else { false }
    }

    /// The error number that sending has failed with.
    var sendFailure: Int32? {
        switch output {
        case .open, .finishing, .finished: nil
        case .muted(let code), .failed(let code): code
        }
    }

    /// Whether the outgoing stream ends behind what waits.
    var endsOutput: Bool {
        course != .owned || output == .finishing || output == .finished
    }

    // MARK: Input

    /// Has what arrives be taken, or left where it is.
    ///
    /// - Returns: whether it is taken from here on: a channel that ends by itself is kept from it by nobody.
    mutating func read(_ isWanted: Bool) -> Bool {
        guard course == .owned, input != .ended else { return false }
        input = isWanted ? .taken : .paused
        return isWanted
    }

    /// The peer has ended its side.
    mutating func endInput() {
        input = .ended
    }

    /// Whether the channel closes now that the handler knows of the peer's end.
    ///
    /// - Parameter isEmpty: whether nothing waits to be sent.
    /// - Returns: whether it closes.
    func closesAfterInput(isEmpty: Bool) -> Bool {
        course == .leaving && isEmpty
    }

    // MARK: Output

    /// A send has failed; reported at the end of the turn.
    mutating func sendFailed(_ code: Int32) {
        guard isOpen, sendFailure == nil else { return }
        output = .failed(code)
    }

    /// What could not be sent is nothing that somebody wrote.
    mutating func mute() {
        if case .failed(let code) = output, course == .owned { output = .muted(code) }
    }

    /// Somebody writes, or ends the stream, behind a failed send: what was muted fails.
    ///
    /// - Returns: whether the channel fails now by that.
    mutating func missOutput() -> Bool {
        guard case .muted(let code) = output else { return false }
        output = .failed(code)
        return true
    }

    /// The outgoing stream is to end behind what waits.
    ///
    /// - Returns: whether something has changed.
    mutating func finishWriting() -> Bool {
        guard canWrite else { return missOutput() }
        output = .finishing
        return true
    }

    /// All output is sent.
    ///
    /// - Parameter isHandshaking: whether the end of the stream has to wait: it goes out secured, and so behind the handshake.
    /// - Returns: what is to be done.
    mutating func allSent(isHandshaking: Bool) -> AllSent {
        switch (course, output) {
        case (.owned, .open): return .sendMore
        case (.closingWhenSent, _): return .close
        case (.owned, .finishing):
            if isHandshaking { return .nothing }
            output = .finished
            return .endStream
        case (.leaving, .finishing):
            output = .finished
            return .endStreamAndLinger
        case (.leaving, .finished): return .linger
        case (.owned, _), (.leaving, _), (.closed, _): return .nothing
        }
    }

    // MARK: The end

    /// Closes once all is sent; nothing is taken any more.
    mutating func closeWhenSent() {
        guard isOpen else { return }
        if input == .taken { input = .paused }
        course = .closingWhenSent
        _ = missOutput()
    }

    /// Goes on without an owner until both sides have ended.
    ///
    /// - Parameter isForced: whether the peer is heard to its end even by a channel that only closes once all is sent.
    mutating func leave(isForced: Bool = false) {
        guard isOpen else { return }
        if input == .paused { input = .taken }
        if course == .owned || isForced { course = .leaving }
        if output == .open { output = .finishing }
        _ = missOutput()
    }

    /// What the end of the time that a channel has for its end comes to.
    ///
    /// - Parameter isEmpty: whether nothing waits to be sent.
    /// - Returns: what is to be done.
    func timedOut(isEmpty: Bool) -> TimedOut {
        course == .leaving && isEmpty ? .close : .reset
    }

    /// It has ended.
    mutating func close() {
        course = .closed
    }
}
