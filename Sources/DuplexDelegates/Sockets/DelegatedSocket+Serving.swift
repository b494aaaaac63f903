// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Synchronization

// From the socket to the delegate.

extension DelegatedSocket {
    var isOver: Bool { shared.withLock { $0.isOver } }
    var isSilent: Bool { shared.withLock { $0.isSilent } }

    /// Serves what is asked for, until the connection ends; then the delegate gets the end.
    func begin(_ socket: Socket) async {
        watch(socket)
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await self.serveReads(on: socket)
                await self.close(socket) { $0.hasServedReads = true }
            }
            group.addTask {
                await self.serveWrites(on: socket)
                await self.close(socket) { $0.hasServedWrites = true }
            }
        }
        await stopWatching()
        await socket.close()
        await ended()
    }

    /// Closes the socket if nothing is waited for any more.
    private func close(_ socket: Socket, _ note: @Sendable (inout Shared) -> Void) async {
        let isDone = shared.withLock { shared in
            note(&shared)
            guard !shared.isOver, let closing = shared.closing else { return false }
            let isDone = (shared.hasServedReads || !closing.reads) && (shared.hasServedWrites || !closing.writes)
            if isDone { shared.isOver = true }
            return isDone
        }
        if isDone { await socket.close() }
    }

    /// Ends the connection with an error, unless it is over already.
    ///
    /// It is none where this side has closed the socket itself.
    private func fail(_ socket: Socket, _ error: any Error) async {
        let ending = SocketError(ending: error)
        let error = ending.code == .closed ? nil : ending
        let isFirst = shared.withLock { shared in
            guard !shared.isOver else { return false }
            (shared.isOver, shared.failure, shared.state) = (true, error, .closing)
            return true
        }
        guard isFirst else { return }
        orders.finishReads()
        orders.finishWrites()
        await socket.close()
    }

    // MARK: Reads

    private func serveReads(on socket: Socket) async {
        for await order in orders.reads {
            switch order {
            case .read(let read):
                if !isOver { await serve(read, on: socket) }
                shared.withLock { $0.queuedReads -= 1 }
            case .secure(let securing):
                if !isOver { await secure(socket, securing) }
                securing.endSecuring()
            }
        }
    }

    private func serve(_ read: SocketOrders.Read, on socket: Socket) async {
        do {
            shared.withLock { $0.isReading = true }
            guard let bytes = try await read.take(socket) else { return await endOfStream(of: socket) }
            shared.withLock { $0.bytesReceived += UInt64(bytes.count) }
            await tell { $0.socket(self, didRead: bytes, tag: read.tag) }
            let served = shared.withLock { shared in
                shared.isReading = false
                return shared.served
            }
            served?.yield()
        } catch let error as SocketError where error.code == .endOfStream {
            await endOfStream(of: socket, error)
        } catch {
            await fail(socket, error)
        }
    }

    /// The peer has finished, and nothing is left, or not what a read asks for.
    private func endOfStream(of socket: Socket, _ error: SocketError? = nil) async {
        let isFirst = shared.withLock { shared in
            defer { shared.isAtEndOfStream = true }
            return !shared.isAtEndOfStream
        }
        // A read and the watcher may both see it.
        guard isFirst else { return }
        await tell { $0.socketDidReachEndOfStream(self) }
        guard closesAtEndOfStream else { return }
        // What waits to be written may be the answer that the peer still reads.
        shared.withLock { shared in
            guard !shared.isOver else { return }
            shared.failure = error ?? SocketError(.endOfStream, message: "The peer has finished writing.")
            (shared.state, shared.closing) = (.closing, (false, true))
        }
        orders.finishReads()
        orders.finishWrites()
        await close(socket) { _ in }
    }

    // MARK: Whether the peer is still there

    /// Looks whether the peer finishes while nobody reads.
    ///
    /// What comes instead is left for the next read, behind which this looks again.
    private func watch(_ socket: Socket) {
        let (reads, served) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        served.yield()
        let watcher = Task {
            do {
                for await _ in reads where try await !socket.waitForInput() {
                    // Behind what is being read: the delegate hears of that first, and then this looks again.
                    if !shared.withLock({ $0.isReading }) { return await endOfStream(of: socket) }
                }
            } catch {
                if !(error is CancellationError) { await fail(socket, error) }
            }
        }
        shared.withLock { ($0.watcher, $0.served) = (watcher, served) }
    }

    private func stopWatching() async {
        guard let watcher = shared.withLock({ $0.watcher.take() }) else { return }
        watcher.cancel()
        await watcher.value
    }

    // MARK: TLS

    private func secure(_ socket: Socket, _ securing: SocketOrders.Securing) async {
        await securing.waitForWrites()
        // It would take the first byte of the handshake for one of the stream's.
        await stopWatching()
        guard !isOver else { return }
        do {
            switch securing.role {
            case .client(let options): try await socket.startTLS(options)
            case .server(let options): try await socket.startTLS(options)
            }
            let tls = await socket.tls
            shared.withLock { $0.tls = tls }
            await tell { $0.socketDidSecure(self) }
            watch(socket)
        } catch {
            await fail(socket, error)
        }
    }

    // MARK: Writes

    private func serveWrites(on socket: Socket) async {
        for await order in orders.writes {
            switch order {
            case .write(let write):
                if !isOver { await serve(write, on: socket) }
            case .secure(let securing):
                securing.endWriting()
                await securing.waitUntilOver()
            }
        }
    }

    private func serve(_ write: SocketOrders.Write, on socket: Socket) async {
        do {
            try await self.write(write, to: socket)
            note(write)
            shared.withLock { $0.bytesSent += UInt64(write.bytes.count) }
            await tell { $0.socket(self, didWriteWithTag: write.tag) }
        } catch {
            note(write)
            await fail(socket, error)
        }
    }

    /// It doesn't wait here any more.
    private func note(_ write: SocketOrders.Write) {
        shared.withLock { shared in
            shared.queuedWrites -= 1
            shared.queuedBytes -= write.bytes.count
        }
    }

    // MARK: The delegate

    /// Calls the delegate on its queue, unless it has disconnected, and waits until it has returned.
    ///
    /// What was read or written before the connection failed is reported before the failure, however long the queue takes.
    func tell(_ call: @escaping @Sendable (any SocketDelegate) -> Void) async {
        await delegates.call(if: { !self.isSilent }, call)
    }

    /// The connection has ended, or there is none: the delegate hears why.
    func ended() async {
        let failure = shared.withLock { shared in
            (shared.state, shared.connecting, shared.served) = (.closed, nil, nil)
            (shared.queuedBytes, shared.queuedReads, shared.queuedWrites) = (0, 0, 0)
            return shared.failure
        }
        orders.finishReads()
        orders.finishWrites()
        await delegates.call { $0.socket(self, didDisconnectWith: failure) }
        shared.withLock { $0.socket = nil }
    }
}
