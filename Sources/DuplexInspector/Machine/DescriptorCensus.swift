// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Foundation

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
