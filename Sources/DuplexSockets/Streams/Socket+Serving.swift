// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DequeModule

// The task of a listener's handler, whose waits are the cheapest.

extension Socket {
    /// The identity of the reads of the handler's own task: they are cancelled together, so none needs one of its own.
    static let handlerRead: UInt64 = 0

    /// Runs the handler of a connection.
    ///
    /// That the task is cancelled is heard of once, for all of its reads, instead of by each: to ask for it takes a lock of
    /// the runtime twice for each wait.
    func run(_ handler: @Sendable (isolated Socket) async throws -> Void) async throws {
        handlerTask = .current
        defer { handlerTask = .none }
        try await withTaskCancellationHandler {
            try await handler(self)
        } onCancel: {
            loop.execute { _ in self.assumeIsolated { $0.cancelHandlerReads() } }
        }
    }

    private func cancelHandlerReads() {
        while let index = readers.firstIndex(where: { $0.waiter.id == Self.handlerRead }) {
            endRead(at: index, .failure(CancellationError()))
        }
        serveReaders()
    }
}
