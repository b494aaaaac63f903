// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import DuplexSockets
import Glibc
import Testing

/// Counts what this process has open; for tests that have a process of their own.
enum OpenDescriptors {
    /// What is open, as /proc/self/fd tells it: the numbers, and behind each what it is.
    static func open() -> [Int32: String] {
        guard let directory = unsafe opendir("/proc/self/fd") else { return [:] }
        defer { unsafe closedir(directory) }
        var descriptors: [Int32: String] = [:]
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            let own = unsafe dirfd(directory)
            guard let number = Int32(name), number != own else { continue }
            descriptors[number] = target(of: number)
        }
        return descriptors
    }

    /// What is open and wasn't then.
    static func opened(since before: [Int32: String]) -> [Int32: String] {
        open().filter { before[$0.key] != $0.value }
    }

    /// The path of a file, whether or not it has been deleted since; of others the kind and the inode.
    private static func target(of descriptor: Int32) -> String {
        var buffer = [CChar](repeating: 0, count: 256)
        let length = unsafe readlink("/proc/self/fd/\(descriptor)", &buffer, buffer.count)
        let text = String(decoding: buffer.prefix(max(0, length)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return text.replacing(" (deleted)", with: "")
    }

    /// Says what was found, and ends the process in order: the output of one that fails isn't handed on.
    static func report(_ text: String) -> Never {
        _ = unsafe write(2, text, text.utf8.count)
        exit(0)
    }

    /// Expects that the process of an exit test has had nothing to report.
    static func expectNoReport(_ child: ExitTest.Result?, at location: SourceLocation = #_sourceLocation) {
        let text = child.map { String(decoding: $0.standardErrorContent, as: UTF8.self) }
        #expect(text == "", sourceLocation: location)
    }
}
#endif
