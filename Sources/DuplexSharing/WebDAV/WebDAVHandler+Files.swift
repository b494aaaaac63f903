// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexWire
import HTTPTypes

// Files and folders: read, written, made, deleted.

extension WebDAVHandler {
    // MARK: Reading

    /// GET and HEAD: the file, or what is in the folder.
    ///
    /// `Translate: f` asks for the file as it is kept, which it is sent as in any case.
    func get(_ request: WebDAVRequest) async throws -> Response {
        let file = try await folder.open(request.path, by: request.visitor)
        if file.kind == .file {
            if request.endsWithSlash { throw unseen(false) }
            return try SharedFolder.response(of: file, at: request.path, to: request.request)
        }
        // What the page of the folder refers to is relative to it.
        if !request.request.path.hasSuffix("/") {
            return .redirect(to: request.href(request.path, isFolder: true), .movedPermanently)
        }
        return try SharedFolder.response(
            of: try await seenEntries(of: request.path),
            at: request.path,
            to: request.request
        )
    }

    /// What is in a folder, without hidden entries.
    func seenEntries(of path: FolderPath) async throws -> FolderListing {
        var listing = try await folder.listing(of: path)
        if !options.takesFinderFiles { listing.entries.removeAll { Self.isFinderFile($0.name) } }
        return listing
    }

    // MARK: Writing

    func put(_ request: WebDAVRequest) async throws -> Response {
        if request.fields.contains(.contentRange) {
            throw Problem(.badRequest, "A part of a file can't be put here.")
        }
        if request.fields.contains(.contentEncoding) {
            throw Problem(.unsupportedMediaType, "A file is put as it is, without a content coding.")
        }
        if request.endsWithSlash { throw Problem(.methodNotAllowed, "A folder isn't written by PUT.") }
        try await checkWriting(request)
        let expected = try Self.expectedSize(request)
        let upload = try await folder.upload(
            to: request.path,
            clash: .replace,
            size: expected,
            by: request.visitor
        )
        var size: UInt64 = 0
        for try await piece in request.request.body {
            size += UInt64(piece.count)
            if let expected, size > expected { break }
            try await upload.write(piece)
        }
        if let expected, size != expected {
            throw Problem(.badRequest, "The body hasn't the length that was said.")
        }
        return try await changing(request) {
            // Others may have written or locked it meanwhile.
            try await checkWriting(request)
            let change = try await upload.finish()
            var response = Response(status: change.replaced ? .noContent : .created)
            // It has been written, even if it can't be looked at now.
            if let tag = try? await folder.entry(at: request.path)?.tag { response.fields[.eTag] = tag.description }
            return response
        }
    }

    private func checkWriting(_ request: WebDAVRequest) async throws {
        let entry = try await folder.entry(at: request.path)
        try checkPreconditions(request, entry)
        try checkMaking(request, request.path, isThere: entry != nil)
    }

    /// Throws where locks keep something from being written, or its name from being in its folder.
    func checkMaking(_ request: WebDAVRequest, _ path: FolderPath, isThere: Bool) throws {
        try checkLocks(request, Change(path: path))
        if !isThere { try checkLocks(request, Change(path: path.parent)) }
    }

    /// How long the body is, if it is known: the Finder sends it beside a body in chunks.
    private static func expectedSize(_ request: WebDAVRequest) throws -> UInt64? {
        if let length = request.request.body.length { return UInt64(length) }
        guard let value = request.fields[.xExpectedEntityLength] else { return nil }
        guard let size = UInt64(value) else {
            throw Problem(.badRequest, "X-Expected-Entity-Length is a number of bytes.")
        }
        return size
    }

    // MARK: Folders

    func makeFolder(_ request: WebDAVRequest) async throws -> Response {
        if try await request.hasBody() {
            throw Problem(.unsupportedMediaType, "What a folder is made of isn't said by a body here.")
        }
        return try await changing(request) {
            let entry = try await folder.entry(at: request.path)
            try checkPreconditions(request, entry)
            if entry != nil { throw Problem(.methodNotAllowed, "There is something at this path.") }
            try checkMaking(request, request.path, isThere: false)
            try await folder.createFolder(request.path, by: request.visitor)
            return Response(status: .created)
        }
    }

    // MARK: Deleting

    /// Nothing goes where something below is locked, which 207 says.
    ///
    /// What the disk doesn't let go is in its place, and an error.
    func delete(_ request: WebDAVRequest) async throws -> Response {
        let depth = try WebDAVDepth(request.fields, absent: .infinity)
        return try await changing(request) {
            guard let entry = try await folder.entry(at: request.path) else { throw unseen(false) }
            if entry.kind == .folder && depth != .infinity {
                throw Problem(.badRequest, "A folder goes with all that is in it: Depth is infinity.")
            }
            if entry.kind == .file && request.endsWithSlash { throw unseen(false) }
            try checkPreconditions(request, entry)
            try checkLocks(request, Change(path: request.path, isDeep: true), Change(path: request.path.parent))
            try await folder.delete(request.path, by: request.visitor)
            await locks.removeAll(from: request.path)
            return Response(status: .noContent)
        }
    }
}
