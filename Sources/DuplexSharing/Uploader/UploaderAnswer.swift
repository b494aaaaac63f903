// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexFoundation
import DuplexServer
import DuplexSockets
import DuplexWire
import HTTPTypes

/// What the uploader's API answers in JSON.
enum UploaderAnswer {
    /// An answer that nobody keeps.
    static func json(_ value: some Encodable) throws -> Response { response(try CompactJSON.text(of: value)) }

    /// One that may be long: it is written on a thread of its own.
    ///
    /// - Parameter make: gives the value.
    /// - Returns: the response.
    /// - Throws: `EncodingError`; `SocketError` when the system has no thread to give.
    static func long(_ make: @escaping @Sendable () -> some Encodable & SendableMetatype) async throws -> Response {
        response(try await BlockingThreads.files.runToEnd { Result { try CompactJSON.text(of: make()) } }.get())
    }

    private static func response(_ text: String) -> Response {
        Response(type: .json, headers: headers, body: .text(text + "\n"))
    }

    private static let headers: HTTPFields = [.cacheControl: "no-store", .xContentTypeOptions: "nosniff"]

    /// Problems are sent as JSON (RFC 9457), whatever the client prefers.
    static let problems = RouteOption.problems { _, problem in
        var response = problem.json
        for field in headers { response.headers[field.name] = field.value }
        return response
    }

    // MARK: Answers

    /// What is in a folder.
    struct Listing: Codable {
        var path: String
        var entries: [Entry]
        /// Whether there are more entries.
        var isCut: Bool
        /// How many entries have names that can't be shown.
        var unlisted: Int
        var mayWrite: Bool
        /// Bytes, as is the quota; null where there is none.
        var free: Int
        @OrNull var quota: Int?
    }

    /// What has a text in its name.
    struct Found: Codable {
        var entries: [Entry]
        var isCut: Bool
    }

    /// What has been moved, copied, made or written.
    struct Changed: Codable, Equatable {
        struct Change: Codable, Equatable {
            /// Where it was, if it was anywhere.
            var from: String?
            var path: String
            /// Whether something else was there.
            var replaced: Bool
        }

        var changed: [Change]
    }

    /// What has been put into the trash.
    struct Trashed: Codable {
        var trashed: [Place]
    }

    /// What has been taken out of the trash.
    struct Restored: Codable {
        var restored: [Place]
    }

    /// What is in the trash.
    struct Trash: Codable {
        var items: [Item]
    }

    /// A folder in which something has changed.
    struct ChangedFolder: Codable {
        var path: String
    }

    // MARK: Their parts

    /// A file or folder.
    struct Entry: Codable, Equatable, Sendable {
        /// Where it is; left out where it is in a list of its folder.
        var path: String?
        var name: String
        var kind: String
        var size: Int
        var modified: String
        /// The media type of a file.
        var type: String?
        var tag: String?
    }

    /// Where something is that came into the trash, or out of it.
    struct Place: Codable, Equatable, Sendable {
        var id: String
        var path: String
    }

    /// Something in the trash.
    struct Item: Codable, Equatable, Sendable {
        var id: String
        /// Where it was.
        var path: String
        var kind: String
        var size: Int
        var deleted: String
    }
}

extension UploaderAnswer.Changed {
    init(_ changes: [(from: FolderPath?, change: FolderChange)]) {
        changed = changes.map { from, change in
            Change(from: from?.text, path: change.path.text, replaced: change.replaced)
        }
    }
}

extension UploaderAnswer.Entry {
    /// - Parameters:
    ///   - entry: what it is.
    ///   - path: where it is; `nil` in a list of its folder.
    init(_ entry: FolderEntry, at path: FolderPath? = nil) {
        self.init(
            path: path?.text,
            name: entry.name,
            kind: entry.kind.rawValue,
            size: Int(clamping: entry.size),
            modified: entry.modified.internetText,
            type: entry.kind == .file ? MediaType.ofFile(named: entry.name).rawValue : nil,
            tag: entry.tag?.description
        )
    }
}

extension UploaderAnswer.Item {
    init(_ item: TrashedItem) {
        self.init(
            id: item.id,
            path: item.path.text,
            kind: item.kind.rawValue,
            size: Int(clamping: item.size),
            deleted: item.deleted.internetText
        )
    }
}
