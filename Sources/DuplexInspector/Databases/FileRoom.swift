// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSharing
import DuplexSockets
import DuplexWire
import Foundation
import HTTPTypes
import Logging

/// The part that shows the folders that the app names: the uploader's page for each, in a frame, beside what is known of the
/// file that is chosen there.
struct FileRoom: InspectorRoom {
    let page = "files"
    /// In the order in which the page has them; the number of one is a part of its address.
    private let folders: [(name: String, folder: SharedFolder)]

    private let catalogue: DatabaseCatalogue

    init(_ folders: [String: SharedFolder], _ catalogue: DatabaseCatalogue) {
        self.catalogue = catalogue
        self.folders = folders.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// The names of the folders.
    struct List: Codable {
        var folders: [String]
    }

    func add(to routes: inout InspectorRoutes) {
        let names = folders.map(\.name)
        routes.get("/files/list") { _ in
            try InspectorAnswer.json(List(folders: names))
        }
        routes.get("/files/attributes") { request in try await attributes(request) }
        let (allowed, logger, catalogue) = (routes.allowed, routes.logger, catalogue)
        for (number, (name, folder)) in folders.enumerated() {
            var showing = UploaderOptions()
            showing.title = name
            showing.logo = ""
            showing.isReadOnly = !allowed.contains(.files)
            let guarding = RouteOption.all(
                .before { request in
                    if !Self.isReading(request) { try InspectorRoutes.check(.files, allowed) }
                    return nil
                },
                .around { request, next in
                    let warden = SharedFolder.Warden { operation in
                        try await catalogue.keep(operation, in: folder, named: name)
                    }
                    return try await SharedFolder.$warden.withValue(warden) {
                        try await Self.telling(logger, of: request, in: name) { try await next(request) }
                    }
                },
                .after { _, response in Self.allowFrame(&response) }
            )
            routes.mount { group in
                group.uploader("/files/\(number)", guarding, folder: folder, options: showing)
            }
        }
    }

    // MARK: The uploader's page, below the inspector's

    /// Whether a request changes nothing; the form that asks for a zip is one that doesn't.
    static func isReading(_ request: Request) -> Bool {
        switch request.method {
        case .get, .head, .options: true
        case .post: PercentDecoding.rawSegments(ofPath: request.path).last == "zip"
        default: false
        }
    }

    /// Has a line of the log for each change that a request makes.
    private static func telling(
        _ logger: Logger,
        of request: Request,
        in name: String,
        _ body: () async throws -> Response
    ) async throws -> Response {
        let witness = SharedFolder.Witness { operation in
            if operation.kind == .read { return }
            let note = ChangeNote(.files, by: request)
            let goal = operation.destination.map { " to \(name)\($0)" } ?? ""
            note.says("\(operation.kind.rawValue) \(name)\(operation.path)\(goal)")
            note.tell(logger, outcome: "done")
        }
        return try await SharedFolder.$witness.withValue(witness) { try await body() }
    }

    /// The inspector's page, of the same origin, has the uploader's in a frame.
    private static func allowFrame(_ response: inout Response) {
        guard let policy = response.headers[.contentSecurityPolicy] else { return }
        response.headers[.contentSecurityPolicy] = policy.replacing(
            "frame-ancestors 'none'",
            with: "frame-ancestors 'self'"
        )
        response.headers[.xFrameOptions] = "SAMEORIGIN"
    }

    // MARK: Attributes

    /// What the system says of a file, which isn't opened for that: see ``DatabaseFile``.
    private func attributes(_ request: Request) async throws -> Response {
        let items = try request.query
        guard let number = Int(items["folder"] ?? ""), folders.indices.contains(number),
            let path = FolderPath(items["path"] ?? "")
        else { throw Problem(.notFound, "There is no such folder.") }
        let (name, folder) = folders[number]
        let place = try await DatabaseCatalogue.path(of: path, in: folder, FolderVisitor(request))
        var facts = try await BlockingThreads.files.run { try FileFacts(place) }
        facts.path = path.text
        facts.name = path.isRoot ? name : path.name
        if facts.isFile {
            facts.type = MediaType.ofFile(named: path.name).rawValue
            if await catalogue.isDatabase(place) { facts.database = "\(name)/\(path.text)" }
        }
        return try InspectorAnswer.json(facts)
    }
}

/// What the system says of a file or folder; encoded as the page gets it.
struct FileFacts: Sendable, Codable {
    /// Where it is in its folder, and what it is called; both are empty until they are set.
    var path = ""
    var name = ""
    /// `file` or `folder`.
    var kind: String
    var size: Int?
    /// In seconds since 1970.
    var modified: Double?
    /// What may be done with it, as ``mode(_:)`` has it.
    var mode: String?
    var owner: String?
    var group: String?
    var links: Int?
    var number: Int?
    var attributes: [Attribute]
    /// The media type of a file.
    var type: String?
    /// What the part for databases calls it.
    var database: String?

    var isFile: Bool { kind == "file" }

    /// Looks at what is at a path; blocks.
    init(_ path: String) throws {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        func number(_ key: FileAttributeKey) -> Int? { (attributes[key] as? NSNumber)?.intValue }
        func time(_ key: FileAttributeKey) -> Double? { (attributes[key] as? Date)?.timeIntervalSince1970 }
        let isFile = attributes[.type] as? FileAttributeType == .typeRegular
        kind = isFile ? "file" : "folder"
        if isFile { size = number(.size) }
        modified = time(.modificationDate)
        mode = number(.posixPermissions).map { Self.mode($0) }
        owner = Self.owner(attributes[.ownerAccountName], number(.ownerAccountID))
        group = Self.owner(attributes[.groupOwnerAccountName], number(.groupOwnerAccountID))
        links = number(.referenceCount)
        self.number = number(.systemFileNumber)
        self.attributes = FileAttribute.all(at: path).map { Attribute($0) }
    }

    /// An extended attribute: as text where all of it can be seen, in base 16 otherwise, and the first 512 bytes at most.
    struct Attribute: Sendable, Codable, Equatable {
        var name: String
        var size: Int
        var text: String?
        var hex: String?
        var cut: Bool
    }

    /// As `ls` writes it, and in octal: `rw-r--r-- (644)`.
    static func mode(_ bits: Int) -> String {
        let letters = Array("rwxrwxrwx").enumerated().map { bits & (0o400 >> $0) != 0 ? $1 : "-" }
        return "\(String(letters)) (\(String(bits & 0o7777, radix: 8)))"
    }

    private static func owner(_ name: Any?, _ number: Int?) -> String? {
        let texts = [name as? String, number.map { "(\($0))" }].compactMap(\.self)
        return texts.isEmpty ? nil : texts.joined(separator: " ")
    }
}

extension FileFacts.Attribute {
    init(_ attribute: FileAttribute) {
        let shown = attribute.bytes.prefix(512)
        // Many end with a zero, as texts of C do.
        let text = String(prefixOfUTF8: shown.last == 0 ? shown.dropLast() : shown)
        let isSeen =
            text.map { text in text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F } } == true
        self.init(
            name: attribute.name,
            size: attribute.size,
            text: isSeen ? text : nil,
            hex: isSeen ? nil : Base16.encode(shown),
            cut: shown.count < attribute.size
        )
    }
}
