// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexFoundation
import DuplexServer
import DuplexSockets
import DuplexWire
import HTTPTypes

/// Answers the requests of the uploader's API with a shared folder.
final class UploaderHandler: Sendable {
    let folder: SharedFolder
    let options: UploaderOptions

    init(_ folder: SharedFolder, _ options: UploaderOptions) {
        self.folder = folder
        self.options = options
    }

    /// Has what the folder refuses answered as the problem that it is.
    func answer<Value>(_ body: () async throws -> Value) async throws -> Value {
        do { return try await body() } catch let error as FolderError { throw error.problem }
    }

    // MARK: What requests say

    /// Where a text leads.
    ///
    /// - Throws: `FolderError` with `badName` where that can't be a path.
    static func path(_ text: String) throws(FolderError) -> FolderPath {
        guard let path = FolderPath(text) else { throw FolderError(.badName, "That can't be a path here.") }
        return path
    }

    /// What is in a folder under that name.
    static func path(_ folder: FolderPath, _ name: String) throws(FolderError) -> FolderPath {
        guard let path = folder.appending(name) else { throw FolderError(.badName, "That can't be a name here.") }
        return path
    }

    /// The path that the query names; that of the folder itself where it names none.
    static func path(of request: Request) throws -> FolderPath {
        try path(request.queryItems["path"] ?? "")
    }

    /// What happens to names that are taken.
    ///
    /// - Parameter text: `refuse`, `replace` or `number`; `nil` for the first.
    /// - Returns: the policy.
    /// - Throws: `Problem` with 400 for another text.
    static func clash(_ text: String?) throws(Problem) -> NameClash {
        guard let text else { return .refuse }
        guard let clash = NameClash(rawValue: text) else {
            throw Problem(.badRequest, "“clash” is refuse, replace or number.")
        }
        return clash
    }

    // MARK: Who asks

    /// Throws where a client may not look.
    func checkReading(_ request: Request) throws(Problem) {
        do throws(FolderError) {
            try folder.checkReading(FolderVisitor(request), .root)
        } catch { throw error.problem }
    }

    /// Who makes a request that changes something.
    ///
    /// - Throws: `FolderError` with `notPermitted` where that visitor may not, before anything about the folder is
    ///   revealed.
    func writer(_ request: Request) throws(FolderError) -> FolderVisitor {
        let visitor = FolderVisitor(request)
        guard !options.isReadOnly, folder.mayWrite(visitor) else {
            throw FolderError(.notPermitted, "You may not change anything here.")
        }
        return visitor
    }
}
