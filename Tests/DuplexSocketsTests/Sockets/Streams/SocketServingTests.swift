// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite struct SocketServingTests {
    @Test("Cancelling a listener ends the reads of its handlers, and of the tasks that they have started")
    func cancelled() async throws {
        let (ends, continuation) = AsyncStream<Bool>.makeStream()
        let listener = try SocketListener.bind(.tcp(host: "127.0.0.1", port: 0))
        let server = Task {
            try await listener.serve { socket in
                try await socket.write("!")
                await withTaskGroup { group in
                    group.addTask {
                        let result = await Task { try await socket.read() }.cancelledWithParent()
                        continuation.yield(result)
                    }
                    do {
                        _ = try await socket.read()
                    } catch {
                        continuation.yield(error is CancellationError)
                    }
                }
            }
        }
        let client = try await Socket.connect(to: .address(listener.localAddress))
        #expect(try await client.read() == Array("!".utf8))
        server.cancel()
        _ = await server.result
        var count = 0
        for await isCancelled in ends {
            #expect(isCancelled)
            count += 1
            if count == 2 { break }
        }
        await client.reset()
    }

    @Test("A handler that reads after it was cancelled gets nothing, whatever has arrived")
    func late() async throws {
        let (ends, continuation) = AsyncStream<Bool>.makeStream()
        let listener = try SocketListener.bind(.tcp(host: "127.0.0.1", port: 0))
        let server = Task {
            try await listener.serve { socket in
                _ = try await socket.peek(5)
                unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                do {
                    _ = try await socket.read()
                    continuation.yield(false)
                } catch {
                    continuation.yield(error is CancellationError)
                }
            }
        }
        let client = try await Socket.connect(to: .address(listener.localAddress))
        try await client.write("hello")
        for await isCancelled in ends {
            #expect(isCancelled)
            break
        }
        server.cancel()
        _ = await server.result
        await client.reset()
    }
}

extension Task where Success == [UInt8]?, Failure == any Error {
    /// Whether it ends with cancellation, once it is cancelled with the task that waits for it.
    fileprivate func cancelledWithParent() async -> Bool {
        await withTaskCancellationHandler {
            if case .failure(let error) = await result { error is CancellationError } else { false }
        } onCancel: {
            cancel()
        }
    }
}
