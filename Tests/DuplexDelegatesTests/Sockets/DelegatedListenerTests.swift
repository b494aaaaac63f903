// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Dispatch
import DuplexTestTimes
import Glibc
import Testing

@testable import DuplexDelegates
@testable import DuplexSockets

@Suite("A listener with a delegate", .timeLimit(minutes: 1)) struct DelegatedListenerTests {
    /// Echoes by lines, where it takes a connection.
    private final class Echo: SocketListenerDelegate, SocketDelegate, Sendable {
        let isTaking: Bool
        let ended: AsyncStream<SocketError.Code?>
        private let end: AsyncStream<SocketError.Code?>.Continuation

        init(isTaking: Bool = true) {
            self.isTaking = isTaking
            (ended, end) = AsyncStream.makeStream()
        }

        func listener(_ listener: DelegatedListener, didAccept socket: DelegatedSocket) {
            guard isTaking else { return }
            socket.setDelegate(self)
            try? socket.readData(to: "\n")
        }

        func socket(_ socket: DelegatedSocket, didRead bytes: [UInt8], tag: Int) {
            try? socket.write(bytes)
            try? socket.readData(to: "\n")
        }

        func listener(_ listener: DelegatedListener, didStopWith error: SocketError?) { end.yield(error?.code) }
    }

    @Test(
        "What it accepts are sockets with delegates, with TLS and without; closing leaves them open",
        arguments: [false, true]
    )
    func echo(isSecured: Bool) async throws {
        let identity = try TLSIdentity.selfSigned(for: ["localhost"])
        let echo = Echo()
        let listener = DelegatedListener(delegate: echo, queue: DispatchQueue(label: "duplex.tests"))
        #expect(listener.localAddress == nil)
        try listener.listen(on: .tcp(host: "127.0.0.1", port: 0), tls: isSecured ? .patient(identity) : nil)
        #expect(throws: SocketError.self) { try listener.listen(on: .tcp(port: 0)) }
        let port = try #require(listener.localAddress).port
        var options = ConnectOptions.patient
        options.tls.trust = .roots(identity.certificates)
        let endpoint = isSecured ? Endpoint.tls("localhost", port: port) : .host("127.0.0.1", port: port)
        let sockets = [
            try await Socket.connect(to: endpoint, options: options),
            try await Socket.connect(to: endpoint, options: options),
        ]
        for (index, socket) in sockets.enumerated() {
            try await socket.write("hello \(index)\n")
            #expect(try await socket.readLine() == "hello \(index)")
        }
        listener.close()
        #expect(await echo.ended.first { _ in true } == .some(nil))
        try await sockets[0].write("still there\n")
        #expect(try await sockets[0].readLine() == "still there")
        for socket in sockets { await socket.close() }
    }

    @Test("A connection that nobody takes is reset")
    func nobody() async throws {
        let echo = Echo(isTaking: false)
        let listener = DelegatedListener(delegate: echo, queue: .global())
        try listener.listen(on: .tcp(host: "127.0.0.1", port: 0))
        let address = try #require(listener.localAddress)
        let error = await #expect(throws: SocketError.self) {
            _ = try await Socket.connect(to: .address(address), options: .patient).read()
        }
        // It may be reset before this side has seen that it is there.
        #expect(error?.code == .connectionReset || error?.causes.first?.errno == ECONNRESET)
        listener.close()
        #expect(await echo.ended.first { _ in true } == .some(nil))
    }

    @Test("What can't be bound is an error; what was closed before doesn't listen")
    func refused() async throws {
        let taken = try SocketListener.bind(.tcp(host: "127.0.0.1", port: 0))
        let listener = DelegatedListener(delegate: nil, queue: .global())
        let error = #expect(throws: SocketError.self) {
            try listener.listen(on: .tcp(host: "127.0.0.1", port: taken.localAddress.port))
        }
        #expect(error?.code == .cannotBind)
        listener.close()
        #expect(throws: SocketError.self) { try listener.listen(on: .tcp(host: "127.0.0.1", port: 0)) }
        await taken.close()
    }

    @MainActor
    private final class Door: @MainActor SocketListenerDelegate, @MainActor SocketDelegate {
        private(set) var guests = 0
        private let came: AsyncStream<Void>.Continuation

        init(_ came: AsyncStream<Void>.Continuation) { self.came = came }

        func listener(_ listener: DelegatedListener, didAccept socket: DelegatedSocket) {
            socket.delegate = self
            guests += 1
            came.yield()
        }
    }

    @Test("A delegate of the main actor gets the connections there") @MainActor
    func mainActor() async throws {
        let (coming, came) = AsyncStream<Void>.makeStream()
        let door = Door(came)
        let listener = DelegatedListener(delegate: door)
        try listener.listen(on: .tcp(host: "127.0.0.1", port: 0))
        let address = try #require(listener.localAddress)
        let socket = try await Socket.connect(to: .address(address), options: .patient)
        for await _ in coming { break }
        #expect(door.guests == 1)
        await socket.close()
        listener.close()
    }
}
