// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexWire
import HTTPTypes

// LOCK and UNLOCK (RFC 4918 sections 9.10 and 9.11).

extension WebDAVHandler {
    /// The most bytes of what a client says of who holds a lock.
    static let ownerBound = 1_024

    func lock(_ request: WebDAVRequest) async throws -> Response {
        if !folder.mayWrite(request.visitor) {
            throw Problem(.forbidden, "You may not write here, nor keep others from it.")
        }
        guard let document = try await request.document() else { return try await refresh(request) }
        let wish = try LockRequest(document)
        let depth = try WebDAVDepth(request.headers, absent: .infinity)
        if depth == .one { throw Problem(.badRequest, "Depth is 0 or infinity for LOCK.") }
        if let owner = wish.owner, owner.written.utf8.count > Self.ownerBound {
            throw Problem(.contentTooLarge, "The owner has more than \(Self.ownerBound) bytes.")
        }
        return try await changing(request) { try await grant(request, wish, isDeep: depth == .infinity) }
    }

    private func grant(_ request: WebDAVRequest, _ wish: LockRequest, isDeep: Bool) async throws -> Response {
        let entry = try await folder.entry(at: request.path)
        try checkPreconditions(request, entry)
        if entry == nil && request.endsWithSlash {
            throw Problem(.methodNotAllowed, "A folder isn't made by LOCK.")
        }
        if entry == nil { try checkLocks(request, Change(path: request.path.parent)) }
        let lock = WebDAVLock(
            token: LockToken.make(of: Self.randomBytes()),
            root: ResourcePath(request.path.text),
            isDeep: isDeep,
            scope: wish.scope,
            owner: wish.owner,
            user: request.visitor.user,
            expiry: expiry(request)
        )
        do {
            try await add(lock, request)
            if entry == nil { try await makeFile(request) }
        } catch {
            // A lock that isn't kept, or has no file, isn't reported.
            await locks.drop(lock)
            throw error
        }
        var response = discovery(of: lock, request)
        response.status = entry == nil ? .created : .ok
        response.headers[.lockToken] = "<\(lock.token)>"
        return response
    }

    private func expiry(_ request: WebDAVRequest) -> UnixTime {
        let bound = options.lockTime.components.seconds
        return now().advanced(by: .seconds(WebDAVTimeout(request.headers).granted(upTo: bound)))
    }

    private static func randomBytes() -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    private func add(_ lock: WebDAVLock, _ request: WebDAVRequest) async throws {
        do {
            try await locks.change { table, now in try table.add(lock, now: now) }
        } catch LockTable.Refusal.tooMany {
            throw Problem(.insufficientStorage, "There are \(options.lockLimit) locks, and no more may be.")
        } catch LockTable.Refusal.tooManyOfUser {
            throw Problem(.insufficientStorage, "You have \(options.userLockLimit) locks, and may have no more.")
        } catch LockTable.Refusal.conflict(let roots) {
            let paths = roots.sorted { $0.text < $1.text }.compactMap { FolderPath($0.text) }
            let hrefs = WebDAVRefusal.told(paths.map { request.href($0, isFolder: false) })
            if roots.contains(where: { $0.isBelow(lock.root) }) {
                // RFC 4918 section 9.10.9.
                throw WebDAVRefusal.elsewhere(
                    hrefs.map { ($0, .locked, nil) }
                        + [(request.href(request.path, isFolder: true), .failedDependency, nil)]
                )
            }
            throw WebDAVRefusal.condition(
                .locked,
                .dav("no-conflicting-lock", hrefs.map { .dav("href", text: $0) })
            )
        }
    }

    /// A lock on what isn't there makes an empty file (RFC 4918 section 7.3).
    private func makeFile(_ request: WebDAVRequest) async throws {
        let upload = try await folder.upload(to: request.path, onConflict: .refuse, size: 0, by: request.visitor)
        _ = try await upload.finish()
    }

    /// Has a lock hold for longer: a LOCK without a body.
    private func refresh(_ request: WebDAVRequest) async throws -> Response {
        let (path, expiry) = (ResourcePath(request.path.text), expiry(request))
        let lock = try await locks.change { table, now in
            table.refresh(request.tokens, on: path, by: request.visitor.user, until: expiry, now: now)
        }
        guard let lock else {
            throw WebDAVRefusal.condition(.preconditionFailed, .dav("lock-token-matches-request-uri"))
        }
        return discovery(of: lock, request)
    }

    /// The lock that the request is about; the answer needn't have others (RFC 4918 section 9.10.1).
    private func discovery(of lock: WebDAVLock, _ request: WebDAVRequest) -> Response {
        let found = XMLElement.dav("lockdiscovery", lockElements([lock], request))
        let body = MultiStatus.document(.dav("prop", [found]))
        return Response(type: WebDAVRefusal.type, body: .text(body))
    }

    /// The locks that hold for something, as clients see them.
    ///
    /// - Parameters:
    ///   - path: of the resource.
    ///   - request: the request.
    ///   - inherits: whether deep locks of folders above are among them.
    /// - Returns: elements `activelock`.
    func lockElements(on path: FolderPath, _ request: WebDAVRequest, inherits: Bool) -> [XMLElement] {
        let resource = ResourcePath(path.text)
        let held = locks.look { table, now in
            inherits ? table.locks(on: resource, now: now) : table.locks(rootedAt: resource, now: now)
        }
        return held.isEmpty ? [] : lockElements(held, request)
    }

    private func lockElements(_ held: [WebDAVLock], _ request: WebDAVRequest) -> [XMLElement] {
        LockDiscovery.elements(of: held, for: request.visitor.user, now: now()) { root in
            request.href(FolderPath(root.text) ?? request.path, isFolder: false)
        }
    }

    func unlock(_ request: WebDAVRequest) async throws -> Response {
        let (token, path) = (try LockToken.read(request.headers), ResourcePath(request.path.text))
        let held = locks.look { table, now in table.locks(on: path, now: now).first { $0.token == token } }
        guard let held else {
            throw WebDAVRefusal.condition(.conflict, .dav("lock-token-matches-request-uri"))
        }
        if held.user != request.visitor.user { throw Problem(.forbidden, "It is the lock of somebody else.") }
        _ = try await locks.change { table, now in table.remove(token, on: path, now: now) }
        return Response(.noContent)
    }
}
