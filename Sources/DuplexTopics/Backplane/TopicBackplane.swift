// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// The system that joins the topics of several nodes; see ``Topics/init(_:options:)``.
///
/// ```swift
/// let topics = try Topics(.redis("rediss://user:password@cache:6379/0", prefix: "app"))
/// ```
///
/// Each ``Topics`` that is made with the value has a ``Backplane`` of its own.
public struct TopicBackplane: Sendable {
    /// Makes the backplane of one node.
    let make: @Sendable () throws(TopicError) -> any Backplane

    private init(_ make: @escaping @Sendable () throws(TopicError) -> any Backplane) {
        self.make = make
    }

    /// Joins topics by one Redis server, version 7 or newer, or by what speaks as it does.
    ///
    /// Each topic lies in one slot, and scripts change what is kept of it, so that it is whole at any time. A node has one
    /// connection to each server. After a lost connection, messages of topics that keep some are sent again in their order, and
    /// are published once, within the bounds of ``RedisOptions/whenDisconnected``; messages of other topics that were on their
    /// way fail, since they may have been delivered.
    ///
    /// URLs are `redis://user:password@host:6379/0`, `rediss://` with TLS, and `redis+unix:///path?db=0` or `unix:///path`. User,
    /// password, port and database may be missing. Characters that aren't letters, digits or `-._~` are percent-encoded in a
    /// user and a password; an IPv6 address stands in brackets.
    ///
    /// - Parameters:
    ///   - url: the server. `Topics` throws ``TopicError`` with `invalidURL` for one that can't be used.
    ///   - prefix: the beginning of all keys and channels, the same on all machines: apps with different ones don't see each
    ///     other. `Topics` throws `invalidName` for one that is empty or has braces. Default: `duplex`.
    ///   - options: deadlines, bounds, and what happens to commands while the server is away.
    /// - Returns: the value; nothing is connected before topics are made with it.
    public static func redis(
        _ url: String,
        prefix: String = "duplex",
        options: RedisOptions = RedisOptions()
    ) -> TopicBackplane {
        TopicBackplane { () throws(TopicError) -> any Backplane in
            try RedisBackplane(url, prefix: prefix, options: options)
        }
    }

    /// Joins topics by a Redis master that sentinels watch; see ``redis(_:prefix:options:)``.
    ///
    /// A master that fails takes with it the messages that none of its replicas has yet, also those that it has answered: a
    /// topic that lacks messages that a node knows of gets another epoch.
    ///
    /// - Parameters:
    ///   - master: the URL of the master, whose host is the name by which the sentinels know it; its port is ignored.
    ///   - sentinels: the URLs of the sentinels, asked in turn. Their default port is 6,379, too, so 26,379 has to be written.
    ///   - prefix: as of one server.
    ///   - options: as of one server.
    /// - Returns: the value.
    public static func redis(
        master: String,
        sentinels: [String],
        prefix: String = "duplex",
        options: RedisOptions = RedisOptions()
    ) -> TopicBackplane {
        TopicBackplane { () throws(TopicError) -> any Backplane in
            let deployment = RedisDeployment.sentinel(try RedisURL(master), at: try urls(sentinels))
            return try RedisBackplane(deployment, prefix: prefix, options: options)
        }
    }

    /// Joins topics by a Redis cluster; see ``redis(_:prefix:options:)``.
    ///
    /// Patterns can't be subscribed to, which throws ``TopicError`` with `unsupported`.
    ///
    /// - Parameters:
    ///   - cluster: the URLs of some nodes. User, password and security of the first one are those of the nodes that aren't
    ///     named. A cluster has the database 0 only.
    ///   - prefix: as of one server.
    ///   - options: as of one server.
    /// - Returns: the value.
    public static func redis(
        cluster: [String],
        prefix: String = "duplex",
        options: RedisOptions = RedisOptions()
    ) -> TopicBackplane {
        TopicBackplane { () throws(TopicError) -> any Backplane in
            try RedisBackplane(.cluster(try urls(cluster)), prefix: prefix, options: options)
        }
    }

    private static func urls(_ texts: [String]) throws(TopicError) -> [RedisURL] {
        var urls: [RedisURL] = []
        for text in texts { urls.append(try RedisURL(text)) }
        return urls
    }

    /// Joins several topics of this process, as Redis does those of many machines: for tests.
    ///
    /// ```swift
    /// let memory = TopicBackplane.memory()
    /// let (one, other) = (try Topics(memory), try Topics(memory))
    /// ```
    ///
    /// - Returns: the value; topics that are made with it, or with a copy of it, are joined.
    public static func memory() -> TopicBackplane {
        let hub = MemoryHub()
        return TopicBackplane { () throws(TopicError) -> any Backplane in MemoryBackplane(hub) }
    }

    /// Joins topics by a system of your own.
    ///
    /// - Parameter make: makes the backplane of one node, each time topics are made with the value; `Topics` throws its error.
    /// - Returns: the value.
    public static func custom(
        _ make: @escaping @Sendable () throws(TopicError) -> any Backplane
    ) -> TopicBackplane {
        TopicBackplane(make)
    }
}
