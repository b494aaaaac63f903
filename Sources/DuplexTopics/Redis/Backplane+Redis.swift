// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

extension Backplane where Self == RedisBackplane {
    /// Topics of several machines by one Redis.
    ///
    /// - Parameters:
    ///   - url: the server: `redis://`, `rediss://` or `unix`, with user, password and database; see ``RedisURL``.
    ///   - prefix: what all of its keys and channels begin with, the same on all machines. Default: `duplex`.
    ///   - options: deadlines, bounds, and what happens to commands while the server is away.
    /// - Returns: the backplane.
    /// - Throws: ``TopicError`` with `invalidURL`.
    public static func redis(
        _ url: String,
        prefix: String = "duplex",
        options: RedisOptions = RedisOptions()
    ) throws(TopicError) -> RedisBackplane {
        try RedisBackplane(url, prefix: prefix, options: options)
    }

    /// Topics of several machines by one Redis, by one that sentinels watch, or by a cluster.
    ///
    /// - Parameters:
    ///   - deployment: the servers.
    ///   - prefix: what all keys and channels begin with, the same on all machines. Default: `duplex`.
    ///   - options: deadlines, bounds, and what happens to commands while the servers are away.
    /// - Returns: the backplane. By a cluster patterns can't be subscribed to, which throws ``TopicError`` with `unsupported`.
    /// - Throws: ``TopicError`` with `invalidURL`.
    public static func redis(
        _ deployment: RedisDeployment,
        prefix: String = "duplex",
        options: RedisOptions = RedisOptions()
    ) throws(TopicError) -> RedisBackplane {
        try RedisBackplane(deployment, prefix: prefix, options: options)
    }
}
