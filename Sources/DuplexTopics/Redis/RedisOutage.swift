// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// What is logged while Redis can't be used: the beginning and the end, but not each attempt in between.
struct RedisOutage {
    /// A line of the log.
    enum Line: Equatable {
        /// It can't be used, for this reason.
        case began(String)
        /// It can be used again.
        case ended
    }

    private enum Kind {
        /// No server is reached.
        case unreachable
        /// A server answers, but won't be used, as with a wrong password.
        case unusable
    }

    /// What has been logged since it could last be used.
    private var logged: Set<Kind> = []

    /// Takes note of a state.
    ///
    /// - Returns: what to log, if anything: each kind of reason once, since one may take the place of the other.
    mutating func changed(to state: RedisLinkState) -> Line? {
        switch state {
        case .idle, .connecting, .closed: return nil
        case .connected:
            defer { logged = [] }
            return logged.isEmpty ? nil : .ended
        case .waiting(let error, _):
            guard logged.insert(Self.kind(of: error)).inserted else { return nil }
            // An error of connecting has its causes on lines of their own.
            let lines = error.message.split(separator: "\n").map { $0.trimmingPrefix { $0 == " " } }
            return .began(lines.joined(separator: " "))
        }
    }

    private static func kind(of error: RedisError) -> Kind {
        switch error.code {
        case .refused, .malformed, .notMaster, .noNode: .unusable
        default: .unreachable
        }
    }
}
