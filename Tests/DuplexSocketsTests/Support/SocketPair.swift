// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestTimes

/// Two connected sockets, on loops of their own, closed on the way out.
func withPair(_ body: (Socket, Socket) async throws -> Void) async throws {
    let group = try EventLoopGroup(loops: 2)
    let listener = try SocketListener.bind(.tcp(host: "127.0.0.1", port: 0), on: group)
    var iterator = listener.makeAsyncIterator()
    async let accepted = iterator.next()
    let near = try await Socket.connect(to: .address(listener.localAddress), on: group)
    guard let far = try await accepted else { throw CancellationError() }
    do {
        try await body(near, far)
    } catch {
        await end(near, far, listener, group)
        throw error
    }
    await end(near, far, listener, group)
}

private func end(_ near: Socket, _ far: Socket, _ listener: SocketListener, _ group: EventLoopGroup) async {
    await near.reset()
    await far.reset()
    await listener.close()
    await group.stop()
}

/// Reads to the end, and gives how it ended.
///
/// It begins when the gate ends: on the socket's loop, however busy the tasks of the others are.
func drain(
    _ socket: isolated Socket,
    behind gate: AsyncStream<Void>? = nil
) async -> (count: Int, end: SocketError.Code?) {
    if let gate { for await _ in gate {} }
    var count = 0
    do {
        while let bytes = try await socket.read(timeout: .limit(seconds: 60)) { count += bytes.count }
        return (count, nil)
    } catch {
        return (count, (error as? SocketError)?.code)
    }
}

/// Closes a socket, and ends a gate in the same moment.
func close(_ socket: isolated Socket, _ opening: AsyncStream<Void>.Continuation) {
    socket.close()
    opening.finish()
}
