// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexWire
import HTTPTypes

/// Answers the requests of WebDAV clients with a shared folder (RFC 4918, classes 1, 2 and 3).
final class WebDAVHandler: Sendable {
    static let methods: [HTTPRequest.Method] = [
        .options, .get, .delete, .mkcol, .copy, .move, .propfind, .proppatch, .lock, .unlock, .put,
    ]
    private static let allowed = "COPY, DELETE, GET, HEAD, LOCK, MKCOL, MOVE, OPTIONS, PROPFIND, PROPPATCH, PUT, UNLOCK"

    let folder: SharedFolder
    let options: WebDAVOptions
    let locks: WebDAVLocks
    let claims = PathClaims()
    let now: @Sendable () -> UnixTime

    init(_ folder: SharedFolder, _ options: WebDAVOptions, now: @escaping @Sendable () -> UnixTime = { .now }) {
        self.folder = folder
        self.options = options
        self.now = now
        locks = WebDAVLocks(folder, options, now: now)
        folder.keepProperties { PropertyDatabase($0, folder.options.logger) }
    }

    /// Answers a request.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - depth: how many segments of its path lead to the folder.
    /// - Returns: the response.
    /// - Throws: `Problem`, and what the folder's app throws.
    func answer(_ request: Request, depth: Int) async throws -> Response {
        if request.method == .options { return Self.capabilities }
        do {
            let request = try WebDAVRequest(request, depth: depth)
            try admit(request)
            try await checkCondition(request)
            return try await response(to: request)
        } catch let refusal as WebDAVRefusal {
            return refusal.response
        } catch let fault as WebDAVFault {
            throw Problem(.badRequest, fault.message)
        } catch let error as XMLError {
            throw Problem(error.code == .tooLarge ? .contentTooLarge : .badRequest, error.description)
        } catch let error as FolderError {
            throw Self.allowing(request.method, error.problem)
        } catch let problem as Problem {
            throw Self.allowing(request.method, problem)
        }
    }

    /// Names the other methods with 405 (RFC 9110 section 15.5.6).
    private static func allowing(_ method: HTTPRequest.Method, _ problem: Problem) -> Problem {
        guard problem.status == .methodNotAllowed, problem.fields[.allow] == nil else { return problem }
        var problem = problem
        let others = allowed.split(separator: ", ").filter { $0 != method.rawValue }
        problem.fields[.allow] = others.joined(separator: ", ")
        return problem
    }

    /// What OPTIONS says of WebDAV, here and for the server as a whole.
    static let announcement: HTTPFields = [.dav: "1, 2, 3", .msAuthorVia: "DAV"]

    private static var capabilities: Response {
        var response = Response(fields: announcement)
        response.fields[.allow] = allowed
        response.fields[.acceptRanges] = "bytes"
        return response
    }

    private func response(to request: WebDAVRequest) async throws -> Response {
        switch request.request.method {
        case .put: try await put(request)
        case .delete: try await delete(request)
        case .mkcol: try await makeFolder(request)
        case .copy: try await transfer(request, isMove: false)
        case .move: try await transfer(request, isMove: true)
        case .propfind: try await findProperties(request)
        case .proppatch: try await changeProperties(request)
        case .lock: try await lock(request)
        case .unlock: try await unlock(request)
        default: try await get(request)
        }
    }

    /// Runs a change exclusively, if the field `If` holds then.
    func changing(
        _ request: WebDAVRequest,
        _ others: FolderPath...,
        body: () async throws -> Response
    ) async throws -> Response {
        try await claims.hold([request.path] + others) {
            try await checkCondition(request)
            return try await body()
        }
    }

    // MARK: What may be done

    /// Refuses what nobody may see, and what the Finder makes beside files.
    private func admit(_ request: WebDAVRequest) throws {
        try folder.checkReading(request.visitor, .root)
        if !isSeen(request.path) { throw unseen(WebDAVRequest.makes(request.request.method)) }
    }

