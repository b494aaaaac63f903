// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexWire
import HTTPTypes

// What is looked at, read and found.

extension UploaderHandler {
    /// What is in a folder.
    func list(_ request: Request) async throws -> Response {
        try await answer {
            let (path, visitor) = (try Self.path(of: request), FolderVisitor(request))
            try folder.checkReading(visitor, path)
            let listing = try await folder.listing(of: path)
            let room = try await folder.room()
            let mayWrite = !options.isReadOnly && folder.mayWrite(visitor)
            return try await UploaderAnswer.long {
                UploaderAnswer.Listing(
                    path: path.text,
                    entries: listing.entries.map { UploaderAnswer.Entry($0) },
                    isCut: listing.isCut,
                    unlisted: listing.unlisted,
                    mayWrite: mayWrite,
                    free: Int(clamping: room.free),
                    quota: room.quota.map { Int(clamping: $0) }
                )
            }
        }
    }

    /// What has a text in its name, in a folder and below it.
    func search(_ request: Request) async throws -> Response {
        try await answer {
            let path = try Self.path(of: request)
            guard let text = try request.queryItems["text"], !text.isEmpty else {
                throw Problem(.badRequest, "“text” says what to look for in names.")
            }
            let (found, isCut) = try await folder.search(
                for: text,
                below: path,
                lookingAt: options.searchLimit,
                finding: options.resultLimit,
                by: FolderVisitor(request)
            )
            return try await UploaderAnswer.long {
                let entries = found.map { UploaderAnswer.Entry($0.entry, at: $0.path) }
                return UploaderAnswer.Found(entries: entries, isCut: isCut)
            }
        }
    }

    // MARK: Files

    /// A file to be kept.
    func download(_ request: Request) async throws -> Response {
        try await answer {
            let (path, file) = try await open(request)
            var response = try response(of: file, at: path, to: request)
            response.attach(as: path.name)
            return response
        }
    }

    /// A file to be shown in the page, in which it can do nothing.
    func view(_ request: Request) async throws -> Response {
        try await answer {
            let (path, file) = try await open(request)
            var response = try response(of: file, at: path, to: request)
            let type = MediaType.ofFile(named: path.name)
            response.fields[.contentSecurityPolicy] = UploaderPage.contentSecurityPolicy(ofView: type)
            response.fields[.xFrameOptions] = "SAMEORIGIN"
            response.fields[.contentDisposition] = ContentDisposition.inline(filename: path.name).description
            return response
        }
    }

    /// A file that pages of other sites can't have in themselves, and that nobody between keeps.
    private func response(of file: OpenedFile, at path: FolderPath, to request: Request) throws -> Response {
        var response = try SharedFolder.response(of: file, at: path, to: request)
        response.fields[.cacheControl] = "private, no-cache"
        response.fields[.crossOriginResourcePolicy] = "same-origin"
        return response
    }

    private func open(_ request: Request) async throws -> (path: FolderPath, file: OpenedFile) {
        let path = try Self.path(of: request)
        let file = try await folder.open(path, by: FolderVisitor(request))
        guard file.kind == .file else { throw Problem(.badRequest, "A folder is downloaded as a zip.") }
        return (path, file)
    }

    /// Files and folders as a zip that is made while it is sent; the query names them.
    func zip(_ request: Request) async throws -> Response {
        try await answer { try await zip(of: request.queryItems[values: "path"], request) }
    }

    /// The same, of more than an address can name: a form does, a line for each, as no name has a line end.
    func zipOfForm(_ request: Request) async throws -> Response {
        try await answer {
            let lines = try await request.form()["paths"]?.split(whereSeparator: \.isNewline) ?? []
            return try await zip(of: lines.map(String.init), request)
        }
    }

    /// Of how many paths a zip is made at most: all of them are looked at before the response begins.
    private static let mostZipped = 10_000

    private func zip(of texts: [String], _ request: Request) async throws -> Response {
        var named: Set<FolderPath> = []
        // Each once: naming one often would make much of a few bytes.
        let paths = try texts.map { text throws in try Self.path(text) }.filter { named.insert($0).inserted }
        if paths.count > Self.mostZipped {
            throw Problem(.badRequest, "A zip is made of \(Self.mostZipped) paths at most.")
        }
        if paths.isEmpty { throw Problem(.badRequest, "“path” says, once for each, what the zip is made of.") }
        let body = try await folder.zip(of: paths, method: options.zips, by: FolderVisitor(request))
        var response = Response(type: "application/zip", fields: [.cacheControl: "no-store"], body: body)
        // The page has it come into a frame.
        response.fields[.contentSecurityPolicy] = UploaderPage.contentSecurityPolicy(ofView: "application/zip")
        response.fields[.xFrameOptions] = "SAMEORIGIN"
        response.fields[.crossOriginResourcePolicy] = "same-origin"
        response.attach(as: Self.zipName(of: paths))
        return response
    }

    /// That of the one that is in it, or of the folder that all are in.
    private static func zipName(of paths: [FolderPath]) -> String {
        let name = paths.count == 1 ? paths[0].name : paths[0].parent.name
        return "\(name.isEmpty ? "files" : name).zip"
    }
}
