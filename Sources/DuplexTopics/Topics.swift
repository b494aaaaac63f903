// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import DuplexSockets

/// Publish and subscribe: rooms, feeds, and whatever else goes from some to many.
///
/// ```swift
/// let topics = Topics()
/// server.webSocket("/rooms/:id") { socket in
///     let room = topics["room/\(socket.request.parameters["id"] ?? "")"]
///     try await socket.subscribe(to: room)
///     for try await message in socket.messages { room.publish(message) }
/// }
/// ```
///
/// Several servers, event loops and kinds of clients share one value. A message is framed once for each kind of client, and
/// delivered loop by loop. What one publisher publishes to one topic arrives in that order. It may be used from any thread.
public final class Topics: Sendable {
    let core: TopicCore

    /// Makes topics that are those of this process.
    public convenience init(_ options: TopicOptions = TopicOptions()) {
        self.init(options, clock: .system)
    }

    /// Makes topics with a clock of their own.
    package init(_ options: TopicOptions, clock: LoopClock) {
        core = TopicCore(options, clock: clock)
    }

    /// A topic by its name, or all topics that match a pattern.
    ///
    /// Names have segments between slashes, such as `room/42`; at most 256 bytes and 32 segments, none of them empty, without
    /// control characters. In a pattern `+` stands for any one segment, and `#` at the end for any number of them (MQTT 5.0
    /// section 4.7). Naming a topic costs nothing: it is there while somebody is subscribed to it, or something of it is kept.
    ///
    /// - Parameter name: the name. One that isn't valid is found out when it is used.
    /// - Returns: the topic.
    public subscript(name: String) -> Topic { Topic(core, name) }

    /// How many subscriptions there are.
    public var subscriptionCount: Int { core.withTable { $0.subscriptionCount } }

    /// How many topics and patterns somebody is subscribed to, or something is kept of.
    public var count: Int { core.withTable { $0.recordCount } }
}
