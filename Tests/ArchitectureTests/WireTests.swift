// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

/// What DuplexWire, DuplexBase below it, and the folders `Rules` of the other targets may not contain: they have no socket, no
/// pointer, no clock and no task, so that every rule of the protocols can be tested with bytes alone.
@Suite("DuplexWire and the rules of features are free of input and output")
struct WireTests {
    /// The one file of each that may use pointers, within its functions.
    private static let unsafeFiles: Set<String> = [
        "Sources/DuplexBase/Octets.swift", "Sources/DuplexWire/Bytes/RawBytes.swift",
    ]

    /// What rules may import: types of HTTP, and what is held to the same.
    private static let modules: Set<String> = ["DuplexBase", "DuplexWire", "HTTPTypes", "Synchronization"]
    private static let clocks: Set<String> = [
        "ContinuousClock", "SuspendingClock", "Date", "DispatchTime", "clock_gettime", "gettimeofday", "time",
    ]
    private static let tasks: Set<String> = [
        "Task", "TaskGroup", "async", "await", "actor", "AsyncSequence", "AsyncStream", "sleep",
    ]

    private static func isPointer(_ word: SourceFile.Word) -> Bool {
        word.text.hasPrefix("Unsafe") || ["OpaquePointer", "Unmanaged"].contains(word.text)
    }

    private static func isUnsafe(_ word: SourceFile.Word) -> Bool {
        word.text.hasPrefix("unsafe") || word.text.hasPrefix("withUnsafe") || isPointer(word)
    }

    /// `now` is the name of the instants that are handed in; as a member it is the reading of a clock.
    private static func isClock(_ word: SourceFile.Word) -> Bool {
        clocks.contains(word.text) || (word.text == "now" && word.isMember)
    }

    private static func faults(
        _ files: [SourceFile],
        _ isFault: (SourceFile.Word) -> Bool
    ) -> [String] {
        files.flatMap { file in file.words.filter(isFault).map { "\(file.path):\($0.line): \($0.text)" } }
    }

    /// Whether a file lies in a folder `Rules`, or in one within it.
    private static func isInRules(_ file: SourceFile) -> Bool { file.path.split(separator: "/").contains("Rules") }

    private static func isOfRules(_ file: SourceFile) -> Bool {
        ["DuplexBase", "DuplexWire"].contains(file.target) || isInRules(file)
    }

    /// The imports of rules that may bring sockets, clocks or pointers.
    private static func importFaults(_ files: [SourceFile]) -> [String] {
        files.filter(isOfRules).flatMap { file in
            file.imports.filter { !modules.contains($0.module) }.map { "\(file.path):\($0.line): \($0.module)" }
        }
    }

    /// Where the rules of a feature name a type of the same target that isn't one of its rules.
    private static func neighbourFaults(_ files: [SourceFile]) -> [String] {
        let targets = Dictionary(grouping: files, by: \.target).values
        return targets.filter { $0.contains(where: isInRules) }.flatMap { files -> [String] in
            let rules = files.filter(isInRules)
            let others = files.filter { !isInRules($0) }.reduce(into: Set<String>()) {
                $0.formUnion($1.declarations.types)
            }
            let own = rules.reduce(into: Set<String>()) { $0.formUnion($1.declarations.types) }
            return rules.flatMap { file -> [String] in
                let known = own.union(file.declarations.nestedTypes)
                return file.words.filter { !$0.isMember && others.contains($0.text) && !known.contains($0.text) }
                    .map { "\(file.path):\($0.line): \($0.text)" }
            }
        }
    }

    private var files: [SourceFile] { Repository.sources.filter(Self.isOfRules) }

    @Test("Its sources are found, and those of rules that are elsewhere")
    func findsFiles() {
        #expect(files.count > 30)
        #expect(files.contains { $0.path.hasPrefix("Sources/DuplexTopics/Redis/Rules/") })
        #expect(Self.unsafeFiles.isSubset(of: files.map(\.path)))
    }

    @Test("Pointers, and whatever else is unsafe, are in one file of each")
    func hasNoPointer() {
        #expect(Self.faults(files.filter { !Self.unsafeFiles.contains($0.path) }, Self.isUnsafe) == [])
    }

    @Test("A file that holds them gives no pointer to anybody else")
    func passesOnNoPointer() {
        let headers: [String] = files.filter { Self.unsafeFiles.contains($0.path) }.flatMap(\.functionHeaders)
        let visible = headers.filter { !$0.contains("private") }
        #expect(!visible.isEmpty)
        #expect(visible.filter { $0.contains("Pointer") } == [])
    }

    @Test("It reads no clock")
    func readsNoClock() {
        #expect(Self.faults(files, Self.isClock) == [])
    }

    @Test("It imports nothing that has sockets")
    func importsNoSockets() {
        #expect(Self.importFaults(Repository.sources) == [])
    }

    @Test("The rules of a feature name nothing of its target but rules")
    func namesRulesOnly() {
        #expect(Self.neighbourFaults(Repository.sources) == [])
    }

    @Test("It starts no task and waits for none")
    func startsNoTask() {
        #expect(Self.faults(files, { Self.tasks.contains($0.text) }) == [])
    }

    @Test(
        "An import, or a name of the feature, is found in a folder of rules and nowhere else",
        arguments: [
            ("Sources/A/B/Rules/C.swift", true), ("Sources/A/B/Rules/D/C.swift", true), ("Sources/A/B/C.swift", false),
        ]
    )
    func findsFaultsOfRules(path: String, isFound: Bool) {
        let rule = SourceFile(path: path, text: "import DuplexSockets\nlet a: Connection")
        let other = SourceFile(path: "Sources/A/B/Connection.swift", text: "struct Connection {}")
        #expect(Self.importFaults([rule, other]).isEmpty == !isFound)
        #expect(Self.neighbourFaults([rule, other]).isEmpty == !isFound)
    }

    @Test(
        "The rules find what they forbid",
        arguments: [
            "let p: UnsafeRawPointer", "let p: OpaquePointer", "unsafe f()", "a.withUnsafeBytes { _ in }",
            "let t = ContinuousClock.now", "let t = Date()", "let t = clock.now", "Task { }", "func f() async {}",
        ]
    )
    func findsFaults(text: String) {
        let file = SourceFile(path: "a.swift", text: text)
        let isFault = { Self.isUnsafe($0) || Self.isClock($0) || Self.tasks.contains($0.text) }
        #expect(Self.faults([file], isFault) != [])
        #expect(Self.faults([SourceFile(path: "a.swift", text: "// " + text)], isFault) == [])
    }
}

extension SourceFile {
    /// The declarations of functions, from the brace or semicolon before to the body.
    fileprivate var functionHeaders: [String] {
        (CodeBlock.all(in: code) ?? []).map(\.header).filter { $0.contains("func ") }
    }
}
