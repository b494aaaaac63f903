// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import Glibc

/// How many descriptors this process may have.
enum DescriptorLimit {
    private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)

    private static var limit: rlimit {
        var limit = rlimit()
        _ = unsafe getrlimit(resource, &limit)
        return limit
    }

    private static func set(_ limit: rlimit) {
        var limit = limit
        _ = unsafe setrlimit(resource, &limit)
    }

    static var hard: Int { Int(clamping: limit.rlim_max) }

    /// Raises the limit as far as it goes for the length of the body.
    static func withRaised(_ body: () async throws -> Void) async throws {
        let before = limit
        set(rlimit(rlim_cur: before.rlim_max, rlim_max: before.rlim_max))
        defer { set(before) }
        try await body()
    }
}
#endif
