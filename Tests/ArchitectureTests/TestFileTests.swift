// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@Suite("Each source file has a test file")
struct TestFileTests {
    /// Files that hold nothing that could be tested by itself, each with the reason.
    private static let exceptions: [String: String] = [
        "Sources/DuplexSockets/System/Base.swift": "an import that is passed on",
        "Sources/DuplexServer/Exchanges/Exports.swift": "an import that is passed on",
        "Sources/DuplexTesting/Base.swift": "imports that are passed on",
        "Sources/DuplexWire/Bytes/Base.swift": "an import that is passed on",
        "Sources/DuplexSockets/Connecting/ProxyRoute.swift":
            "protocols and their words; the tests of ProxiedConnector have proxies",
        "Sources/DuplexSockets/EventLoop/Poller.swift": "a protocol and its words; the pollers do something",
        "Sources/DuplexSockets/EventLoop/LoopCallbacks.swift": "protocols; the tests of LoopCore have what is called",
        "Sources/DuplexSockets/Channels/ChannelHandler.swift": "a protocol; the tests of Channel have handlers",
        "Sources/DuplexSharing/Folders/PropertyKeeping.swift":
            "a protocol; the tests of PropertyDatabase have one that keeps",
        "Sources/DuplexWebSockets/Connection/Exports.swift": "imports; ProgramTests has programs that need them",
        "Sources/DuplexWire/Messages/MessageInflater.swift": "protocols and their words; DuplexDeflate does something",
    ]

    /// Where the tests of a source file belong; `nil` for a part of a type (`Type+Part.swift`), which may be tested with
    /// the type.
    private static func testPath(of source: String) -> String? {
        guard !source.contains("+") else { return nil }
        let parts = source.split(separator: "/").dropFirst()
        guard let target = parts.first, let name = parts.last else { return nil }
        let folders = ["Tests", target + "Tests"] + parts.dropFirst().dropLast().map { String($0) }
        return folders.joined(separator: "/") + "/" + name.replacing(".swift", with: "Tests.swift")
    }

    @Test("None is missing")
    func noneIsMissing() {
        let tests = Set(Repository.tests.map(\.path))
        let missing = Repository.sources.map(\.path).filter { source in
            guard Self.exceptions[source] == nil, let path = Self.testPath(of: source) else { return false }
            return !tests.contains(path)
        }
        #expect(missing == [], "\(missing.count) source files have no test file")
    }

    @Test("Every test file of a room has a test in it")
    func testsTest() {
        let empty = Repository.tests.filter { file in
            file.path.hasSuffix("Tests.swift") && !file.words.contains { $0.text == "Test" }
        }
        #expect(empty.map(\.path) == [])
    }

    @Test("Limits of time follow the variable that makes them longer")
    func limits() {
        let fixed = [".timeLimit(.minutes(", "comesTrue(within: .seconds(", "timeout: Duration = .seconds(20)"]
        let found = Repository.tests.filter { file in
            file.path != "Tests/DuplexTestTimes/TimeLimits.swift" && fixed.contains(where: file.code.contains)
        }
        #expect(found.map(\.path) == [])
    }

    @Test("Every exception is a file that is there and has no test file")
    func exceptionsAreNeeded() {
        let sources = Set(Repository.sources.map(\.path))
        let tests = Set(Repository.tests.map(\.path))
        for path in Self.exceptions.keys {
            #expect(sources.contains(path), "\(path)")
            #expect(Self.testPath(of: path).map { !tests.contains($0) } == true, "\(path)")
        }
    }

    @Test(
        "The place of a test file follows from that of the source",
        arguments: [
            ("Sources/A/B/C.swift", "Tests/ATests/B/CTests.swift"), ("Sources/A/C.swift", "Tests/ATests/CTests.swift"),
            ("Sources/A/B/C+D.swift", nil),
        ]
    )
    func findsPath(source: String, test: String?) {
        #expect(Self.testPath(of: source) == test)
    }
}
