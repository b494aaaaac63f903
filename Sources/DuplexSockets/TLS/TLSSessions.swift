// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

internal import CDuplexOpenSSL
import Synchronization

/// The sessions that a client can resume, by the name of the server.
final class TLSSessions: Sendable {
    /// A server sends two tickets as a rule; more are kept for several connections at once.
    private static let sessionsPerName = 4
    /// The most names; beyond that the one that was used longest ago is forgotten.
    private static let namesAtMost = 256

    private struct State {
        var byName: [String: [SessionReference]] = [:]
        /// The names, the one that was used longest ago first.
        var order: [String] = []
    }

    private let state = Mutex(State())

    /// Keeps a session for later connections to that name.
    func add(_ session: SessionReference, for name: String) {
        state.withLock { state in
            state.order.removeAll { $0 == name }
            state.order.append(name)
            state.byName[name, default: []].append(session)
            if state.byName[name, default: []].count > Self.sessionsPerName { state.byName[name]?.removeFirst() }
            if state.order.count > Self.namesAtMost { state.byName[state.order.removeFirst()] = nil }
        }
    }

    /// A session to resume, which nobody else gets, so that connections can't be linked by it (RFC 8446 appendix C.4).
    func take(for name: String) -> SessionReference? {
        state.withLock { state in
            while let session = state.byName[name]?.popLast() {
                if session.isResumable { return session }
            }
            return nil
        }
    }

    /// Forgets the sessions with a name, whose server may have changed.
    func removeAll(for name: String) {
        state.withLock { $0.byName[name] = nil }
    }
}

/// A session in the form of OpenSSL.
// `@unchecked`: the pointer isn't Sendable. OpenSSL counts its references with atomics, and a session isn't changed once it
// was handed out (openssl-threads(7)).
@safe final class SessionReference: @unchecked Sendable {
    let pointer: OpaquePointer

    /// Takes over one reference.
    init(taking pointer: OpaquePointer) {
        unsafe self.pointer = unsafe pointer
    }

    deinit {
        unsafe SSL_SESSION_free(pointer)
    }

    var isResumable: Bool { unsafe SSL_SESSION_is_resumable(pointer) == 1 }
}
