// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets
import DuplexWire
import HTTPTypes

/// A file of users and hashes of their passwords, as Apache's htpasswd and others make it.
///
/// ```swift
/// let passwords = try PasswordFile(path: "/etc/app/passwords")      // htpasswd -B -c /etc/app/passwords mia
/// server.group("/admin", .basicAuth(realm: "admin", file: passwords), .throttleFailures()) { admin in … }
/// ```
///
/// The hashes are those of crypt(3): bcrypt (`$2y$` and its kin, `htpasswd -B`), SHA-crypt (`$5$`, `$6$`), and yescrypt
/// (`$y$`) where the C library has it. Apache's own MD5 (`$apr1$`) is none of these, and refused, as are SHA-1, DES and
/// plain text.
///
/// Checking takes long on purpose, some 50 ms for bcrypt as htpasswd makes it: it runs on threads of its own, four at most
/// in the process. Right credentials are remembered for a minute, as keyed hashes, so that a client that sends them with each request
/// doesn't wait behind those who guess. Each check reads the file, so a change counts at once; make the new file under another name, and rename
/// it. While the file can't be read, nobody is let in, and requests are answered with 500.
///
/// bcrypt looks at the first 72 bytes of a password only.
public final class PasswordFile: Sendable {
    private let path: String
    private let verified = VerifiedPasswords()

    /// What asks for a check while more than this wait is answered with 503.
    private static let queueBound = 256
    private static let sizeBound = 4 * 1_024 * 1_024
    private static let threads = BlockingThreads(name: "duplex-crypt", limit: 4)

    /// Reads the file, to see that it can be used; blocks while it does.
    ///
    /// A line that can't be used is an error here, also when its hash is damaged, or of a kind that this machine's crypt(3)
    /// doesn't have. Later, when the file has changed, the line is passed over, and its user isn't let in.
    ///
    /// - Parameter path: of the file; 4 MiB at most.
    /// - Throws: `SocketError` with `unreadableFile`, which says what is wrong in which line.
    public init(path: String) throws(SocketError) {
        self.path = path
        let entries = try Self.read(path)
        guard let fault = entries.faults.first ?? PasswordHash.missingKind(of: entries.hashes.values) else { return }
        throw SocketError(.unreadableFile, message: "“\(path)” isn't a file of passwords: \(fault).")
    }

    private static func read(_ path: String) throws(SocketError) -> PasswordEntries {
        let bytes = try FileRange(path: path, offset: 0, count: nil).readAll(atMost: sizeBound)
        return PasswordEntries(String(decoding: bytes, as: UTF8.self))
    }

    /// Whether the file has the user with that password, such as for a form to log in by.
    ///
    /// Takes as long for a user who isn't in the file; some 50 ms by bcrypt, on a thread off the loops. Who guesses is to be
    /// slowed down by ``RouteOption/rateLimit(_:burst:by:clients:)``.
    ///
    /// - Parameter credentials: what was shown.
    /// - Returns: whether they are right.
    /// - Throws: ``Problem`` with 503 if too many wait; `SocketError` if the file can't be read, or crypt(3) doesn't have the
    ///   kind of hash; `CancellationError`.
    public func contains(_ credentials: PasswordCredentials) async throws -> Bool {
        if try await isVerified(credentials) { return true }
        guard Self.threads.waitingCount < Self.queueBound else {
            throw Problem(.serviceUnavailable, "Too many passwords wait to be checked.", fields: [.retryAfter: "1"])
        }
        return try await Self.threads.run { [path, verified] in
            let entries = try Self.read(path)
            let known = entries.hashes[credentials.user]
            guard let hash = known ?? entries.decoy(for: credentials.user) else { return false }
            let isRight = try PasswordHash.isHash(hash, of: credentials.password)
            guard isRight, known != nil else { return false }
            verified.add(credentials, hash, at: .now())
            return true
        }
    }

    /// Whether they were right a moment ago, by the hash that is in the file now.
    private func isVerified(_ credentials: PasswordCredentials) async throws -> Bool {
        if verified.isEmpty { return false }
        return try await BlockingThreads.files.run { [path, verified] in
            guard let hash = try Self.read(path).hashes[credentials.user] else { return false }
            return verified.contains(credentials, hash, at: .now())
        }
    }
}
