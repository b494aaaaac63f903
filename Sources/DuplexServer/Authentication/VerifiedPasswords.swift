// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWebSockets
import DuplexWire
import Synchronization

/// Credentials that were right a moment ago: codes of them by a key that only this process has, and no passwords.
final class VerifiedPasswords: Sendable {
    private let codes = Mutex<[[UInt8]: Instant]>([:])
    private let key: [UInt8]

    /// The most that are remembered; of more, those that were verified first are forgotten.
    static let bound = 1_000
    /// For how long.
    static let lifetime = Duration.seconds(60)

    init() {
        var random = SystemRandomNumberGenerator()
        key = (0..<32).map { _ in .random(in: .min ... .max, using: &random) }
    }

    var isEmpty: Bool { codes.withLock { $0.isEmpty } }

    /// Whether the credentials were right with that hash, at most a minute ago.
    func contains(_ credentials: PasswordCredentials, _ hash: String, at instant: Instant) -> Bool {
        let code = code(credentials, hash)
        return codes.withLock { codes in
            codes[code].map { $0.duration(to: instant) < Self.lifetime } ?? false
        }
    }

    /// Remembers credentials that were right with that hash.
    func add(_ credentials: PasswordCredentials, _ hash: String, at instant: Instant) {
        let code = code(credentials, hash)
        codes.withLock { codes in
            if codes.count >= Self.bound {
                _ = codes.makeRoom(within: Self.bound) {
                    $0.value.duration(to: instant) < Self.lifetime
                } since: {
                    $0.value
                }
            }
            codes[code] = instant
        }
    }

    /// Of all three, with their lengths, so that no others have the same bytes.
    private func code(_ credentials: PasswordCredentials, _ hash: String) -> [UInt8] {
        let parts = [credentials.user, credentials.password, hash].map { Array($0.utf8) }
        return HTTPDigest.code(key, parts.flatMap { Array("\($0.count) ".utf8) + $0 })
    }
}
