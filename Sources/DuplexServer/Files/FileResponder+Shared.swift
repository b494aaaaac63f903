// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire

// The files of a shared folder, by its rules.

extension FileResponder {
    /// The response out of a shared folder, with the app's callbacks before and after a file is sent.
    func response(to request: Request, in shared: SharedFolder) async throws -> Response {
        let visitor = FolderVisitor(request)
        do {
            try shared.checkReading(visitor, .root)
            let answer = try await BlockingThreads.files.run { try self.answer(request, onlyIfCached: false) }
            guard let path = answer.path.flatMap({ FolderPath($0) }) else { return answer.response }
            let operation = FolderOperation(.read, path, by: visitor)
            try await shared.options.before(operation)
            var response = try await response(answer, request)
            // What others have put there is no page of this server.
            response.fields[.contentSecurityPolicy] = "sandbox"
            await shared.tell(operation)
            return response
        } catch let error as FolderError {
            throw error.problem
        }
    }

    /// What is in a folder, but for what isn't shown; blocks for as long as the disk takes.
    func listing(of path: FilePath, in shared: SharedFolder, _ request: Request) throws -> Response {
        guard let path = FolderPath(path.text) else { throw Problem(.notFound, "There is nothing at this path.") }
        let listing = try shared.store.entries(
            of: path,
            atMost: shared.options.listingLimit,
            showsHidden: shared.options.showsHidden
        )
        return try SharedFolder.response(of: listing, at: path, to: request)
    }
}
