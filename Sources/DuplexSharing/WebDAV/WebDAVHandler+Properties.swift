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

    /// A part of an answer.
    private struct Piece: Sendable {
        var text: String
        /// How many files and folders it is about.
        var count: Int
    }

    /// How many files and folders are looked at for one piece of an answer, at most.
    private static let batch = 128
    /// How many bytes a piece has; what is said of one file or folder may be more.
    private static let pieceSize = 65_536

    /// PROPFIND: of something, and of what is in a folder.
    ///
    /// Without the field Depth it is one of depth 1: clients that leave it out mean no more, and everything below is
    /// too much for one response.
    func findProperties(_ request: WebDAVRequest) async throws -> Response {
        let depth = try WebDAVDepth(request.headers, absent: .one)
        if depth == .infinity { throw WebDAVRefusal.condition(.forbidden, .dav("propfind-finite-depth")) }
        let query = try PropertyQuery(try await request.document())
        guard let entry = try await folder.entry(at: request.path) else { throw unseen(false) }
        if entry.kind == .file && request.endsWithSlash { throw unseen(false) }
        let answer = PropertyAnswer(query)
        let space = answer.needsSpace ? try await folder.space() : nil
        var resources = [Resource(path: request.path, entry: entry)]
        var unlisted = 0
        if depth == .one && entry.kind == .folder {
            let listing = try await seenEntries(of: request.path)
            // Whoever takes a part for the whole may take the rest for deleted (RFC 5323 section 5.17 has the word for it).
            if listing.isTruncated {
                throw WebDAVRefusal.condition(.insufficientStorage, .dav("number-of-matches-within-limits"))
            }
            unlisted = listing.unlisted
            resources += listing.entries.compactMap { entry in
                request.path.appending(entry.name).map { Resource(path: $0, entry: entry) }
            }
        }
        let (all, end) = (resources, MultiStatus.end(Self.remark(unlisted)))
        // What fails here is an error of its own; later it can only end the response.
        let first = try await piece(of: all[...], answer, space, request)
        let beginning = answer.document.start + first.text
        if first.count == all.count {
            return Response(.multi, type: WebDAVRefusal.type, body: .text(beginning + end))
        }
        return Response(.multi, type: WebDAVRefusal.type) { [self] writer in
            try await writer.write(beginning)
            var rest = all.dropFirst(first.count)
            while !rest.isEmpty {
                let piece = try await piece(of: rest, answer, space, request)
                try await writer.write(piece.text)
                rest = rest.dropFirst(piece.count)
            }
            try await writer.write(end)
        }
    }

    private static func remark(_ unlisted: Int) -> String? {
        unlisted == 0 ? nil : "Not listed, as their names can't be in a URL here: \(unlisted)."
    }

    /// Makes a piece of an answer, off the loop: the disk is read, and some thousand elements are written.
    private func piece(
        of resources: ArraySlice<Resource>,
        _ answer: PropertyAnswer,
        _ space: FolderSpace?,
        _ request: WebDAVRequest
    ) async throws -> Piece {
        try await SharedFolder.run { [self] () throws(FolderError) in
            var piece = Piece(text: "", count: 0)
            for resource in resources.prefix(Self.batch) {
                var facts = LiveProperty.Facts(entry: resource.entry, space: space)
                if answer.needsLocks {
                    // A deep lock of a folder above stands once, with what the request is about, and not with all that is in it.
                    let inherits = resource.path == request.path
                    facts.locks = lockElements(on: resource.path, request, inherits: inherits)
                }
                let noted = answer.needsDead ? notedProperties(of: resource.path) : []
                let href = request.href(resource.path, isFolder: resource.entry.kind == .folder)
                piece.text += answer.piece(href, facts, noted)
                piece.count += 1
                if piece.text.utf8.count >= Self.pieceSize { break }
            }
            return piece
        }
    }

    /// What clients have noted; nil if it can't be read, which says nothing of the others.
    private func notedProperties(of path: FolderPath) -> [XMLElement]? {
        do throws(FolderError) {
            return DeadProperties.properties(in: try folder.notedProperties(of: path))
        } catch { return nil }
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
        let protected = names.indices.filter { LiveProperty(names[$0])?.isProtected ?? false }
        func answer(_ properties: [(status: HTTPResponse.Status, names: [Int])]) -> Response {
            Self.answer(href, names, properties)
        }
        if !protected.isEmpty {
            let others = names.indices.filter { !protected.contains($0) }
            return answer([(.forbidden, protected), (.failedDependency, others)])
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
            return answer([(.insufficientStorage, Array(names.indices))])
        }
        return answer([(.ok, Array(names.indices))])
    }

    private static func answer(
        _ href: String,
        _ names: [XMLName],
        _ properties: [(status: HTTPResponse.Status, names: [Int])]
    ) -> Response {
        let document = MultiStatus(naming: names)
        let piece = document.response(
            href,
            properties.map { ($0.status, $0.names.map(MultiStatus.Property.name)) },
            error: .dav("cannot-modify-protected-property")
        )
        return Response(
            .multi,
            type: WebDAVRefusal.type,
            body: .text(document.start + piece + MultiStatus.end)
        )
    }
}
