// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DequeModule

// TLS in the middle of a stream.

extension Socket {
    /// What TLS has agreed on; `nil` while the connection isn't secured.
    public var tls: TLSConnection? { channel.value.tlsConnection }

    /// Secures the connection as its client: what was written before goes out in the clear, what is written from now on
    /// goes out secured, or not at all.
    ///
    /// Reads that wait already are served first, from what arrives in the clear. What has arrived after that counts as
    /// the beginning of the peer's handshake and never as something that was read: bytes that an attacker has injected
    /// there (CVE-2011-0411) make the handshake fail. Reads that come later wait for its end.
    ///
    /// ```swift
    /// try await socket.write("STARTTLS\r\n")
    /// guard try await socket.readLine()?.hasPrefix("220 ") == true else { … }
    /// try await socket.startTLS()
    /// ```
    ///
    /// Wait for a file that is still being written first. Cancelling resets the connection, as a handshake can't be
    /// resumed.
    ///
    /// - Parameter options: what to trust and what to offer. The handshake has ``TLSOptions/handshakeTimeout`` from
    ///   when its turn comes.
    /// - Throws: ``SocketError`` with ``SocketError/Code/untrustedPeer``, ``SocketError/Code/tls`` or
    ///   ``SocketError/Code/timedOut``, and the connection is closed; `CancellationError`.
    public func startTLS(_ options: TLSOptions = TLSOptions()) async throws {
        try SocketError.check(options.durations)
        let context = try options.context()
        try await startTLS(context, serverName: options.serverName ?? host, options.handshakeTimeout)
    }

    /// Secures the connection as its server; see ``startTLS(_:)-(TLSOptions)``.
    public func startTLS(_ options: TLSServerOptions) async throws {
        try SocketError.check(options.durations)
        let context = try options.context()
        try await startTLS(context, serverName: nil, options.handshakeTimeout)
    }

    private func startTLS(_ context: TLSContext, serverName: String?, _ timeout: Duration) async throws {
        if let failure { throw failure }
        if channel.value.isSecured {
            throw SocketError(.tls, message: "The connection is secured already, or is about to be.")
        }
        if !transfers.isEmpty {
            throw SocketError(.tls, message: "A file is still being written in the clear: wait for its end first.")
        }
        try Task.checkCancellation()
        try channel.value.prepareTLS(context, serverName: serverName, timeout: timeout, loop: loop) { [weak self] in
            self?.handshakeEnded($0)
        }
        let id = nextID()
        _ = try await waitOnLoop(id: id) { waiter in
            waitForHandshake(waiter)
        } onCancel: {
            loop.execute { _ in self.assumeIsolated { $0.cancelHandshake(id) } }
        }
    }

    private func waitForHandshake(_ waiter: Waiter<[UInt8]?>) {
        if Task.isCancelled {
            waiter.resume(throwing: CancellationError())
            reset()
            return
        }
        var reader = Reader(waiter: waiter, goal: .available(upTo: 1), began: channel.value.core.now)
        reader.securesStream = true
        readers.append(reader)
        if readers.count == 1 { serveReaders() }
    }

    /// Begins the handshake that is the first to be served, or finds that it is over.
    ///
    /// - Returns: whether it has to be waited for.
    func beginsHandshake() -> Bool {
        if let failure {
            endFirstRead(.failure(failure))
            return false
        }
        if channel.value.tlsConnection != nil {
            endFirstRead(.success(nil))
            return false
        }
        channel.value.isReading = false
        // It may fail at once, and then nobody waits any more.
        channel.value.startTLS(early: input.takeAll())
        return true
    }

    private nonisolated func handshakeEnded(_ result: Result<TLSConnection, SocketError>) {
        onLoop(loop, result) { socket, result in
            switch result {
            case .success: socket.serveReaders()
            case .failure(let error): socket.end(error)
            }
        }
    }

    private func cancelHandshake(_ id: UInt64) {
        guard let index = readers.firstIndex(where: { $0.waiter.id == id }) else { return }
        endRead(at: index, .failure(CancellationError()))
        reset()
    }
}
