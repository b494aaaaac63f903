// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@Suite("Files of tests")
struct TestFileTests {
    @Test("Every test file of a room has a test in it")
    func testsTest() {
        let empty = Repository.tests.filter { file in
            file.path.hasSuffix("Tests.swift") && !file.words.contains { $0.text == "Test" }
        }
        #expect(empty.map(\.path) == [])
    }

    @Test("Every folder of tests is a folder of the target that they test, or one for what tests share")
    func foldersAreThose() {
        let shared: Set = ["Support", "Peers", "Faults"]
        let folders = Set(Repository.sources.compactMap { Self.folder(of: $0.path, root: "Sources") })
        let others = Repository.tests.compactMap { Self.folder(of: $0.path, root: "Tests") }.filter { folder in
            guard let target = folder.first, target.hasPrefix("Duplex"), target.hasSuffix("Tests") else { return false }
            return folder.count > 1 && !shared.contains(folder[1])
                && !folders.contains([String(target.dropLast(5))] + folder[1...])
        }
        #expect(others == [])
    }

    /// The target and the folders within it.
    private static func folder(of path: String, root: String) -> [String]? {
        let parts = path.split(separator: "/").map { String($0) }
        return parts.first == root && parts.count > 2 ? Array(parts[1..<(parts.count - 1)]) : nil
    }

    @Test("Limits of time follow the variable that makes them longer")
    func limits() {
        let fixed = [".timeLimit(.minutes(", "comesTrue(within: .seconds(", "timeout: Duration = .seconds(20)"]
        let found = Repository.tests.filter { file in
            file.path != "Tests/DuplexTestTimes/TimeLimits.swift" && fixed.contains(where: file.code.contains)
        }
        #expect(found.map(\.path) == [])
    }
}
