// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestProcesses
import DuplexTestTimes
import DuplexWire
import Foundation
import Testing

@testable import DuplexInspector

@Suite("The open descriptors of the process")
struct DescriptorCensusTests {
    @Test(
        "What one is follows from what the system calls it",
        arguments: [
            ("socket:[4711]", "socket"), ("pipe:[12]", "pipe"), ("anon_inode:[eventpoll]", "eventpoll"),
            ("anon_inode:[eventfd]", "eventfd"), ("anon_inode:inotify", "inotify"), ("/dev/null", "device"),
            ("/dev/shm/a", "file"), ("/tmp/a (deleted)", "file"), ("net:[4026531840]", "other"),
        ]
    )
    func kinds(target: String, kind: String) {
        #expect(DescriptorCensus.kind(of: target) == kind)
    }

    @Test("One that is opened is found, with its path")
    func finds() async throws {
        let path = FileManager.default.temporaryDirectory.appending(
            path: "duplex-census-\(UInt64.random(in: 0...UInt64.max))"
        )
        try Data().write(to: path)
        defer { try? FileManager.default.removeItem(at: path) }
        let handle = try FileHandle(forReadingFrom: path)
        var census = try #require(DescriptorCensus.now)
        // A test beside this one may have more open than are listed, for a moment.
        let isWhole = try await comesTrue(within: .limit(seconds: 120)) {
            census = try #require(DescriptorCensus.now)
            return census.count <= DescriptorCensus.limit
        }
        try #require(isWhole)
        let found = try #require(census.descriptors.first { $0.number == Int(handle.fileDescriptor) })
        #expect(found.kind == "file" && found.target.hasSuffix(path.lastPathComponent))
        #expect(census.count == census.descriptors.count && census.kinds.values.reduce(0, +) == census.count)
        try handle.close()
    }
}
