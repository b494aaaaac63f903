// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import Glibc

/// Runs programs of this machine.
package enum Shell {
    /// What a script that has failed said.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) {
            self.description = description
        }
    }

    /// Runs a script to its end.
    ///
    /// - Parameter script: for sh(1); it ends at the first command that fails.
    /// - Returns: what it wrote to its output and to its errors, in one.
    /// - Throws: ``Failure`` when it ends with anything but 0.
    @discardableResult package static func run(_ script: String) throws -> String {
        var ends: [Int32] = [0, 0]
        // As a pipe, which can't be had with this flag at once.
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw Failure(description: "errno \(errno)") }
        defer { close(ends[0]) }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], 2)
        var process = pid_t()
        let arguments: [String] = ["sh", "-ec", script]
        let words = unsafe arguments.map { unsafe strdup($0) } + [nil]
        defer { for index in unsafe words.indices { unsafe free(words[index]) } }
        let code = unsafe posix_spawn(&process, "/bin/sh", &actions, nil, words, environ)
        close(ends[1])
        guard code == 0 else { throw Failure(description: "no shell: errno \(code)") }
        let output = readAll(ends[0])
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) < 0 && errno == EINTR {}
        guard status == 0 else { throw Failure(description: output.isEmpty ? "status \(status)" : output) }
        return output
    }

    /// What comes until all that write to it have ended.
    private static func readAll(_ descriptor: Int32) -> String {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = unsafe read(descriptor, &buffer, buffer.count)
            if count < 0 && errno == EINTR { continue }
            if count <= 0 { return String(decoding: bytes, as: UTF8.self) }
            bytes += buffer.prefix(count)
        }
    }
}
#endif
