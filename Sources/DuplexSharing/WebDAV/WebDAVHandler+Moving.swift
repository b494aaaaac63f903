// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexWire
import HTTPTypes

// COPY and MOVE (RFC 4918 sections 9.8 and 9.9).

extension WebDAVHandler {
    /// Copies or moves what the request leads to; as a whole, or everything stays as it was.
    func transfer(_ request: WebDAVRequest, isMove: Bool) async throws -> Response {
        let depth = try WebDAVDepth(request.fields, absent: .infinity)
        if depth == .one || (isMove && depth != .infinity) {
            throw Problem(.badRequest, isMove ? "Depth is infinity for MOVE." : "Depth is 0 or infinity for COPY.")
        }
        let overwrites = try WebDAVDestination.overwrites(request.fields)
        let target = try destination(of: request)
        if target.isWithin(request.path) || request.path.isWithin(target) {
            throw Problem(.forbidden, "Nothing goes into itself, nor into its own place.")
        }
        return try await changing(request, target) {
            try await transfer(request, to: target, isMove: isMove, onlyItself: depth == .zero, overwrites)
        }
    }

    private func transfer(
        _ request: WebDAVRequest,
        to target: FolderPath,
        isMove: Bool,
        onlyItself: Bool,
        _ overwrites: Bool
    ) async throws -> Response {
        guard let source = try await folder.entry(at: request.path) else { throw unseen(false) }
        try checkPreconditions(request, source)
        let there = try await folder.entry(at: target)
        if there != nil && !overwrites { throw Self.exists }
        if isMove {
            try checkLocks(request, Change(path: request.path, isDeep: true), Change(path: request.path.parent))
        }
        try checkLocks(request, Change(path: target, isDeep: true))
        if there == nil { try checkLocks(request, Change(path: target.parent)) }
        let clash: NameClash = overwrites ? .replace : .refuse
        let change = try await refusing(exists: Self.exists) {
            isMove
                ? try await folder.move(request.path, to: target, clash: clash, by: request.visitor)
                : try await folder.copy(
                    request.path,
                    to: target,
                    clash: clash,
                    onlyItself: onlyItself,
                    by: request.visitor
                )
        }
        // Locks don't go along (RFC 4918 section 7.5); one on the destination holds for what is there now.
        if isMove { await locks.removeAll(from: request.path) }
        if change.replaced { await locks.removeAll(from: target, exceptItsOwn: true) }
        if change.replaced { return Response(status: .noContent) }
        return Response(status: .created, fields: [.location: request.href(target, isFolder: source.kind == .folder)])
    }

    private static var exists: Problem { Problem(.preconditionFailed, "There is something at the destination.") }

    private func refusing(
        exists problem: Problem,
        _ body: () async throws -> FolderChange
    ) async throws -> FolderChange {
        do { return try await body() } catch let error as FolderError where error.code == .exists { throw problem }
    }

    private func destination(of request: WebDAVRequest) throws -> FolderPath {
        let host = request.request.head.host
        let destination = try WebDAVDestination(request.fields, host: host, aliases: aliases(of: request))
        guard case .path(let url) = destination, let path = try request.folderPath(of: url)
        else { throw Problem(.badGateway, "The destination isn't in this folder.") }
        if !isSeen(path) { throw unseen(true) }
        return path
    }
}
