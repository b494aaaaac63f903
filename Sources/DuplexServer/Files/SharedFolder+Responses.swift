// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire

// What a request gets of a shared folder.

extension SharedFolder {
    /// A file, or parts of it, or the word that the client has it already.
    ///
    /// - Parameters:
    ///   - file: the file, which is open.
    ///   - path: where it is, for its type.
    ///   - request: the request.
    /// - Returns: the response, by which a browser doesn't run what others have put there.
    /// - Throws: ``Problem`` with 416.
    package static func response(of file: OpenedFile, at path: FolderPath, to request: Request) throws -> Response {
        var options = FileOptions()
        options.usesPrecompressed = false
        options.compression = .disabled
        let served = ServedFile(file, path: path.text, name: path.name, options)
        var response = try FileContent(served.plain, served.type).response(to: request)
        response.fields[.contentSecurityPolicy] = "sandbox"
        return response
    }

    /// What is in a folder, as a page or as JSON.
    ///
    /// - Parameters:
    ///   - listing: what is in it.
    ///   - path: where it is.
    ///   - request: the request.
    /// - Returns: the response.
    /// - Throws: `HTTPError` for a query that can't be read.
    package static func response(
        of listing: FolderListing,
        at path: FolderPath,
        to request: Request
    ) throws -> Response {
        let listed = listing.entries.map { entry in
            let isFolder = entry.kind == .folder
            return FileListing.Entry(
                name: entry.name,
                isFolder: isFolder,
                size: entry.size,
                modified: entry.modified
            )
        }
        return FileListing(listed, isCut: listing.isCut, unlisted: listing.unlisted, isTop: path.isRoot)
            .response(to: request)
    }
}
