// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Foundation

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What the system reports of the process and of the machine at some moment.
struct MachineSample: Sendable {
    /// How many threads are listed: those that have used most of the processors.
    static let threadLimit = 200

    /// How many ticks of the clock make a second, in texts of the kernel's.
    static let ticks = Double(max(1, sysconf(Int32(_SC_CLK_TCK))))

    var time = Date().timeIntervalSince1970
    var usage = ProcessUsage.now
    var allocations = Allocations.now
    var status = ProcText.file("self/status") ?? ""
    var stat = ProcText.file("self/stat").flatMap(ProcText.stat)
    var descriptors = DescriptorCensus.now
    var threads = Self.currentThreads

    /// Those of the process, the busiest first.
    private static var currentThreads: [ProcText.Stat]? {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task") else { return nil }
        return names.compactMap { ProcText.file("self/task/\($0)/stat").flatMap(ProcText.stat) }
            .sorted { ($1.user + $1.system, $0.id) < ($0.user + $0.system, $1.id) }
    }

    // MARK: JSON

    /// The process.
    var process: JSONText {
        var members = JSONText.Members()
        members.add("id", Int(ProcessInfo.processInfo.processIdentifier))
        members.add("name", ProcessInfo.processInfo.processName)
        members.add("cpu", or(usage.map { Self.object(["user": $0.user, "system": $0.system]) }))
        members.add("memory", memory)
        members.add("descriptors", descriptorCounts)
        members.add("threadCount", number(threads?.count))
        members.add("threads", or(threads.map { .array($0.prefix(Self.threadLimit).map(Self.thread)) }))
        members.add("started", or(started.map { .number($0) }))
        members.add("allocator", or(allocations.map(Self.allocator)))
        return .object(members.all)
    }

    private var memory: JSONText {
        var members = JSONText.Members()
        members.add("resident", number(ProcText.number("VmRSS", in: status)))
        members.add("peak", number(ProcText.number("VmHWM", in: status) ?? usage?.peakMemory))
        return .object(members.all)
    }

    private var descriptorCounts: JSONText {
        var members = JSONText.Members()
        members.add("open", number(descriptors?.count))
        members.add("limit", number(usage?.descriptorLimit))
        let kinds = (descriptors?.kinds ?? [:]).sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        members.add("kinds", .object(kinds.map { .init(name: $0.key, value: .integer(Int64($0.value))) }))
        return .object(members.all)
    }

    private static func thread(_ stat: ProcText.Stat) -> JSONText {
        var members = JSONText.Members()
        members.add("id", stat.id)
        members.add("name", stat.name)
        members.add("state", stat.state)
        members.add("cpu", Double(stat.user + stat.system) / ticks)
        return .object(members.all)
    }

    private static func allocator(_ allocations: Allocations) -> JSONText {
        var members = JSONText.Members()
        members.add("used", allocations.used)
        members.add("kept", allocations.kept)
        members.add("mapped", allocations.mapped)
        return .object(members.all)
    }

    /// When the process began, in seconds since 1970.
    private var started: Double? {
        guard let stat, let boot = ProcText.file("stat").flatMap({ ProcText.words("btime", in: $0).first }),
            let seconds = Double(boot)
        else { return nil }
        return seconds + Double(stat.start) / Self.ticks
    }

    /// The machine under it.
    var machine: JSONText {
        let memory = ProcText.file("meminfo") ?? ""
        let load = ProcText.file("loadavg").map { ProcText.numbers($0).prefix(3) }
        let kernel = [ProcText.file("sys/kernel/ostype"), ProcText.file("sys/kernel/osrelease")].compactMap { $0 }
        let release = try? String(contentsOfFile: "/etc/os-release", encoding: .utf8)
        var members = JSONText.Members()
        members.add("host", or(hostName.map { .string($0) }))
        members.add("system", release.flatMap(ProcText.systemName) ?? Self.systemVersion)
        members.add("kernel", kernel.isEmpty ? .null : .string(Self.trimmed(kernel.joined(separator: " "))))
        members.add("processors", ProcessInfo.processInfo.activeProcessorCount)
        members.add("uptime", ProcessInfo.processInfo.systemUptime)
        members.add("load", or(load.map { .array($0.map { .number($0) }) }))
        members.add("memory", number(ProcText.number("MemTotal", in: memory)))
        members.add("available", number(ProcText.number("MemAvailable", in: memory)))
        return .object(members.all)
    }

    private var hostName: String? { ProcText.file("sys/kernel/hostname").map(Self.trimmed) }
    private static var systemVersion: String { ProcessInfo.processInfo.operatingSystemVersionString }

    private static func trimmed(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    private static func object(_ values: [String: Double]) -> JSONText {
        .object(values.sorted { $0.key < $1.key }.map { .init(name: $0.key, value: .number($0.value)) })
    }

    /// What isn't known is null, and not zero.
    private func or(_ value: JSONText?) -> JSONText { value ?? .null }
    private func number(_ value: Int?) -> JSONText { or(value.map { .integer(Int64($0)) }) }
}
