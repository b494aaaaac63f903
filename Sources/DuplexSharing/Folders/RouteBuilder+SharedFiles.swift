// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexServer
import DuplexSockets
import DuplexWire
import HTTPTypes

// The files of a shared folder.

extension RouteBuilder {
    /// Answers GET and HEAD with the files of a shared folder, by its rules.
    ///
    /// ```swift
    /// let folder = try SharedFolder("pictures")
    /// server.files("/pictures", folder: folder)
    /// ```
    ///
    /// As of a folder by its path, with these differences: clients that may not read there get 403; what the folder
    /// doesn't show is neither sent nor listed, whatever `FileOptions.showsHidden` says; the app is asked before a
    /// file is sent (``FolderOptions/before``, also for a folder or a missing file) and notified after it
    /// (``FolderOptions/after``). No cache between may keep the files. Each request opens its file.
    ///
    /// Browsers run nothing of what is in these files, as of what others may have put there: they are sent with
    /// `Content-Security-Policy: sandbox`. Pages of your own are served by the path of their folder.
    ///
    /// - Parameters:
    ///   - path: what paths begin with, such as `/pictures`; `/` for all.
    ///   - settings: settings of these routes that differ from the server's, such as who is let in.
    ///   - folder: the folder.
    ///   - options: how the files are served. Default: as in `FileOptions`.
    public mutating func files(
        _ path: String,
        _ settings: RouteOption...,
        folder: SharedFolder,
        options: FileOptions = FileOptions()
    ) {
        var options = options
        options.showsHidden = folder.options.showsHidden
        files(path, settings, folder: folder.confined, by: folder, options: options)
    }
}

// MARK: What a request gets

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
        response.headers[.contentSecurityPolicy] = "sandbox"
        return response
    }

    /// What is in a folder, as a page or as JSON.
    ///
    /// - Parameters:
    ///   - listing: what is in it.
    ///   - path: where it is.
    ///   - request: the request.
    /// - Returns: the response.
    /// - Throws: `HTTPProtocolError` for a query that can't be read.
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
        return FileListing(listed, isTruncated: listing.isTruncated, unlisted: listing.unlisted, isTop: path.isRoot)
            .response(to: request)
    }
}

// MARK: Which files are sent, and who is asked and told

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
        response.headers[.contentSecurityPolicy] = "sandbox"
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
