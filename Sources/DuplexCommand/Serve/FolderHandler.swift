// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexWire
import Foundation
import HTTPTypes

/// Answers GET and HEAD with the files below a folder.
///
/// `server.files` of the library will replace it. No link is followed and no name that begins with a dot is answered, so that nothing outside the folder can be read. A folder is
/// answered with its `index.html`; there are no listings and no ranges.
struct FolderHandler: Sendable {
    private let root: String

    /// What waits for the disk: not the loops.
    private static let threads = BlockingThreads(name: "duplex-folder", limit: 4)

    /// - Throws: ``Failure`` when there is no such folder.
    init(_ root: String) throws(Failure) {
        guard let file = try FolderFile.find([], below: root), file.kind == .folder else {
            throw Failure(.failure, "“\(root.visible)” is no folder that can be read.")
        }
        self.root = root
    }

    /// The file at the path of the request.
    ///
    /// - Throws: `Problem` with 404 when there is none.
    func response(to request: Request) async throws -> Response {
        guard let place = Place(path: request.path) else { throw Self.nothing }
        let query = request.query.map { "?" + $0 } ?? ""
        return try await Self.threads.run { try response(at: place, redirect: request.path + "/" + query) }
    }

    private func response(at place: Place, redirect: String) throws -> Response {
        guard let found = try FolderFile.find(place.segments, below: root) else { throw Self.nothing }
        switch (found.kind, place.isFolder) {
        case (.file, false):
            return try Self.response(found, name: place.segments.last ?? "")
        case (.folder, false):
            return .redirect(to: redirect, .movedPermanently)
        case (.folder, true):
            let index = try FolderFile.find(place.segments + ["index.html"], below: root)
            guard let index, index.kind == .file else { throw Self.nothing }
            return try Self.response(index, name: "index.html")
        default:
            throw Self.nothing
        }
    }

    private static func response(_ file: FolderFile, name: String) throws -> Response {
        var response = Response(type: FolderMediaType.of(name), body: try .file(file.path))
        let (seconds, nanoseconds) = file.modified
        let tag = [Int64(file.size), seconds, nanoseconds].map { String($0, radix: 16) }.joined(separator: "-")
        // Weak: a file may be changed twice between two ticks of the file system's clock (RFC 9110 section 8.8.1).
        response.fields[.eTag] = EntityTag(tag, isWeak: true)?.description
        response.fields[.lastModified] = HTTPDate.string(UnixTime(seconds: seconds))
        response.fields[.cacheControl] = "no-cache"
        response.fields[.xContentTypeOptions] = "nosniff"
        return response
    }

    private static let nothing = Problem(.notFound, "There is nothing at this path.")

    /// Where below the folder a path leads.
    struct Place: Equatable {
        var segments: [String] = []
        /// Whether the path ends with a slash.
        let isFolder: Bool

        /// - Returns: `nil` for what leads nowhere: empty names, names with a dot in front, and names that aren't text.
        init?(path: String) {
            guard path.hasPrefix("/") else { return nil }
            var parts = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
            isFolder = parts.last?.isEmpty == true
            if isFolder { parts.removeLast() }
            for part in parts {
                guard let name = String(part).removingPercentEncoding, !name.isEmpty, !name.hasPrefix("."),
                    !name.utf8.contains(where: { $0 == 0 || $0 == UInt8(ascii: "/") })
                else { return nil }
                segments.append(name)
            }
        }
    }
}
