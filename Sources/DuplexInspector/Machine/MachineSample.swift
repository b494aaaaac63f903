// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexFoundation
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

    // MARK: As the page gets it

    /// The process; what isn't known is null, and not zero.
    struct Process: Codable, Hashable, Sendable {
        /// Seconds of all processors.
        struct CPU: Codable, Hashable, Sendable {
            var user: Double
            var system: Double
        }

        struct Memory: Codable, Hashable, Sendable {
            @OrNull var resident: Int?
            @OrNull var peak: Int?
        }

        struct Descriptors: Codable, Hashable, Sendable {
            @OrNull var open: Int?
            @OrNull var limit: Int?
            /// How many there are of each kind.
            var kinds: [String: Int]
        }

        struct Thread: Codable, Hashable, Sendable {
            var id: Int
            var name: String
            var state: String
            var cpu: Double
        }

        var id: Int
        var name: String
        @OrNull var cpu: CPU?
        var memory: Memory
        var descriptors: Descriptors
        @OrNull var threadCount: Int?
        @OrNull var threads: [Thread]?
        /// In seconds since 1970.
        @OrNull var started: Double?
        @OrNull var allocator: Allocations?
    }

    var process: Process {
        Process(
            id: Int(ProcessInfo.processInfo.processIdentifier),
            name: ProcessInfo.processInfo.processName,
            cpu: usage.map { Process.CPU(user: $0.user, system: $0.system) },
            memory: Process.Memory(
                resident: ProcText.number("VmRSS", in: status),
                peak: ProcText.number("VmHWM", in: status) ?? usage?.peakMemory
            ),
            descriptors: Process.Descriptors(
                open: descriptors?.count,
                limit: usage?.descriptorLimit,
                kinds: descriptors?.kinds ?? [:]
            ),
            threadCount: threads?.count,
            threads: threads?.prefix(Self.threadLimit).map { stat in
                let cpu = Double(stat.user + stat.system) / Self.ticks
                return Process.Thread(id: stat.id, name: stat.name, state: stat.state, cpu: cpu)
            },
            started: started,
            allocator: allocations
        )
    }

    /// When the process began, in seconds since 1970.
    private var started: Double? {
        guard let stat, let boot = ProcText.file("stat").flatMap({ ProcText.words("btime", in: $0).first }),
            let seconds = Double(boot)
        else { return nil }
        return seconds + Double(stat.start) / Self.ticks
    }

    /// The machine under it.
    struct Machine: Codable, Hashable, Sendable {
        @OrNull var host: String?
        var system: String
        @OrNull var kernel: String?
        var processors: Int
        var uptime: Double
        @OrNull var load: [Double]?
        /// Bytes, as are those that are available.
        @OrNull var memory: Int?
        @OrNull var available: Int?
    }

    var machine: Machine {
        let memory = ProcText.file("meminfo") ?? ""
        let kernel = [ProcText.file("sys/kernel/ostype"), ProcText.file("sys/kernel/osrelease")].compactMap { $0 }
        let release = try? String(contentsOfFile: "/etc/os-release", encoding: .utf8)
        return Machine(
            host: hostName,
            system: release.flatMap(ProcText.systemName) ?? Self.systemVersion,
            kernel: kernel.isEmpty ? nil : Self.trimmed(kernel.joined(separator: " ")),
            processors: ProcessInfo.processInfo.activeProcessorCount,
            uptime: ProcessInfo.processInfo.systemUptime,
            load: ProcText.file("loadavg").map { Array(ProcText.numbers($0).prefix(3)) },
            memory: ProcText.number("MemTotal", in: memory),
            available: ProcText.number("MemAvailable", in: memory)
        )
    }

    private var hostName: String? { ProcText.file("sys/kernel/hostname").map(Self.trimmed) }
    private static var systemVersion: String { ProcessInfo.processInfo.operatingSystemVersionString }

    private static func trimmed(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}

/// The open descriptors of the process, by what they are.
struct DescriptorCensus: Sendable {
    /// How many are looked at; of more only the number is reported.
    static let limit = 10_000

    /// One of them; encoded as the page gets it.
    struct Descriptor: Equatable, Codable, Sendable {
        var number: Int
        var kind: String
        /// What the system calls it, such as a path.
        var target: String
    }

    /// How many there are.
    var count: Int
    var descriptors: [Descriptor]

    /// `nil` where the system doesn't report it.
    static var now: DescriptorCensus? {
        let folder = "/proc/self/fd"
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else { return nil }
        let numbers = names.compactMap { Int($0) }.sorted()
        let found = numbers.prefix(limit).compactMap { number -> Descriptor? in
            // That of the list itself is gone by now.
            guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(number)") else {
                return nil
            }
            return Descriptor(number: number, kind: kind(of: target), target: target)
        }
        return DescriptorCensus(count: numbers.count > limit ? numbers.count : found.count, descriptors: found)
    }

    /// How many there are of each kind.
    var kinds: [String: Int] { descriptors.reduce(into: [:]) { $0[$1.kind, default: 0] += 1 } }

    /// What a descriptor is, by what the system calls it: `socket:[4711]`, `anon_inode:[eventpoll]`, or a path.
    static func kind(of target: String) -> String {
        if target.hasPrefix("socket:") { return "socket" }
        if target.hasPrefix("pipe:") { return "pipe" }
        if target.hasPrefix("anon_inode:") {
            return target.dropFirst(11).trimmingCharacters(in: ["[", "]"])
        }
        if target.hasPrefix("/dev/") && !target.hasPrefix("/dev/shm/") { return "device" }
        return target.hasPrefix("/") ? "file" : "other"
    }
}
