// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// How the Redis servers that machines share are arranged.
enum RedisDeployment: Sendable, Hashable, CustomStringConvertible {
    /// One server.
    case one(RedisURL)
    /// A master that sentinels watch.
    ///
    /// The host of the first URL is the name by which the sentinels know the master; its scheme, user, password and database
    /// are the master's, and its port is ignored. The others are those of the sentinels, asked in turn; their default
    /// port is 6,379, too, so 26,379 has to be written.
    case sentinel(RedisURL, at: [RedisURL])
    /// A cluster, by some of its nodes.
    ///
    /// User, password and security of the first URL are those of nodes that aren't named. A cluster has the database 0 only.
    case cluster([RedisURL])

    /// Checks that there is somebody to ask, and that a cluster is asked for no other database.
    ///
    /// - Throws: ``TopicError`` with ``TopicError/Code/invalidURL``.
    func check() throws(TopicError) {
        switch self {
        case .one: break
        case .sentinel(let master, let sentinels):
            if sentinels.isEmpty { throw TopicError(.invalidURL, "No sentinel is named.") }
            if case .unix = master.place {
                throw TopicError(
                    .invalidURL,
                    "Sentinels know a master by a name, and not by the path of a Unix socket."
                )
            }
        case .cluster(let nodes):
            if nodes.isEmpty { throw TopicError(.invalidURL, "No node of the cluster is named.") }
            if nodes.contains(where: { $0.database != 0 }) {
                throw TopicError(.invalidURL, "A cluster of Redis has the database 0 only.")
            }
        }
    }

    /// The servers, without users and passwords.
    var description: String {
        switch self {
        case .one(let url): "\(url)"
        case .sentinel(let master, let sentinels):
            "\(master.host) of the sentinels \(sentinels.map { "\($0)" }.joined(separator: ", "))"
        case .cluster(let nodes): "the cluster of \(nodes.map { "\($0)" }.joined(separator: ", "))"
        }
    }
}
