// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import DuplexServer
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
    /// - Throws: `Problem` with 416.
    static func response(of file: OpenedFile, at path: FolderPath, to request: Request) throws -> Response {
        var response = try Response.file(file, at: path.text, named: path.name, to: request)
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
    static func response(
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

// Which files are sent, and who is asked and told.

extension SharedFolder: FileRules {
    package func shows(_ path: String) -> Bool { FolderPath(path).map(shows) ?? false }

    package func checkReading(by request: Request) throws {
        try Self.refusing { try checkReading(FolderVisitor(request), .root) }
    }

    package func listing(of path: String, to request: Request) throws -> Response {
        guard let path = FolderPath(path) else { throw Problem(.notFound, "There is nothing at this path.") }
        let listing = try Self.refusing {
            try store.entries(of: path, atMost: options.listingLimit, showsHidden: options.showsHidden)
        }
        return try Self.response(of: listing, at: path, to: request)
    }

    /// The app is asked before, and told after.
    package func send(
        _ path: String,
        to request: Request,
        _ make: () async throws -> Response
    ) async throws -> Response {
        // Nothing is sent that nobody was asked about.
        guard let path = FolderPath(path) else { throw Problem(.notFound, "There is nothing at this path.") }
        let operation = FolderOperation(.read, path, by: FolderVisitor(request))
        do {
            try await options.before(operation)
        } catch let error as FolderError {
            throw error.problem
        }
        var response = try await make()
        // What others have put there is no page of this server.
        response.fields[.contentSecurityPolicy] = "sandbox"
        await tell(operation)
        return response
    }

    /// Errors of the folder as answers, those of the system among them.
    private static func refusing<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as FolderError {
            throw error.problem
        }
    }
}
