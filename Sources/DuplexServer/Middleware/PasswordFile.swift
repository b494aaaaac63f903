// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets
import DuplexWebSockets
import DuplexWire
import HTTPTypes
import Synchronization

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
    private let threads: BlockingThreads

    /// What asks for a check while more than this wait is answered with 503.
    static let queueBound = 256
    private static let sizeBound = 4 * 1_024 * 1_024
    private static let sharedThreads = BlockingThreads(name: "duplex-crypt", limit: 4)

    /// Reads the file, to see that it can be used; blocks while it does.
    ///
    /// A line that can't be used is an error here, also when its hash is damaged, or of a kind that this machine's crypt(3)
    /// doesn't have. Later, when the file has changed, the line is passed over, and its user isn't let in.
    ///
    /// - Parameter path: of the file; 4 MiB at most.
    /// - Throws: `SocketError` with `unreadableFile`, which says what is wrong in which line.
    public convenience init(path: String) throws(SocketError) {
        try self.init(path: path, threads: Self.sharedThreads)
    }

    /// Checks on these threads.
    init(path: String, threads: BlockingThreads) throws(SocketError) {
        self.path = path
        self.threads = threads
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
    /// slowed down by ``RouteOption/rateLimit(_:by:clients:)``.
    ///
    /// - Parameter credentials: what was shown.
    /// - Returns: whether they are right.
    /// - Throws: ``Problem`` with 503 if too many wait; `SocketError` if the file can't be read, or crypt(3) doesn't have the
    ///   kind of hash; `CancellationError`.
    package func contains(_ credentials: PasswordCredentials) async throws -> Bool {
        if try await isVerified(credentials) { return true }
        guard threads.waitingCount < Self.queueBound else {
            throw Problem(.serviceUnavailable, "Too many passwords wait to be checked.", headers: [.retryAfter: "1"])
        }
        return try await threads.run { [path, verified] in
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

/// What a file of passwords says: a name, a colon and a hash in each line.
struct PasswordEntries: Sendable {
    /// The hashes by the users' names; of a name that is there twice, the first, as with Apache.
    private(set) var hashes: [String: String] = [:]
    /// What is wrong with lines that are passed over.
    private(set) var faults: [String] = []
    /// In their order, for those who aren't in the file.
    private var all: [String] = []

    /// Reads the text of a file.
    ///
    /// Empty lines, and those that begin with `#`, say nothing, nor does a byte order mark at the beginning.
    init(_ text: String) {
        let text = ByteOrderMark.removed(from: Array(text.utf8))
        let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            let bytes = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            if bytes.isEmpty || bytes.first == UInt8(ascii: "#") { continue }
            let parts = bytes.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            guard parts.count > 1, !parts[0].isEmpty else {
                faults.append("line \(index + 1) isn't a name, a colon and a hash")
                continue
            }
            add(String(decoding: parts[0], as: UTF8.self), String(decoding: parts[1], as: UTF8.self), index + 1)
        }
    }

    private mutating func add(_ user: String, _ hash: String, _ line: Int) {
        if let fault = PasswordHash.fault(of: hash) {
            faults.append("the hash in line \(line) is \(fault)")
        } else if hashes[user] == nil {
            hashes[user] = hash
            all.append(hash)
        }
    }

    /// The hash to compare with for a user who isn't in the file: always the same one of those that are, so that it costs
    /// what theirs do.
    func decoy(for user: String) -> String? {
        if all.isEmpty { return nil }
        var hasher = Hasher()
        hasher.combine(user)
        return all[Int(UInt(bitPattern: hasher.finalize()) % UInt(all.count))]
    }
}

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
