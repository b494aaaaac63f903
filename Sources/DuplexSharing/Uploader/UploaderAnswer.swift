// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexWire
import HTTPTypes

/// What the uploader's API answers in JSON.
enum UploaderAnswer {
    /// An answer that nobody keeps.
    static func json(_ json: JSONText) -> Response { response(.json, .text(json.text + "\n")) }

    /// One that may be long: it is written on a thread of its own.
    ///
    /// - Parameter make: gives the JSON.
    /// - Returns: the response.
    /// - Throws: `SocketError` when the system has no thread to give.
    static func long(_ make: @escaping @Sendable () -> JSONText) async throws -> Response {
        let text = try await BlockingThreads.files.runToEnd { make().text + "\n" }
        return response(.json, .text(text))
    }

    private static func response(_ type: MediaType, _ body: ResponseBody) -> Response {
        Response(type: type, fields: [.cacheControl: "no-store", .xContentTypeOptions: "nosniff"], body: body)
    }

    /// Problems are sent as JSON (RFC 9457), whatever the client prefers.
    static let problems = RouteOption.problems { _, problem in
        var members = JSONText.Members()
        members.add("status", problem.status.code)
        members.add("title", problem.status.reasonPhrase)
        members.add("detail", problem.detail)
        var response = response(.problemJSON, .text(JSONText.object(members.all).text + "\n"))
        response.status = problem.status
        return response
    }

    // MARK: Values

    /// An object of one member.
    static func object(_ name: String, _ value: JSONText) -> JSONText {
        .object([JSONText.Member(name: name, value: value)])
    }

    /// A file or folder.
    ///
    /// - Parameters:
    ///   - entry: what it is.
    ///   - path: where it is; left out where it is in a list of its folder.
    /// - Returns: the object.
    static func entry(_ entry: FolderEntry, at path: FolderPath? = nil) -> JSONText {
        var members = JSONText.Members()
        members.add("path", path?.text)
        members.add("name", entry.name)
        members.add("kind", entry.kind.rawValue)
        members.add("size", number(entry.size))
        members.add("modified", entry.modified.internetText)
        if entry.kind == .file { members.add("type", MediaType.ofFile(named: entry.name).rawValue) }
        members.add("tag", entry.tag?.description)
        return .object(members.all)
    }

    /// What has been moved, copied, made or written.
    static func changed(_ changes: [(from: FolderPath?, change: FolderChange)]) -> Response {
        let values = changes.map { from, change in
            var members = JSONText.Members()
            members.add("from", from?.text)
            members.add("path", change.path.text)
            members.add("replaced", change.replaced)
            return JSONText.object(members.all)
        }
        return json(object("changed", .array(values)))
    }

    /// Where something is that came into the trash, or out of it.
    static func item(_ id: String, _ path: FolderPath) -> JSONText {
        var members = JSONText.Members()
        members.add("id", id)
        members.add("path", path.text)
        return .object(members.all)
    }

    /// Something in the trash.
    static func item(_ item: TrashedItem) -> JSONText {
        var members = JSONText.Members()
        members.add("id", item.id)
        members.add("path", item.path.text)
        members.add("kind", item.kind.rawValue)
        members.add("size", number(item.size))
        members.add("deleted", item.deleted.internetText)
        return .object(members.all)
    }

    static func number(_ number: UInt64) -> JSONText { .integer(Int64(clamping: number)) }
}
