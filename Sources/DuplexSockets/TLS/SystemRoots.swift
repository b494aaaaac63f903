// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization

/// The roots of the system: one store for the process, read once, on a thread of its own.
///
/// Reading takes 40 to 200 ms, so neither a loop nor the thread of the caller does it. A store without certificates, and an
/// error, aren't kept: the next connection has them read again.
final class SystemRoots: Sendable {
    typealias Completion = @Sendable (Result<RootStore, SocketError>) -> Void

    private enum State {
        case unread
        case reading([Completion])
        case read(RootStore)
    }

    /// The roots that all options share.
    static let shared = SystemRoots { () throws(SocketError) in try RootStore.system() }

    private let threads = BlockingThreads(name: "duplex-roots", limit: 1)

    private let state = Mutex(State.unread)
    private let body: @Sendable () throws(SocketError) -> RootStore

    /// Makes a place for roots.
    ///
    /// - Parameter body: reads them; it may block.
    init(_ body: @escaping @Sendable () throws(SocketError) -> RootStore) {
        self.body = body
    }

    /// The roots; `nil` before they are read.
    var store: RootStore? {
        state.withLock { state in
            if case .read(let store) = state { store } else { nil }
        }
    }

    /// Has the roots read, so that they are there when a connection needs them.
    func prepare() {
        read { _ in }
    }

    /// Gets the roots.
    ///
    /// - Parameter completion: called once, at once if they are there, otherwise on the thread that reads them.
    func read(_ completion: @escaping Completion) {
        enum Step {
            case wait
            case begin
            case have(RootStore)
        }
        let step = state.withLock { state -> Step in
            switch state {
            case .read(let store): return .have(store)
            case .reading(let waiting):
                state = .reading(waiting + [completion])
                return .wait
            case .unread:
                state = .reading([completion])
                return .begin
            }
        }
        switch step {
        case .wait: break
        case .have(let store): completion(.success(store))
        case .begin:
            _ = threads.submit { [self] in
                do throws(SocketError) {
                    finish(.success(try body()))
                } catch {
                    finish(.failure(error))
                }
            } onFailure: { [self] error in
                finish(.failure(error))
            }
        }
    }

    /// Reads the roots on the caller's thread, for servers that ask clients for certificates of the system's roots: they are
    /// set up before they serve.
    func readNow() throws(SocketError) -> RootStore {
        if let store { return store }
        let made = try body()
        // Those that wait for the thread that reads, too, get what it reads.
        state.withLock { state in
            if case .unread = state, made.count > 0 { state = .read(made) }
        }
        return made
    }

    private func finish(_ result: Result<RootStore, SocketError>) {
        let waiting = state.withLock { state -> [Completion] in
            guard case .reading(let waiting) = state else { return [] }
            if case .success(let store) = result, store.count > 0 {
                state = .read(store)
            } else {
                state = .unread
            }
            return waiting
        }
        for completion in waiting { completion(result) }
    }
}
