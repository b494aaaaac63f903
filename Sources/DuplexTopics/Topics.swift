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

    /// Makes topics that a backplane joins with those of other nodes.
    ///
    /// ```swift
    /// let topics = Topics(try .redis("rediss://user:password@cache:6379/0", prefix: "app"))
    /// ```
    ///
    /// What is published on any node reaches the subscribers of all. What ``TopicOptions/keep(_:_:)`` names is kept by the backplane,
    /// which numbers it, so that all nodes have the same positions, and a client may go on at another node than before. All nodes are to keep the
    /// same. ``close()`` ends it.
    ///
    /// - Parameters:
    ///   - backplane: what joins them; these topics are its only user.
    ///   - options: as of other topics. Its limits are those of this node.
    public convenience init(_ backplane: some Backplane, _ options: TopicOptions = TopicOptions()) {
        self.init(options, clock: .system, backplane: backplane)
    }

    /// Makes topics with a clock of their own; `group` are loops with that clock, which timers need.
    package init(
        _ options: TopicOptions,
        clock: LoopClock,
        on group: EventLoopGroup? = nil,
        backplane: (any Backplane)? = nil
    ) {
        core = TopicCore(options, clock: clock, on: group, backplane: backplane)
    }

    /// Ends what joins these topics with others: nothing is published to other nodes any more, and nothing comes from them.
    ///
    /// Subscriptions stay, and nothing comes by them any more; with ``TopicOptions/WhileAway/deliverHere`` what is published here does. It
    /// ends by itself once nothing uses the topics. Without a backplane it does nothing; twice is the same as once.
    public func close() async {
        await core.backplane?.close()
    }

    /// Where the backplane stands, and then every change; nothing without one.
    ///
    /// One who reads so slowly that 1,024 changes wait loses the oldest.
    public var states: AsyncStream<BackplaneState> { core.states.observe() }

    /// Where the backplane stands; `nil` without one.
    public var state: BackplaneState? { core.states.last }

    /// A topic by its name, or all topics that match a pattern.
    ///
    /// Names have segments between slashes, such as `room/42`; at most 256 bytes and 32 segments, none of them empty, without
    /// control characters. In a pattern `+` stands for any one segment, and `#` at the end for any number of them (MQTT 5.0
    /// section 4.7). Names that differ only in how a letter is composed, as `é` may be, are the same one, as texts are that are equal.
    /// Naming a topic costs nothing: it is there while somebody is subscribed to it, or something of it is kept.
    ///
    /// - Parameter name: the name. One that isn't valid is found out when it is used.
    /// - Returns: the topic.
    public subscript(name: String) -> Topic { Topic(core, name) }

    /// How many subscriptions there are.
    public var subscriptionCount: Int { core.withTable { $0.subscriptionCount } }

    /// How many topics and patterns somebody is subscribed to, or something is kept of.
    public var count: Int { core.withTable { $0.recordCount } }
}
