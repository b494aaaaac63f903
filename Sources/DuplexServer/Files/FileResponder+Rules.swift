// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets

/// The rules of a folder that are more than options: who may read, what is shown, and who is asked and told.
package protocol FileRules: Sendable {
    /// Whether the names on a path may be known.
    func shows(_ path: String) -> Bool

    /// Throws if whoever makes a request may not read.
    func checkReading(by request: Request) throws

    /// What is in a folder; blocks for as long as the disk takes.
    func listing(of path: String, to request: Request) throws -> Response

    /// Sends the file at a path.
    ///
    /// - Parameters:
    ///   - path: where the file is.
    ///   - request: who asks for it.
    ///   - make: makes the response.
    /// - Returns: the response.
    /// - Throws: what refuses it, or what `make` throws.
    func send(
        _ path: String,
        to request: Request,
        _ make: () async throws -> Response
    ) async throws -> Response
}

// The files of a folder that has rules.

extension FileResponder {
    /// The response by these rules.
    func response(to request: Request, by rules: any FileRules) async throws -> Response {
        try rules.checkReading(by: request)
        let answer = try await BlockingThreads.files.run { try self.answer(request, onlyIfCached: false) }
        guard let path = answer.path else { return answer.response }
        return try await rules.send(path, to: request) { try await self.response(answer, request) }
    }
}
