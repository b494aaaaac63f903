// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// The callbacks of a datagram channel; all on the loop.
package protocol DatagramHandler: AnyObject {
    /// Something can be received, while ``DatagramChannel/isReading`` is set.
    func readable()

    /// Something can be sent, while ``DatagramChannel/isWriting`` is set.
    func writable()

    /// The network has given something back, such as that nobody listens where a connected socket sends to.
    ///
    /// The channel lives on.
    func reported(_ code: Int32)

    /// The channel is closed.
    func ended(_ error: SocketError)
}

/// One datagram socket on its loop: asks the poller, receives through the loop's buffer, sends.
///
/// Belongs to its loop's thread.
package final class DatagramChannel: DescriptorHandler {
    package let core: LoopCore
    /// The family that the socket was made for.
    package let family: AddressFamily
    private let port: Int
    /// The descriptor; -1 once it is closed.
    package private(set) var descriptor: Int32
    /// The room for each datagram that is received.
    package var maximumSize = DatagramChannel.largestSize
    /// The handler; not kept alive.
    package weak var handler: (any DatagramHandler)?
    private var interest: Readiness = []
    private var isWatched = false
    private var reads = false
    private var writes = false

    /// No datagram is larger: the length of one has 16 bits (RFC 768).
    package static let largestSize = 65_535

    /// Takes over a non-blocking datagram socket.
    ///
    /// - Parameters:
    ///   - descriptor: the socket, bound.
    ///   - family: the family that it was made for.
    ///   - port: the port that it is bound to.
    ///   - core: the loop.
    package init(descriptor: Int32, family: AddressFamily, port: Int, core: LoopCore) {
        self.descriptor = descriptor
        self.family = family
        self.port = port
        self.core = core
    }

    package var isOpen: Bool { descriptor >= 0 }

    /// Whether the handler is called when something can be received.
    ///
    /// Turning it off costs nothing: the poller stops watching only when something arrives that isn't wanted.
    package var isReading: Bool {
        get { reads }
        set {
            reads = newValue
            if newValue && !interest.contains(.readable) { updateInterest() }
        }
    }

    /// Whether the handler is called when something can be sent.
    package var isWriting: Bool {
        get { writes }
        set {
            writes = newValue
            // Unlike a datagram that nobody reads, room to send is there all the time.
            if newValue != interest.contains(.writable) { updateInterest() }
        }
    }

    // MARK: Datagrams

    /// Receives what is there, without waiting; see ``DatagramCalls/receive(_:upTo:size:port:in:)``.
    package func receive(upTo count: Int) -> DatagramCalls.ReceiveResult {
        DatagramCalls.receive(descriptor, upTo: count, size: maximumSize, port: port, in: core.receiveBuffer)
    }

    /// Sends, without waiting; see ``DatagramCalls/send(_:_:family:in:)``.
    package func send(_ datagrams: ArraySlice<Datagram>) -> TransferResult {
        DatagramCalls.send(datagrams, descriptor, family: family, in: core.receiveBuffer)
    }

    package func ready(_ readiness: Readiness) {
        if readiness.contains(.failed) { takeError() }
        if isOpen && readiness.contains(.writable) {
            if isWriting { handler?.writable() } else { updateInterest() }
        }
        if isOpen && readiness.contains(.readable) {
            if isReading { handler?.readable() } else { updateInterest() }
        }
    }

    /// Asks for the error that the poller reports, which is gone by that.
    private func takeError() {
        let code = SystemCalls.pendingError(descriptor)
        if code != 0 {
            handler?.reported(code)
        } else if !DatagramCalls.dropQueuedError(descriptor) && !isReading && !isWriting && isWatched {
            // Nothing that could be taken away, and it would be reported for ever.
            core.unwatch(descriptor)
            isWatched = false
            interest = []
        }
    }

    package func loopStopped() {
        let handler = handler
        close()
        handler?.ended(SocketError(.loopStopped, message: "The event loop was stopped while the socket was open."))
    }

    /// Closes at once.
    package func close() {
        guard isOpen else { return }
        if isWatched { core.unwatch(descriptor) }
        isWatched = false
        SystemCalls.close(descriptor)
        descriptor = -1
        handler = nil
    }

    // MARK: What the poller watches

    private func updateInterest() {
        guard isOpen else { return }
        var wanted: Readiness = []
        if reads { wanted.insert(.readable) }
        if writes { wanted.insert(.writable) }
        guard wanted != interest || !isWatched else { return }
        interest = wanted
        if isWatched {
            core.modify(descriptor, interest: wanted)
        } else {
            watch(for: wanted)
        }
    }

    private func watch(for wanted: Readiness) {
        do {
            try core.watch(descriptor, for: wanted, handler: self)
            isWatched = true
        } catch {
            let handler = handler
            close()
            handler?.ended(error)
        }
    }
}
