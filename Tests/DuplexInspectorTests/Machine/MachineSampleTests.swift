// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexFoundation
import DuplexTestProcesses
import DuplexTestTimes
import DuplexWire
import Foundation
import Testing

@testable import DuplexInspector

@Suite("The process and the machine at some moment")
struct MachineSampleTests {
    private static func decoded<Value: Codable>(_ value: Value) throws -> Value {
        try CompactJSON.value(of: CompactJSON.text(of: value))
    }

    @Test("The process is this one")
    func process() throws {
        let process: MachineSample.Process = try Self.decoded(MachineSample().process)
        #expect(process.id == Int(ProcessInfo.processInfo.processIdentifier))
        let resident = try #require(process.memory.resident)
        #expect(try resident > 1_000_000 && #require(process.memory.peak) >= resident)
        let open = try #require(process.descriptors.open)
        #expect(open > 2 && process.descriptors.kinds.values.reduce(0, +) == min(open, DescriptorCensus.limit))
        let (threads, count) = (try #require(process.threads), try #require(process.threadCount))
        #expect(threads.contains { $0.id == process.id } || count > MachineSample.threadLimit)
        let (now, started) = (Date().timeIntervalSince1970, try #require(process.started))
        #expect(started < now && started > now - 86_400)
        #expect(zip(threads, threads.dropFirst()).allSatisfy { $0.cpu >= $1.cpu })
    }

    @Test("The machine is this one")
    func machine() throws {
        let machine: MachineSample.Machine = try Self.decoded(MachineSample().machine)
        #expect(machine.processors == ProcessInfo.processInfo.activeProcessorCount)
        #expect(machine.host?.isEmpty == false && machine.kernel?.hasPrefix("Linux ") == true)
        #expect(machine.load?.count == 3 && machine.uptime > 0)
        #expect(try #require(machine.memory) > #require(machine.available))
    }

    @Test("What isn't known is null, and no zero")
    func unknown() throws {
        var sample = MachineSample()
        sample.usage = nil
        sample.allocations = nil
        sample.status = ""
        sample.stat = nil
        sample.descriptors = nil
        sample.threads = nil
        let text = try CompactJSON.text(of: sample.process)
        for name in ["allocator", "cpu", "limit", "open", "peak", "resident", "started", "threadCount", "threads"] {
            #expect(text.contains("\"\(name)\":null"), "\(name) in \(text)")
        }
        #expect(try Self.decoded(sample.process) == sample.process)
    }
}

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
