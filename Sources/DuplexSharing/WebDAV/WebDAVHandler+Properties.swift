// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexWire
import HTTPTypes

// PROPFIND and PROPPATCH (RFC 4918 sections 9.1 and 9.2).

extension WebDAVHandler {
    /// Something that is answered for.
    private struct Resource: Sendable {
        var path: FolderPath
        var entry: FolderEntry
    }

    /// How many files and folders are looked at for one piece of an answer.
    private static let batch = 64

    /// PROPFIND: of something, and of what is in a folder.
    ///
    /// Without the field Depth it is one of depth 1: clients that leave it out mean no more, and everything below is
    /// too much for one response.
    func findProperties(_ request: WebDAVRequest) async throws -> Response {
        let depth = try WebDAVDepth(request.fields, absent: .one)
        if depth == .infinity { throw WebDAVRefusal.condition(.forbidden, .dav("propfind-finite-depth")) }
        let query = try PropertyQuery(try await request.document())
        guard let entry = try await folder.entry(at: request.path) else { throw unseen(false) }
        if entry.kind == .file && request.endsWithSlash { throw unseen(false) }
        let answer = PropertyAnswer(query)
        let space = answer.needsSpace ? try await folder.room() : nil
        var resources = [Resource(path: request.path, entry: entry)]
        var unlisted = 0
        if depth == .one && entry.kind == .folder {
            let listing = try await seenEntries(of: request.path)
            // Whoever takes a part for the whole may take the rest for deleted (RFC 5323 section 5.17 has the word for it).
            if listing.isCut {
                throw WebDAVRefusal.condition(.insufficientStorage, .dav("number-of-matches-within-limits"))
            }
            unlisted = listing.unlisted
            resources += listing.entries.compactMap { entry in
                request.path.appending(entry.name).map { Resource(path: $0, entry: entry) }
            }
        }
        let (all, end) = (resources, MultiStatus.end(Self.remark(unlisted)))
        return Response(status: .multi, type: WebDAVRefusal.type) { [self] writer in
            var text = MultiStatus.start
            for start in stride(from: 0, to: all.count, by: Self.batch) {
                let batch = Array(all[start..<min(all.count, start + Self.batch)])
                let noted = answer.needsDead ? try await folder.properties(of: batch.map(\.path)) : []
                for (index, resource) in batch.enumerated() {
                    let facts = facts(of: resource, space, request)
                    let href = request.href(resource.path, isFolder: resource.entry.kind == .folder)
                    let dead = DeadProperties.properties(in: noted.isEmpty ? nil : noted[index])
                    text += answer.piece(href, facts, dead)
                }
                try await writer.write(text)
                text = ""
            }
            try await writer.write(end)
        }
    }

    private static func remark(_ unlisted: Int) -> String? {
        unlisted == 0 ? nil : "Not listed, as their names can't be in a URL here: \(unlisted)."
    }

    private func facts(
        of resource: Resource,
        _ space: FolderSpace?,
        _ request: WebDAVRequest
    ) -> LiveProperty.Facts {
        var facts = LiveProperty.Facts(entry: resource.entry, space: space)
        facts.locks = lockElements(on: resource.path, request)
        return facts
    }

    /// The locks that hold for something, as clients see them.
    func lockElements(on path: FolderPath, _ request: WebDAVRequest) -> [XMLElement] {
        let (held, now) = locks.look { table, now in (table.locks(on: ResourcePath(path.text), now: now), now) }
        return held.map { lock in
            let root = FolderPath(lock.root.text) ?? path
            return lock.element(href: request.href(root, isFolder: false), now: now)
        }
    }

    // MARK: Changing

    /// All of it is done, or nothing.
    func changeProperties(_ request: WebDAVRequest) async throws -> Response {
        guard let root = try await request.document() else { throw WebDAVFault("The body says what is to be done.") }
        let update = try PropertyUpdate(root)
        return try await changing(request) { try await change(request, update) }
    }

    private func change(_ request: WebDAVRequest, _ update: PropertyUpdate) async throws -> Response {
        guard let entry = try await folder.entry(at: request.path) else { throw unseen(false) }
        try checkPreconditions(request, entry)
        try checkLocks(request, Change(path: request.path))
        let href = request.href(request.path, isFolder: entry.kind == .folder)
        let names = update.steps.map(\.name)
        let isProtected = { (name: XMLName) in LiveProperty(name)?.isProtected ?? false }
        if names.contains(where: isProtected) {
            return Self.answer(
                href,
                [
                    (.forbidden, names.filter(isProtected).map { XMLElement($0) }),
                    (.failedDependency, names.filter { !isProtected($0) }.map { XMLElement($0) }),
                ]
            )
        }
        let limit = options.propertySize.bytes
        do {
            try await folder.changeProperties(of: request.path, by: request.visitor) { noted throws(FolderError) in
                let bytes = DeadProperties.bytes(of: update.applied(to: DeadProperties.properties(in: noted)))
                if let bytes, bytes.count > limit {
                    throw FolderError(.overQuota, "Properties may have \(limit) bytes at most.")
                }
                return bytes
            }
        } catch let error as FolderError where error.status == .insufficientStorage {
            return Self.answer(href, [(.insufficientStorage, names.map { XMLElement($0) })])
        }
        return Self.answer(href, [(.ok, names.map { XMLElement($0) })])
    }

    private static func answer(
        _ href: String,
        _ properties: [(status: HTTPResponse.Status, elements: [XMLElement])]
    ) -> Response {
        let piece = MultiStatus.response(href, properties, error: .dav("cannot-modify-protected-property"))
        return Response(
            status: .multi,
            type: WebDAVRefusal.type,
            body: .text(MultiStatus.start + piece + MultiStatus.end)
        )
    }
}