    /// Whether clients see it.
    func isSeen(_ path: FolderPath) -> Bool {
        folder.shows(path) && (options.takesFinderFiles || !path.names.contains(where: Self.isFinderFile))
    }

    static func isFinderFile(_ name: String) -> Bool {
        name.utf8.starts(with: "._".utf8) || name == ".DS_Store"
    }

    func unseen(_ isToBeMade: Bool) -> Problem {
        isToBeMade
            ? Problem(.forbidden, "Files with such names aren't taken here.")
            : Problem(.notFound, "There is nothing at this path.")
    }

    /// Throws where the field `If` doesn't hold (RFC 4918 section 10.4).
    private func checkCondition(_ request: WebDAVRequest) async throws {
        guard let condition = request.condition else { return }
        var others: [String: WebDAVCondition.State] = [:]
        for resource in condition.resources {
            let host = request.request.head.host
            guard let url = WebDAVCondition.path(of: resource, host: host, aliases: aliases(of: request)),
                let path = try? request.folderPath(of: url)
            else { continue }
            others[resource] = try await state(of: path)
        }
        if condition.holds(for: try await state(of: request.path), others) { return }
        throw Problem(.preconditionFailed, "None of the lists of the field If holds.")
    }

    /// The hosts by which the client may know this server, beside the one that the request is for.
    ///
    /// The fields of proxies are taken from everybody: they only decide whether a URL is one of this server, and its path
    /// alone would be one in any case.
    func aliases(of request: WebDAVRequest) -> [String] {
        options.publicHosts + ForwardedHosts.read(request.fields)
    }

    private func state(of path: FolderPath) async throws -> WebDAVCondition.State {
        let entry = try await folder.entry(at: path)
        let tokens = locks.look { table, now in table.locks(on: ResourcePath(path.text), now: now).map(\.token) }
        return WebDAVCondition.State(tag: entry?.tag, tokens: Set(tokens))
    }

    /// Throws where another field of conditions doesn't hold (RFC 9110 section 13), or the content is another by now.
    ///
    /// `If-Match` holds for weak tags, too: proxies that compress make tags weak on the way to the client.
    func checkPreconditions(_ request: WebDAVRequest, _ entry: FolderEntry?) throws {
        var fields = request.fields
        fields[values: .ifMatch] = fields[values: .ifMatch].map { $0.replacing("W/\"", with: "\"") }
        let validators = Preconditions.Validators(tag: entry?.tag, modified: entry?.modified, exists: entry != nil)
        if Preconditions(request.request.method, fields, now: now()).verdict(validators) == .proceed { return }
        throw Problem(.preconditionFailed, "What is here isn't what the request is about.")
    }

    /// What a request changes.
    struct Change {
        var path: FolderPath
        /// Whether all below goes or is replaced, too.
        var isDeep = false
    }

    /// Throws where locks stand in the way whose tokens weren't submitted (RFC 4918 section 7).
    func checkLocks(_ request: WebDAVRequest, _ changes: Change...) throws {
        func obstacles(_ change: Change, _ isDeep: Bool) -> [FolderPath] {
            let roots = locks.look { table, now in
                table.obstacles(
                    at: ResourcePath(change.path.text),
                    andBelow: isDeep,
                    with: request.tokens,
                    by: request.visitor.user,
                    now: now
                )
            }
            return roots.compactMap { FolderPath($0.text) }
        }
        let own = changes.flatMap { obstacles($0, false) }
        if !own.isEmpty {
            let hrefs = WebDAVRefusal.told(own.map { request.href($0, isFolder: false) })
            let elements = hrefs.map { XMLElement.dav("href", text: $0) }
            throw WebDAVRefusal.condition(.locked, .dav("lock-token-submitted", elements))
        }
        let below = changes.filter(\.isDeep).flatMap { obstacles($0, true) }
        if below.isEmpty { return }
        throw WebDAVRefusal.elsewhere(
            WebDAVRefusal.told(below.map { request.href($0, isFolder: false) }).map { href in
                (href, .locked, .dav("lock-token-submitted", [.dav("href", text: href)]))
            }
        )
    }
}
