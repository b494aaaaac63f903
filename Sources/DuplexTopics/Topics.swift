// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import DuplexSockets

/// Publish and subscribe: rooms, feeds, and other messages to many.
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
/// Several servers, event loops and kinds of clients share one value. A message is framed once for each kind of client,
/// and delivered loop by loop. Messages of one publisher to one topic arrive in their order. It may be used from any
/// thread.
public final class Topics: Sendable {
    let core: TopicCore

    /// Makes topics that are those of this process.
    public convenience init(options: TopicOptions = TopicOptions()) {
        self.init(options: options, clock: .system)
    }

    /// Makes topics that a backplane joins with those of other nodes.
    ///
    /// ```swift
    /// let topics = try Topics(.redis("rediss://user:password@cache:6379/0", prefix: "app"))
    /// ```
    ///
    /// A message published on any node reaches the subscribers of all. Histories (``TopicOptions/keep(_:_:)``) are in
    /// the backplane, so that all nodes have the same positions, and a client may resume at another node. All nodes
    /// must keep the same histories. ``close()`` ends it.
    ///
    /// - Parameters:
    ///   - backplane: the system that joins them.
    ///   - options: as of other topics. Its limits are those of this node.
    /// - Throws: ``TopicError`` if the backplane can't be made, such as with `invalidURL`, with `invalidArgument` for a duration
    ///   that isn't longer than zero, and with `unavailable` if the system has no thread for it.
    public convenience init(
        _ backplane: TopicBackplane,
        options: TopicOptions = TopicOptions()
    ) throws(TopicError) {
        let backplane = try backplane.make()
        self.init(options: options, clock: .system, backplane: backplane)
    }

    /// Makes topics with a clock of their own; `group` are loops with that clock, which timers need.
    package init(
        options: TopicOptions,
        clock: LoopClock,
        on group: EventLoopGroup? = nil,
        backplane: (any Backplane)? = nil
    ) {
        core = TopicCore(options, clock: clock, on: group, backplane: backplane)
    }

    /// Ends the backplane: nothing is published to other nodes any more, and nothing comes from them.
    ///
    /// Subscriptions stay, and nothing comes by them any more; with ``TopicOptions/WhenDisconnected/deliverHere`` what is published here does. It
    /// ends by itself once nothing uses the topics. Without a backplane it does nothing; twice is the same as once.
    public func close() async {
        await core.backplane?.close()
    }

    /// The state of the backplane, and then every change; nothing without one.
    ///
    /// A reader with more than 1,024 unread changes loses the oldest.
    public var states: AsyncStream<BackplaneState> { core.states.observe() }

    /// The state of the backplane; `nil` without one.
    public var state: BackplaneState? { core.states.last }

    /// A topic by its name, or all topics that match a pattern.
    ///
    /// Names have segments between slashes, such as `room/42`; at most 256 bytes and 32 segments, none of them empty,
    /// without control characters. In a pattern `+` stands for any one segment, and `#` at the end for any number of
    /// them (MQTT 5.0 section 4.7). Names that differ only in how a letter is composed, as `é` may be, are the same
    /// one, as texts are that are equal. Naming a topic costs nothing: it exists while it has subscribers or a history.
    ///
    /// - Parameter name: the name. An invalid one is an error when it is used.
    /// - Returns: the topic.
    public subscript(name: String) -> Topic { Topic(core, name) }

    /// How many subscriptions there are.
    public var subscriptionCount: Int { core.withTable { $0.subscriptionCount } }

    /// How many topics and patterns have subscribers or a history.
    package var count: Int { core.withTable { $0.recordCount } }

    /// The outcomes of messages so far, in this process.
    public var counts: TopicCounts { core.tally.total }
}
