// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@Suite("The manifest holds every target to the strict settings")
struct ManifestTests {
    private static let settings = [
        ".enableUpcomingFeature(\"ExistentialAny\")", ".enableUpcomingFeature(\"MemberImportVisibility\")",
        ".enableUpcomingFeature(\"InternalImportsByDefault\")",
        ".enableUpcomingFeature(\"NonisolatedNonsendingByDefault\")", ".strictMemorySafety()",
        ".treatAllWarnings(as: .error)",
    ]
    /// Targets without Swift in them.
    private static let targetsInC: Set<String> = [
        "CDuplexSystem", "CDuplexOpenSSL", "CDuplexISAL", "CDuplexZlib", "CDuplexExpat", "CDuplexQRCode",
    ]

    /// A target of the manifest and the text of its declaration.
    private struct Target {
        var name: String
        var text: Substring
    }

    private static func targets(_ manifest: String) -> [Target] {
        let list = manifest.firstRange(of: "\n    targets: [").map { manifest[$0.upperBound...] } ?? ""
        let kinds = [".target(", ".executableTarget(", ".testTarget(", ".systemLibrary("]
        let starts = kinds.flatMap { list.ranges(of: $0) }.map(\.lowerBound).sorted()
        return zip(starts, starts.dropFirst() + [list.endIndex]).map { start, end in
            let text = list[start..<end]
            let quoted = text.split(separator: "\"", maxSplits: 2)
            return Target(name: quoted.count > 1 ? String(quoted[1]) : "", text: text)
        }
    }

    private static func laxTargets(_ manifest: String) -> [String] {
        targets(manifest).filter { !targetsInC.contains($0.name) && !$0.text.contains("swiftSettings: strict") }
            .map(\.name)
    }

    private static func manifest() throws -> String {
        CodeStripper.code(of: try Repository.text(of: "Package.swift"), keepsStrings: true)
    }

    @Test("The strict settings are what they are to be")
    func settingsAreStrict() throws {
        let manifest = try Self.manifest()
        let start = try #require(manifest.firstRange(of: "let strict: [SwiftSetting] = ["))
        let list = manifest[start.upperBound...].prefix { $0 != "]" }
        #expect(Self.settings.filter { !list.contains($0) } == [])
        #expect(manifest.contains("swiftLanguageModes: [.v6]"))
    }

    @Test("Every target with Swift in it is compiled with them")
    func everyTargetIsStrict() throws {
        #expect(Self.laxTargets(try Self.manifest()) == [])
    }

    @Test("Every folder of Sources and Tests is a target")
    func everyFolderIsATarget() throws {
        let folders = ["Sources", "Tests"].flatMap { Repository.paths(in: $0) }
            .compactMap { $0.split(separator: "/").dropFirst().first.map { String($0) } }
        let targets = Set(try Self.targets(Self.manifest()).map(\.name))
        #expect(targets.subtracting(folders) == [], "targets without a folder")
        #expect(Set(folders).subtracting(targets) == [], "folders without a target")
    }

    @Test("A target without the settings is found")
    func findsLaxTargets() {
        let manifest = """

                targets: [
                    .target(name: "A", swiftSettings: strict),
                    .testTarget(
                        name: "B",
                        dependencies: ["A"]
                    ),
                    .target(name: "C", swiftSettings: strict),
                ]
            """
        #expect(Self.laxTargets(manifest) == ["B"])
    }
}
