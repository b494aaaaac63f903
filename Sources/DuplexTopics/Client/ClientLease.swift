// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// What a client fills for one task, for as long as somebody holds this: then it is asked to end it.
final class ClientLease<Element: Sendable>: Sendable {
    /// What happens with the client, on its loop.
    typealias Step = @Sendable (isolated TopicClient, ClientFeed<Element>) -> Void

    let feed: ClientFeed<Element>
    private let client: TopicClient
    private let end: Step

    init(_ client: TopicClient, _ feed: ClientFeed<Element>, begin: @escaping Step, end: @escaping Step) {
        self.client = client
        self.feed = feed
        self.end = end
        client.later { begin($0, feed) }
    }

    deinit {
        feed.finish()
        client.later { [feed, end] in end($0, feed) }
    }
}
