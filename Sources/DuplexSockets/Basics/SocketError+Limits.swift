// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

extension SocketError {
    /// Whether a disk, or somebody's share of it, is full.
    package var isOutOfSpace: Bool { errno == ENOSPC || errno == EDQUOT }

    /// Whether the process, or the system, has no descriptor to give.
    package var isOutOfDescriptors: Bool { errno == EMFILE || errno == ENFILE }

    /// An error of the system; where a limit is behind it, the message names the limit.
    static func system(_ message: String, errno code: Int32) -> SocketError {
        let limit = limit(behind: code)
        return SocketError(.system, message: limit.map { "\(message) \($0)" } ?? message, errno: code)
    }

    /// Which limit an error number is about, as a sentence; `nil` when it is about none.
    static func limit(behind code: Int32) -> String? {
        switch code {
        case EMFILE:
            guard let most = mostDescriptors else { return nil }
            return "This process may have \(most) descriptors open at once (RLIMIT_NOFILE, ulimit -n)."
        case ENFILE: return "All processes together have as many files open as the system allows."
        default: return nil
        }
    }

    /// How many descriptors this process may have (RLIMIT_NOFILE).
    static var mostDescriptors: UInt64? {
        var limit = rlimit()
        #if canImport(Glibc)
        let code = unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        #else
        let code = unsafe getrlimit(RLIMIT_NOFILE, &limit)
        #endif
        return code == 0 ? UInt64(limit.rlim_cur) : nil
    }
}
