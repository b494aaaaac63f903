// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

/// What DuplexWire, and DuplexBase below it, may not contain: they have no pointer, no clock and no task, so that every rule
/// of the protocols can be tested with bytes alone.
@Suite("DuplexWire is free of input and output")
struct WireTests {
    /// The one file of each that may use pointers, within its functions.
    private static let unsafeFiles: Set<String> = [
        "Sources/DuplexBase/Bytes/Octets.swift", "Sources/DuplexWire/Bytes/RawBytes.swift",
    ]

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

    private var files: [SourceFile] { Repository.sources.filter { ["DuplexBase", "DuplexWire"].contains($0.target) } }

    @Test("Its sources are found")
    func findsFiles() {
        #expect(files.count > 30)
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

    @Test("It starts no task and waits for none")
    func startsNoTask() {
        #expect(Self.faults(files, { Self.tasks.contains($0.text) }) == [])
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
