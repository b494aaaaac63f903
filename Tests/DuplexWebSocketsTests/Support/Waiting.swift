// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Dispatch
import DuplexSockets
import DuplexWebSockets
import DuplexWire
import Testing

/// Starts a task that is isolated to a socket, and returns once it waits there for something.
func waiting<Result: Sendable>(
    on socket: WebSocket,
    _ body: @escaping @Sendable (isolated WebSocket) async throws -> Result
) async -> Task<Result, any Error> {
    let (begun, begin) = AsyncStream<Void>.makeStream()
    let task = Task { try await run(body, on: socket, begin) }
    for await _ in begun { break }
    // What was begun on the loop has come to its first wait before this comes to its turn.
    _ = await socket.state
    return task
}

private func run<Result: Sendable>(
    _ body: @Sendable (isolated WebSocket) async throws -> Result,
    on socket: isolated WebSocket,
    _ begin: AsyncStream<Void>.Continuation
) async throws -> Result {
    begin.yield()
    return try await body(socket)
}

/// Queues a binary message without waiting.
@discardableResult
func enqueue(_ bytes: [UInt8], on socket: isolated WebSocket) -> Bool {
    socket.enqueue(bytes.span.raw, .binary)
}

/// Queues messages until the system's buffers are full and a mebibyte waits on this side.
func fillOutput(of socket: WebSocket) async {
    let block = [UInt8](repeating: 0x5A, count: 1 << 20)
    while await socket.queuedBytes <= 1 << 20 {
        await enqueue(block, on: socket)
        await nextTurn(of: socket.loop)
    }
}

/// Keeps a loop, and with it its time, from going on until the body has ended, and then runs `next` on it.
///
/// What the body has brought about is received before any timer fires that `next` starts. The body must not need the loop.
func holding(
    _ loop: EventLoop,
    then next: @escaping @Sendable () -> Void,
    while body: () async throws -> Void
) async throws {
    let gate = DispatchSemaphore(value: 0)
    await withCheckedContinuation { continuation in
        loop.execute { _ in
            continuation.resume()
            gate.wait()
            next()
        }
    }
    defer { gate.signal() }
    try await body()
}

/// Waits until the loop has sent what it can and begins its next turn.
func nextTurn(of loop: EventLoop) async {
    await withCheckedContinuation { continuation in
        loop.execute { _ in continuation.resume() }
    }
}

/// Expects that the body fails with a WebSocket's error of that code.
func expect<Result>(
    _ code: WebSocketError.Code,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws -> Result
) async {
    await #expect(sourceLocation: sourceLocation) {
        _ = try await body()
    } throws: {
        ($0 as? WebSocketError)?.code == code
    }
}

/// Takes what a sequence gives, and what it ends with, which needs no cast.
func taken<Element>(
    _ sequence: some AsyncSequence<Element, WebSocketError>
) async -> (elements: [Element], error: WebSocketError?) {
    var elements: [Element] = []
    do throws(WebSocketError) {
        for try await element in sequence { elements.append(element) }
        return (elements, nil)
    } catch {
        return (elements, error)
    }
}

/// A task that takes from a sequence of that connection, once it waits there.
func waiting<Element: Sendable, Sequence: AsyncSequence<Element, WebSocketError> & Sendable>(
    on socket: WebSocket,
    for sequence: Sequence
) async -> Task<WebSocketError?, any Error> {
    await waiting(on: socket) { _ in await taken(sequence).error }
}
