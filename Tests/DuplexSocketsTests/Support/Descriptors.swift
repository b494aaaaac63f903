// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Glibc
import Testing

@testable import DuplexSockets

/// Descriptors as the system gives them, for what lies below a socket.
enum Descriptors {
    /// Waits until a descriptor is ready; not for ever.
    static func isReady(_ descriptor: Int32, for events: Int32 = POLLIN, milliseconds: Int32 = 10_000) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        return unsafe poll(&entry, 1, milliseconds) == 1
    }

    /// What arrives next; empty at the end of the stream, `nil` for an error.
    static func read(_ descriptor: Int32) -> [UInt8]? {
        guard isReady(descriptor) else { return nil }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let result = unsafe bytes.withUnsafeMutableBytes { unsafe SystemCalls.receive(descriptor, into: $0) }
        guard case .transferred(let count) = result else { return nil }
        return Array(bytes.prefix(count))
    }

    static func send(_ descriptor: Int32, _ bytes: [UInt8]) -> TransferResult {
        unsafe bytes.withUnsafeBytes { unsafe SystemCalls.send(descriptor, $0) }
    }

    /// Takes the next connection of a listening descriptor.
    static func accept(_ listener: Int32) throws -> Int32 {
        try #require(isReady(listener))
        guard case .accepted(let descriptor, _) = SystemCalls.accept(listener) else { throw CancellationError() }
        return descriptor
    }

    /// A descriptor that listens on 127.0.0.1, or where it is told to.
    static func listener(
        host: String = "127.0.0.1",
        port: Int = 0,
        backlog: Int32 = 16
    ) throws -> (descriptor: Int32, address: SocketAddress) {
        let sockets = try ListeningSockets(.tcp(host: .address(host), port: port), loops: 1, backlog: backlog)
        return (try #require(sockets.perLoop.first?.first), try #require(sockets.address))
    }

    /// A port that is taken but that nobody listens on, so that connecting to it is refused.
    static func refusing() throws -> (descriptor: Int32, address: SocketAddress) {
        let descriptor = try SystemCalls.streamSocket(.ipv4)
        let wanted = try SocketAddress("127.0.0.1", port: 0)
        let code = unsafe wanted.withSystemAddress { unsafe bind(descriptor, $0, $1) }
        try #require(code == 0)
        return (descriptor, try #require(SocketAddress.local(of: descriptor)))
    }

    /// A port that refuses datagrams too: the socket that holds it takes them from another port alone.
    static func refusingAll() throws -> (descriptors: [Int32], address: SocketAddress) {
        let another = try SocketAddress("127.0.0.1", port: 9)
        for _ in 0..<100 {
            let (stream, address) = try refusing()
            let datagrams = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            if unsafe address.withSystemAddress({ unsafe bind(datagrams, $0, $1) }) == 0 {
                try #require(SystemCalls.connect(datagrams, to: another) == 0)
                return ([stream, datagrams], address)
            }
            // Somebody else has the port for UDP.
            for descriptor in [stream, datagrams] { SystemCalls.close(descriptor) }
        }
        throw SocketError(.cannotBind, message: "No port is free for both UDP and TCP.")
    }

    /// A listener whose backlog is full, so that connecting to it gets no answer.
    static func silent(
        host: String = "127.0.0.1",
        port: Int = 0
    ) throws -> (descriptors: [Int32], address: SocketAddress) {
        let (listener, address) = try listener(host: host, port: port, backlog: 0)
        var descriptors = [listener]
        for _ in 0..<4 {
            let filler = try SystemCalls.streamSocket(.ipv4)
            _ = SystemCalls.connect(filler, to: address)
            descriptors.append(filler)
        }
        return (descriptors, address)
    }

    /// Two descriptors that are connected over TCP.
    static func pair() throws -> (near: Int32, far: Int32) {
        let (listener, address) = try listener()
        defer { SystemCalls.close(listener) }
        let near = try SystemCalls.streamSocket(.ipv4)
        _ = SystemCalls.connect(near, to: address)
        return (near, try accept(listener))
    }
}

extension EventLoop {
    /// Runs `body` on the loop and waits for what it gives.
    func run<Value: Sendable>(_ body: @escaping @Sendable (LoopCore) throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            execute { core in continuation.resume(with: Result { try body(core) }) }
        }
    }
}

/// Runs `body` with a loop that is stopped afterwards.
func withLoop(_ body: (EventLoop) async throws -> Void) async throws {
    let loop = try EventLoop()
    do {
        try await body(loop)
    } catch {
        await loop.stop()
        throw error
    }
    await loop.stop()
}
