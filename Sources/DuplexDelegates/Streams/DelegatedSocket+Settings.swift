// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets
import Synchronization

// What is known of the connection, and set for it.

extension DelegatedSocket {
    /// The states from here on, after the present one; ends after ``State/closed``.
    ///
    /// Any number of tasks may observe; one that falls more than 1,024 states behind loses the oldest.
    public var states: AsyncStream<State> { shared.withLock { $0.states }.observe() }

    /// Anything that the app wants to keep with the connection.
    public var userData: (any Sendable)? {
        get { shared.withLock { $0.userData } }
        set { shared.withLock { $0.userData = newValue } }
    }

    /// What TLS has agreed on; `nil` while the connection isn't secured.
    ///
    /// It stays after the end.
    public var tls: TLSConnection? { shared.withLock { $0.tls } }

    /// The number of bytes that reads have brought.
    public var bytesRead: UInt64 { shared.withLock { $0.bytesRead } }

    /// The number of bytes of the writes that have been served.
    public var bytesWritten: UInt64 { shared.withLock { $0.bytesWritten } }

    /// Sets options of the connection; those that are `nil` stay as they are.
    ///
    /// Before the connection is made they wait for it. The delegate gets those that the system refuses.
    ///
    /// - Parameter options: what to set, as in `Socket.setOptions(_:)`.
    /// - Throws: `SocketError` with `closed` once the connection has ended, with
    ///   `limitExceeded` when ``queueCount`` options wait, and with
    ///   `invalidArgument` for a duration that can't be set.
    public func setOptions(_ options: SocketOptions) throws {
        try SocketError.check(options.durations)
        let socket = try shared.withLock { shared -> Socket? in
            guard shared.state != .closed else { throw SocketError(.closed, message: "The socket has ended.") }
            guard shared.waitingOptions.count < queueCount else {
                throw SocketError(.limitExceeded, message: "\(queueCount) options wait.")
            }
            shared.waitingOptions.append(options)
            return shared.socket
        }
        if let socket { Task { await self.setWaitingOptions(of: socket) } }
    }

    /// Takes note of what is agreed upon, and sets what waits for the connection.
    func takeFacts(of socket: Socket) async {
        let tls = await socket.tls
        shared.withLock { $0.tls = tls }
        await setWaitingOptions(of: socket)
    }

    /// Sets the options in the order in which they came, one call at a time.
    private func setWaitingOptions(of socket: Socket) async {
        let isFirst = shared.withLock { shared in
            defer { shared.isSettingOptions = true }
            return !shared.isSettingOptions
        }
        guard isFirst else { return }
        while let options = nextOptions() {
            do {
                try await socket.setOptions(options)
            } catch {
                delegates.post(if: { !self.isSilent }, { $0.socket(self, didNotSet: options, error: error) })
            }
        }
    }

    private func nextOptions() -> SocketOptions? {
        shared.withLock { shared in
            guard shared.waitingOptions.isEmpty else { return shared.waitingOptions.removeFirst() }
            shared.isSettingOptions = false
            return nil
        }
    }
}
