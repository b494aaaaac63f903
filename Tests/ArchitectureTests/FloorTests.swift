// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

/// In each target the folders have an order, which docs/Rooms.md names, and code refers to its own folder and those below.
///
/// Seen are names of types, which is nearly everything: not members and free functions.
@Suite("Rooms have floors")
struct FloorTests {
    /// Targets whose folders have no order yet, each with the reason.
    private static let exceptions: [String: String] = [:]

    private static func target(_ name: String) -> [SourceFile] { Repository.sources.filter { $0.target == name } }

    /// The order of a target's folders, as the document has it.
    private static func order(of target: String) throws -> [String] {
        let document = Markdown(try Repository.text(of: "docs/Rooms.md"))
        return document.table(under: "### The floors of `\(target)`").flatMap { Markdown.quoted($0.first ?? "") }
    }

    /// The targets that have folders with sources in them.
    private static var targets: [String] {
        let inFolders = Repository.sources.filter { Floors.floor(of: $0.path) != "." }
        return Set(inFolders.map(\.target)).subtracting(exceptions.keys).sorted()
    }

    @Test("docs/Rooms.md has every folder of every target once")
    func everyFolderHasAPlace() throws {
        #expect(Self.targets.count >= 5)
        for target in Self.targets {
            let order = try Self.order(of: target)
            #expect(Set(order) == Floors(Self.target(target), order: order).found, "\(target)")
            #expect(Set(order).count == order.count, "\(target)")
        }
    }

    @Test("Nothing refers to a floor above its own")
    func nothingRefersUpwards() throws {
        for target in Self.targets {
            let faults = Floors(Self.target(target), order: try Self.order(of: target)).faults
            #expect(faults == [])
        }
    }

    @Test("Every exception is a target that is there")
    func exceptionsAreThere() {
        for target in Self.exceptions.keys { #expect(!Self.target(target).isEmpty) }
    }

    // MARK: The reader

    /// A target of two floors and a root, with one more file.
    private static func tree(_ path: String, _ text: String) -> Floors {
        let files = [
            SourceFile(path: "Sources/A/Low/Stone.swift", text: "struct Stone { struct Edge {} }"),
            SourceFile(path: "Sources/A/High/Roof.swift", text: "struct Roof { let stone: Stone }"),
            SourceFile(
                path: "Sources/A/Flag.swift",
                text: "enum Flag { enum Roof {} }\nextension Roof { typealias F = Flag }"
            ),
            SourceFile(path: path, text: text),
        ]
        return Floors(files, order: ["Low", "High", "."])
    }

    @Test(
        "A reference upwards is found",
        arguments: [
            ("Sources/A/Low/B.swift", "struct B {\n    let roof: Roof\n}", "2: Roof is of High, above Low"),
            ("Sources/A/Low/B.swift", "extension Roof {}", "1: Roof is of High, above Low"),
            ("Sources/A/Low/Deep/B.swift", "let a = Flag.self", "1: Flag is of ., above Low"),
            ("Sources/A/High/B.swift", "let a = \"\\(Flag.self)\"", "1: Flag is of ., above High"),
        ]
    )
    func findsFaults(path: String, text: String, fault: String) {
        #expect(Self.tree(path, text).faults == ["\(path):\(fault)"])
    }

    @Test(
        "A reference downwards is none, nor a comment, a text, a member, or a type of the file's own",
        arguments: [
            ("Sources/A/High/B.swift", "let a = Stone()"), ("Sources/A/B.swift", "let a: [Roof]"),
            ("Sources/A/Low/B.swift", "// Roof\nlet a = \"Roof\""), ("Sources/A/Low/B.swift", "let a = b.Roof"),
            ("Sources/A/Low/B.swift", "struct B { enum Flag {}; let a: Flag }"),
        ]
    )
    func findsNoFaults(path: String, text: String) {
        #expect(Self.tree(path, text).faults == [])
    }

    @Test("Folders are found, those within others with them")
    func findsFolders() {
        #expect(Self.tree("Sources/A/Low/Deep/B.swift", "").found == ["Low", "High", "."])
    }
}
