// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@Suite("The manifest holds every target to the strict settings")
struct ManifestTests {
    private static let settings = [
        ".enableUpcomingFeature(\"ExistentialAny\")", ".enableUpcomingFeature(\"MemberImportVisibility\")",
        ".enableUpcomingFeature(\"InternalImportsByDefault\")",
        ".enableUpcomingFeature(\"NonisolatedNonsendingByDefault\")", ".strictMemorySafety()",
    ]
    /// Warnings are errors in builds of our own only.
    private static let warnings =
        "\nif Context.environment[\"DUPLEX_STRICT\"] != nil { strict.append(.treatAllWarnings(as: .error)) }\n"
    /// Targets without Swift in them.
    private static let targetsInC: Set<String> = [
        "CDuplexSystem", "CDuplexOpenSSL", "CDuplexISAL", "CDuplexZlib", "CDuplexExpat", "CDuplexQRCode",
        "CDuplexPages",
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

    private static func manifest(_ path: String = "Package.swift") throws -> String {
        CodeStripper.code(of: try Repository.text(of: path), keepsStrings: true)
    }

    /// Whether a script builds without having set the variable that makes warnings errors.
    private static func isLax(script: String) -> Bool {
        let lines = script.split(separator: "\n").filter { !$0.hasPrefix("#") }
        guard
            let build = lines.firstIndex(where: { line in
                ["swift build", "swift test", "swift run", "swift package"].contains { line.contains($0) }
            })
        else { return false }
        return !lines[..<build].contains { $0.hasPrefix("export DUPLEX_STRICT=1") }
    }

    @Test("The strict settings are what they are to be")
    func settingsAreStrict() throws {
        let manifest = try Self.manifest()
        let start = try #require(manifest.firstRange(of: "var strict: [SwiftSetting] = ["))
        let list = manifest[start.upperBound...].prefix { $0 != "]" }
        #expect(Self.settings.filter { !list.contains($0) } == [])
        #expect(manifest.contains("swiftLanguageModes: [.v6]"))
    }

    @Test(
        "Warnings are errors where the variable is set, and nowhere else",
        arguments: ["Package.swift", "Fuzz/Package.swift"]
    )
    func warningsAreErrors(path: String) throws {
        let manifest = try Self.manifest(path)
        #expect(manifest.ranges(of: "treatAllWarnings").count == 1)
        #expect(manifest.contains(Self.warnings))
    }

    /// `scripts/run` is for those who try it out, perhaps with a later compiler.
    @Test("Every script that builds sets the variable before it does, and so does the workflow")
    func scriptsSetTheVariable() throws {
        let scripts = Repository.paths(in: "scripts").filter { !$0.contains(".") && $0 != "scripts/run" }
        #expect(scripts.contains("scripts/lint"))
        let lax = try scripts.filter { Self.isLax(script: try Repository.text(of: $0)) }
        #expect(lax == [])
        #expect(Self.isLax(script: try Repository.text(of: "scripts/run")))
        #expect(try Repository.text(of: ".ci/run").contains("\nexport DUPLEX_STRICT=1\n"))
        #expect(
            try Repository.text(of: ".github/workflows/ci.yml").contains(
                "\n  DUPLEX_STRICT: 1\n"
            )
        )
    }

    @Test("A script that builds before it sets the variable is found")
    func findsLaxScripts() {
        #expect(Self.isLax(script: "swift test\nexport DUPLEX_STRICT=1\n"))
        #expect(!Self.isLax(script: "export DUPLEX_STRICT=1\nswift test\n"))
        #expect(!Self.isLax(script: "# swift test\necho\n"))
    }

    @Test(
        "What a package that only needs sockets or the wire has to resolve is three packages: the others are behind traits"
    )
    func othersAreBehindTraits() throws {
        let lines = try Self.manifest().split(separator: "\n")
        let declared = lines.filter { $0.contains(".package(url:") }.compactMap { line in
            line.split(separator: "\"").dropFirst().first?.split(separator: "/").last
        }
        let products = lines.filter { $0.hasPrefix("let ") && $0.contains("product(") }
        let guarded = products.filter { $0.contains(", for: \"") }
        let free = declared.filter { package in !guarded.contains { $0.contains("of: \"\(package)\"") } }
        #expect(Set(free) == ["swift-http-types", "swift-log", "swift-collections"])
        #expect(products.count - guarded.count == free.count)
        // Nothing else names a product.
        #expect(lines.filter { $0.contains(".product(") }.count == free.count + 1)
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

    /// What the compiler brings, and what a package can't declare.
    private static let ofTheToolchain: Set<String> = [
        "Swift", "Synchronization", "Testing", "Foundation", "FoundationEssentials", "FoundationNetworking", "Dispatch",
        "Glibc", "Darwin", "UIKit", "AppKit",
    ]

    /// What the row of each target names; a constant stands for the product that it was made with.
    private static func dependencies(_ manifest: String) -> [String: Set<String>] {
        let lines = manifest.split(separator: "\n").filter { $0.hasPrefix("let ") && $0.contains("product(") }
        let constants = lines.map { line in
            (line.dropFirst(4).prefix { $0 != " " }, line.split(separator: "\"").dropFirst().first ?? "")
        }
        let products = Dictionary(constants) { first, _ in first }
        let rows = targets(manifest).map { target in
            let list = target.text.firstRange(of: "dependencies: [").map { target.text[$0.upperBound...] } ?? ""
            let items = list.prefix { $0 != "]" }.split { $0 == "," || $0.isWhitespace }
            let names = items.map { String(products[$0] ?? $0.trimmingPrefix("\"").prefix { $0 != "\"" }) }
            return (target.name, Set(names))
        }
        return Dictionary(rows) { first, _ in first }
    }

    private static func undeclaredImports(_ files: [SourceFile], manifest: String) -> [String] {
        let declared = dependencies(manifest)
        return files.flatMap { file in
            file.imports.map(\.module)
                .filter { !ofTheToolchain.contains($0) && declared[file.target]?.contains($0) != true }
                .map { "\(file.path): \(file.target) imports \($0)" }
        }
    }

    /// Otherwise it would build only as long as another target is built first.
    @Test("Every target imports only what its row names")
    func importsAreDeclared() throws {
        #expect(Self.undeclaredImports(Repository.sources + Repository.tests, manifest: try Self.manifest()) == [])
    }

    @Test("An import that the row doesn't name is found")
    func findsUndeclaredImports() {
        let manifest = """
            let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
            let metrics = product("CoreMetrics", of: "swift-metrics", for: "WebSockets")

                targets: [
                    .target(name: "A", swiftSettings: strict),
                    .testTarget(
                        name: "ATests",
                        dependencies: [
                            "A", logging,
                            metrics,
                        ],
                        swiftSettings: strict
                    ),
                ]
            """
        let imports = "import A\nimport CoreMetrics\nimport HTTPTypes\npackage import Logging\nimport Testing\n"
        let files = ["Sources/A/A.swift", "Tests/ATests/A.swift"].map { SourceFile(path: $0, text: imports) }
        #expect(
            Self.undeclaredImports(files, manifest: manifest) == [
                "Sources/A/A.swift: A imports A", "Sources/A/A.swift: A imports CoreMetrics",
                "Sources/A/A.swift: A imports HTTPTypes", "Sources/A/A.swift: A imports Logging",
                "Tests/ATests/A.swift: ATests imports HTTPTypes",
            ]
        )
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
