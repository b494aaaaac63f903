// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import Glibc

/// Counts the threads of this process.
package enum ThreadCensus {
    /// How many threads of event loops there are, those of loops that have just stopped among them.
    ///
    /// One is gone a moment after its loop has stopped. OpenSSL frees what it keeps for a thread when that ends, but no
    /// more once the process is about to exit: LeakSanitizer would tell of it.
    package static func loops() -> Int {
        entries(of: "/proc/self/task").count { name(of: $0).hasPrefix("duplex-") }
    }

    /// The names of what is in a folder of /proc.
    package static func entries(of folder: String) -> [String] {
        guard let stream = unsafe opendir(folder) else { return [] }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names
    }

    private static func name(of thread: String) -> String {
        guard let file = unsafe fopen("/proc/self/task/\(thread)/comm", "r") else { return "" }
        defer { unsafe fclose(file) }
        var buffer = [CChar](repeating: 0, count: 32)
        guard unsafe fgets(&buffer, Int32(buffer.count), file) != nil else { return "" }
        return String(decoding: buffer.prefix { $0 > 32 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
#endif
