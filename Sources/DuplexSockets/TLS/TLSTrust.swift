// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization

/// Which peers are trusted: whose certificates, and with which names and keys.
///
/// ```swift
/// options.trust = .systemRoots.pinned(to: ["sha256/…", "sha256/…"])
/// ```
public struct TLSTrust: Sendable {
    var isVerified = true
    /// The roots of the system, if they are trusted.
    var system: SystemRoots?
    var roots: [TLSCertificate] = []
    var checksName = true
    var pins: [String] = []
    var report: (@Sendable (TLSPeer) -> Void)?
    var decision: (@Sendable (TLSPeer) async -> Bool)?

    /// Certificates that lead to one of the system's roots, with the right name.
    ///
    /// The roots are read once in a process, on a thread of their own: a connection that comes before they are read waits for
    /// them, which is the stage ``StageEvent/Stage/roots``.
    public static let systemRoots = TLSTrust(system: .shared)

    /// Certificates that lead to one of these, with the right name; the system's roots are not trusted.
    public static func roots(_ roots: [TLSCertificate]) -> TLSTrust {
        TLSTrust(roots: roots)
    }

    /// Any certificate at all: whoever is on the way can read and change everything.
    ///
    /// For tests; or with ``pinned(to:reportOnly:)`` or ``decided(by:)``, which then are all that stands between.
    public static let insecure = TLSTrust(isVerified: false, checksName: false)

    /// The same, and certificates that lead to one of these.
    public func adding(_ roots: [TLSCertificate]) -> TLSTrust {
        changed { $0.roots += roots }
    }

    /// The same, with whatever name the certificate has.
    ///
    /// Hazard: anybody who has a certificate for any name can pretend to be this peer.
    public func withoutNameCheck() -> TLSTrust {
        changed { $0.checksName = false }
    }

    /// The same, as long as one of the certificates that lead to the root has one of these public keys (RFC 7469).
    ///
    /// - Parameters:
    ///   - pins: `sha256/` and the base64 of the SHA-256 of a key's SubjectPublicKeyInfo, as
    ///     ``TLSCertificate/pin`` gives it. Give a spare one whose key is kept elsewhere: without it, a lost key locks
    ///     everybody out.
    ///   - report: gets a peer whose keys are not among the pins, which isn't refused then. Called on the loop, so it must not
    ///     block. Default: such a peer is refused.
    /// - Returns: the trust with pins.
    public func pinned(to pins: [String], reportOnly report: (@Sendable (TLSPeer) -> Void)? = nil) -> TLSTrust {
        changed { ($0.pins, $0.report) = (pins, report) }
    }

    /// The same, but the last word is the caller's.
    ///
    /// - Parameter decision: gets the peer's certificates and why they would be refused, if they would. What it returns
    ///   counts, even where it accepts what would be refused: with care. Called once for each handshake that isn't resumed,
    ///   off the loop's way: the connection waits, within the time of its handshake, and others don't.
    /// - Returns: the trust with a decision.
    public func decided(by decision: @escaping @Sendable (TLSPeer) async -> Bool) -> TLSTrust {
        changed { $0.decision = decision }
    }

    var usesSystemRoots: Bool { system != nil }

    private func changed(_ change: (inout TLSTrust) -> Void) -> TLSTrust {
        var copy = self
        change(&copy)
        return copy
    }

    /// Says which pin can't be one.
    func checkPins() throws(SocketError) {
        for pin in pins {
            let digits = pin.utf8.dropFirst(7)
            let isBase64 = digits.dropLast().allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"):
                    true
                default: false
                }
            }
            guard pin.hasPrefix("sha256/"), digits.count == 44, digits.last == UInt8(ascii: "="), isBase64 else {
                throw SocketError(
                    .invalidCertificate,
                    message: "“\(pin)” is not a pin: it must be “sha256/” and the base64 of 32 bytes."
                )
            }
        }
    }
}

/// Who is at the other end, as its certificates say.
public struct TLSPeer: Sendable {
    /// What the peer sent, its own certificate first.
    public let certificates: [TLSCertificate]
    /// The name that was looked for in its certificate; `nil` for none.
    public let serverName: String?
    /// Why it would be refused; `nil` when its certificates are in order.
    public let failure: SocketError?
}

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
